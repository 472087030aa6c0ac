import { localTime } from '../../../output/time.ts';
import type { KnownGate } from '../../../rate-limit/known-limits.ts';
import type { KnownKey } from '../../../rate-limit/limits-store.ts';
import { scopeOf } from '../../../rate-limit/scope.ts';
import { maskKey } from '../../../settings/keys.ts';
import { resolveBaseUrl, resolveKey } from '../../../settings/resolve.ts';
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

/** Those of the environment that `--env` names; all where it names none. */
export function nameKeys(invocation: Invocation, known: readonly KnownKey[]): NamedKey[] {
  const { globals, environment } = invocation;
  const configured = configuredKeys(invocation);
  const keys = known.map(({ scope, state }) => {
    const key = configured.get(scope)?.key ?? `#${scope.slice(0, 8)}`;
    return { scope, state, env: state.env, key };
  });
  const isChosen = ({ scope, env }: (typeof keys)[number]) =>
    globals.env === undefined ||
    env === environment.value ||
    configured.get(scope)?.environments.includes(environment.value) === true;
  return keys.filter(isChosen).map((one) => {
    const isAlone = keys.every(({ env, scope }) => env !== one.env || scope === one.scope);
    return { ...one, name: isAlone ? one.env : `${one.env} ${one.key}` };
  });
}

interface ConfiguredKey {
  readonly key: string;
  /** Two environments may be one service with one key. */
  readonly environments: string[];
}

function configuredKeys({ context, config }: Invocation): Map<string, ConfiguredKey> {
  const found = new Map<string, ConfiguredKey>();
  for (const environment of ['staging', 'production'] as const) {
    const url = resolveBaseUrl(environment, context.env, config);
    const key = resolveKey(environment, context.env, config);
    if (url === undefined || key === undefined) continue;
    const scope = scopeOf(new URL(serviceOf(url.value)).origin, key.value);
    const entry = found.get(scope) ?? { key: maskKey(key.value), environments: [] };
    entry.environments.push(environment);
    found.set(scope, entry);
  }
  return found;
}

/** `after a 429 nothing is sent before 08:00:20` */
export function gateText({ until, reason }: KnownGate, now: number): string {
  const why = reason === 'refused' ? 'after a 429' : 'while the service is unavailable';
  return `${why} nothing is sent before ${localTime(until, now)}`;
}
