import { AuthError } from '../shared/errors.ts';
import { shellWord } from '../shared/shell-word.ts';
import { fromFile, type Resolved } from './resolve.ts';
import type { RemoteEnvironmentName, StoredConfig } from './settings.ts';
import { urlVariable } from './variables.ts';

/**
 * The origin that the stored key of an environment belongs to: the one that it was stored for; of a key from before origins
 * were stored, that of the URL stored beside it. Undefined: there is no key, or no address was known when it was stored.
 */
export function originOfKey(name: RemoteEnvironmentName, config: StoredConfig): string | undefined {
  if (config.keys[name] === undefined) return undefined;
  const url = config.urls[name];
  return config.keyOrigins?.[name] ?? (url === undefined ? undefined : new URL(url).origin);
}

/**
 * May this key go to this address? The one place that decides it. A key from a variable goes with whatever URL is in force; a
 * stored key only to the origin that it belongs to.
 *
 * @throws AuthError with the command that stores the key again, for that address
 */
export function requireKeyOfOrigin(
  name: RemoteEnvironmentName,
  key: Resolved,
  url: Resolved,
  config: StoredConfig,
): void {
  if (key.source !== fromFile) return;
  const owner = originOfKey(name, config);
  if (owner === new URL(url.value).origin) return;
  const whose = owner === undefined ? 'was stored before any address was known' : `was stored for ${owner}`;
  const from = url.source === fromFile ? 'the stored URL' : urlVariable(name);
  throw new AuthError(`The stored key of ${name} ${whose}; ${from} names ${url.value}. Nothing was sent`, {
    hint: restoreCommand(name, url.value),
  });
}

/**
 * May this URL be stored beside the key that is stored? The first one may, wherever it leads: the key is bound to it.
 * @throws AuthError with the command that stores both anew
 */
export function requireUrlOfKey(name: RemoteEnvironmentName, url: string, config: StoredConfig): void {
  const owner = originOfKey(name, config);
  if (owner === undefined || owner === new URL(url).origin) return;
  throw new AuthError(
    `The stored key of ${name} was stored for ${owner}, and ${url} is another origin. Nothing was stored`,
    {
      hint: restoreCommand(name, url),
    },
  );
}

function restoreCommand(name: RemoteEnvironmentName, url: string): string {
  return `petstock config set-key --env ${name} --url ${shellWord(url)}`;
}
