import { localTime } from '../../../output/time.ts';
import { scopeOf } from '../../../rate-limit/key-state.ts';
import type { KnownGate } from '../../../rate-limit/known-limits.ts';
import type { KnownKey } from '../../../rate-limit/limits-store.ts';
import { configOf } from '../../../settings/config-file.ts';
import { maskKey } from '../../../settings/key-and-url.ts';
import { knownKey, resolveBaseUrl, resolveKey } from '../../../settings/resolve.ts';
import { remoteEnvironmentNames } from '../../../settings/settings.ts';
import { whereName } from '../../../shared/where.ts';
import { serviceOf } from '../../../state/service-of.ts';
import type { Invocation } from '../../invocation/invocation.ts';

/** A key that was used, with what people call it. */
export interface NamedKey extends KnownKey {
  readonly env: string;
  /** Masked to its last 4 characters where it is the one that is configured, else `#` and the start of its hash. */
  readonly key: string;
  /** The environment, and the key where another one was used there too. */
  readonly name: string;
}

/** Those of the store and the environment that `--store` and `--env` name; all where neither is given. */
export function nameKeys(invocation: Invocation, known: readonly KnownKey[]): NamedKey[] {
  const { globals, where } = invocation;
  const configured = configuredKeys(invocation);
  const keys = known.map(({ scope, state }) => {
    const key = configured.get(scope)?.key ?? `#${scope.slice(0, 8)}`;
    return { scope, state, env: state.env, key };
  });
  const isMeant = (place: string) => {
    const [env, store] = place.split('/').reverse();
    return (globals.env === undefined || env === where.env) && (globals.store === undefined || store === where.store);
  };
  // One key of two places was last used in one of them: it is called by the one that was asked for.
  const chosen = keys.flatMap((key) => {
    const env = [key.env, ...(configured.get(key.scope)?.places ?? [])].find(isMeant);
    return env === undefined ? [] : [{ ...key, env, state: { ...key.state, env } }];
  });
  return chosen.map((one) => {
    const isAlone = chosen.every(({ env, scope }) => env !== one.env || scope === one.scope);
    return { ...one, name: isAlone ? one.env : `${one.env} ${one.key}` };
  });
}

interface ConfiguredKey {
  readonly key: string;
  /** `north/staging`. Two of them may be one service with one key. */
  readonly places: string[];
}

/** Keys that a command prints are not known: nothing is run for a look. */
function configuredKeys({ context, configFile, store }: Invocation): Map<string, ConfiguredKey> {
  const found = new Map<string, ConfiguredKey>();
  for (const name of new Set([undefined, store?.value, ...Object.keys(configFile.stores)])) {
    const config = configOf(configFile, name);
    for (const environment of remoteEnvironmentNames) {
      const url = resolveBaseUrl(environment, context.env, config);
      const key = knownKey(resolveKey(environment, context.env, config));
      if (url === undefined || key === undefined) continue;
      const scope = scopeOf(new URL(serviceOf(url.value)).origin, key.value);
      const entry = found.get(scope) ?? { key: maskKey(key.value), places: [] };
      entry.places.push(whereName({ store: name, env: environment }));
      found.set(scope, entry);
    }
  }
  return found;
}

/** `after a 429 nothing is sent before 08:00:20` */
export function gateText({ until, reason }: KnownGate, now: number): string {
  const why = reason === 'refused' ? 'after a 429' : 'while the service is unavailable';
  return `${why} nothing is sent before ${localTime(until, now)}`;
}
