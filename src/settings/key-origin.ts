import { AuthError } from '../shared/errors.ts';
import { shellWord } from '../shared/shell-word.ts';
import { whereName, whereOptions } from '../shared/where.ts';
import { fromCommand, fromFile, type PrintedKey, type Resolved } from './resolve.ts';
import type { RemoteEnvironmentName, StoredConfig } from './settings.ts';
import { urlVariable } from './variables.ts';

/**
 * The origin that the stored key of an environment belongs to: the one that it was stored for; of a key from before origins
 * were stored, that of the URL stored beside it. Undefined: there is no key, or no address was known when it was stored.
 */
export function originOfKey(name: RemoteEnvironmentName, config: StoredConfig): string | undefined {
  if (config.keys[name] === undefined && config.keyCommands?.[name] === undefined) return undefined;
  const url = config.urls[name];
  return config.keyOrigins?.[name] ?? (url === undefined ? undefined : new URL(url).origin);
}

/**
 * May this key go to this address? The one place that decides it. A key from a variable goes with whatever URL is in force; a
 * stored key, or one that a stored command prints, only to the origin that it belongs to. No command has run by then.
 *
 * @throws AuthError with the command that stores the key again, for that address
 */
export function requireKeyOfOrigin(
  name: RemoteEnvironmentName,
  key: Resolved | PrintedKey,
  url: Resolved,
  config: StoredConfig,
): void {
  if (key.source !== fromFile && key.source !== fromCommand) return;
  const owner = originOfKey(name, config);
  if (owner === new URL(url.value).origin) return;
  const whose = owner === undefined ? 'was stored before any address was known' : `was stored for ${owner}`;
  const from = url.source === fromFile ? 'the stored URL' : urlVariable(name, config.store);
  const where = whereName({ store: config.store, env: name });
  throw new AuthError(`The stored key of ${where} ${whose}; ${from} names ${url.value}. Nothing was sent`, {
    hint: restoreCommand(name, url.value, config),
  });
}

/**
 * May this URL be stored beside the key that is stored? The first one may, wherever it leads: the key is bound to it.
 * @throws AuthError with the command that stores both again
 */
export function requireUrlOfKey(name: RemoteEnvironmentName, url: string, config: StoredConfig): void {
  const owner = originOfKey(name, config);
  if (owner === undefined || owner === new URL(url).origin) return;
  throw new AuthError(
    `The stored key of ${whereName({ store: config.store, env: name })} was stored for ${owner}, and ${url} is another origin. Nothing was stored`,
    {
      hint: restoreCommand(name, url, config),
    },
  );
}

function restoreCommand(env: RemoteEnvironmentName, url: string, { store }: StoredConfig): string {
  return `petstock config set-key ${whereOptions({ store, env })} --url ${shellWord(url)}`;
}
