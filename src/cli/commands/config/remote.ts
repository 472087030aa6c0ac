import { parseBaseUrl } from '../../../settings/base-url.ts';
import {
  type EnvironmentName,
  type RemoteEnvironmentName,
  remoteEnvironmentNames,
} from '../../../settings/settings.ts';
import { UsageError } from '../../../shared/errors.ts';

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

/** @throws UsageError for a URL that can't be the base URL of a service; the text is not repeated */
export function requireBaseUrl(text: string, name: RemoteEnvironmentName): string {
  const parsed = parseBaseUrl(text);
  if (parsed.ok) return parsed.value;
  throw new UsageError(`This URL cannot be used: ${parsed.fault}.`, {
    hint: `petstock config set-url https://host/v1 --env ${name}`,
  });
}
