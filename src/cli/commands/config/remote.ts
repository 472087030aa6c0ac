import { parseBaseUrl } from '../../../settings/base-url.ts';
import {
  type EnvironmentName,
  type RemoteEnvironmentName,
  remoteEnvironmentNames,
} from '../../../settings/settings.ts';
import type { ConfigPlace, RemotePlace } from '../../../settings/write-config.ts';
import { UsageError } from '../../../shared/errors.ts';
import { whereOptions } from '../../../shared/where.ts';
import type { Invocation } from '../../invocation/invocation.ts';

/**
 * The chosen environment, where it keeps a key and a URL.
 * @throws UsageError for the sandbox, which makes its own
 */
export function remoteEnvironment(name: EnvironmentName, thing: 'key' | 'URL'): RemoteEnvironmentName {
  const remote = remoteEnvironmentNames.find((known) => known === name);
  if (remote !== undefined) return remote;
  const words = `The sandbox makes its own ${thing}: there is nothing to set. Name another environment with --env`;
  throw new UsageError(`${words} (${remoteEnvironmentNames.join(' or ')}).`, { hint: 'petstock sandbox info' });
}

/**
 * Where the key and the URL of the chosen store and environment are kept.
 * @throws UsageError for the sandbox, which makes its own
 */
export function remotePlace({ context, store, environment }: Invocation, thing: 'key' | 'URL'): RemotePlace {
  return {
    folder: context.folders.config,
    store: store?.value,
    environment: remoteEnvironment(environment.value, thing),
  };
}

/** Where settings are kept: of a store only where `--store` names it, since a guard should hold everywhere. */
export function settingsPlace({ context, globals, store }: Invocation): ConfigPlace {
  return { folder: context.folders.config, store: globals.store === undefined ? undefined : store?.value };
}

/** @throws UsageError for a URL that can't be the base URL of a service; the text is not repeated */
export function requireBaseUrl(text: string, { store, environment }: RemotePlace): string {
  const parsed = parseBaseUrl(text);
  if (parsed.ok) return parsed.value;
  throw new UsageError(`This URL cannot be used: ${parsed.fault}.`, {
    hint: `petstock config set-url https://host/v1 ${whereOptions({ store, env: environment })}`,
  });
}
