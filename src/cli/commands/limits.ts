import { limitsView } from '../../output/rate-limit-text.ts';
import { localTime } from '../../output/time.ts';
import { scopeOf } from '../../rate-limit/key-state.ts';
import { currentGates, currentLimits, type KnownGate } from '../../rate-limit/known-limits.ts';
import type { KnownKey } from '../../rate-limit/limits-store.ts';
import { configOf } from '../../settings/config-file.ts';
import { maskKey, serviceOf } from '../../settings/key-and-url.ts';
import { knownKey, resolveBaseUrl, resolveKey } from '../../settings/resolve.ts';
import { remoteEnvironmentNames } from '../../settings/settings.ts';
import type { Clock } from '../../shared/clock.ts';
import { whereName } from '../../shared/where.ts';
import type { State } from '../../state/state.ts';
import { isNamed } from '../invocation/globals.ts';
import type { Invocation } from '../invocation/invocation.ts';
import { withExistingState } from '../invocation/state-access.ts';
import { type Define, define, fieldsOption } from './define.ts';

export const defineLimits: Define = (command, run) => {
  limits(command, run);
  clear(command.command('clear').summary('forget what the service said of a key'), run);
};

const limits = define({
  description:
    'Shows what is left of the rate limit of each key, as far as its last answers said. Of every environment, unless ' +
    '--env names one. Sends nothing.',
  options: [['--refresh', 'ask the service first, for the chosen environment; takes one request'], fieldsOption],
  examples: [['petstock limits'], ['petstock limits --refresh --env production'], ['petstock limits clear']],
  action: async (invocation, { refresh }) => {
    const { context, messages, results, service } = invocation;
    const refreshed = async () => {
      const { client, state } = await service.connect();
      await client.probe();
      return state.limits.list();
    };
    const found = await (refresh ? refreshed() : withExistingState(invocation, listed, { need: 'limits' }));
    const keys = nameKeys(invocation, found);
    const now = context.clock.now();
    const known = currentLimits(keys, context.clock).map((limit) => {
      return { ...limit, key: keys.find(({ scope }) => scope === limit.scope)?.key ?? '' };
    });
    if (known.length === 0) {
      await messages.note('No limits are known: the service states them with its next answer.');
    }
    for (const gate of currentGates(keys, context.clock)) {
      const name = keys.find(({ scope }) => scope === gate.scope)?.name;
      await messages.note(`${name}: ${gateText(gate, now)}.`);
    }
    await results.print(limitsView(known, now), { sayWhenEmpty: false });
  },
});

async function listed(state: State | undefined): Promise<readonly KnownKey[]> {
  return (await state?.limits.list()) ?? [];
}

const clear = define({
  description:
    'Forgets what the service said of a key, once you have agreed: what is left, and until when nothing may be sent. Of ' +
    'every key, unless --env names an environment. Requests on their way stay counted. Sends nothing.',
  examples: [['petstock limits clear'], ['petstock limits clear --env production --yes']],
  action: async (invocation) => {
    const { messages, questions, globals, where: place, context } = invocation;
    await withExistingState(
      invocation,
      async (state) => {
        const known = nameKeys(invocation, await listed(state));
        const keys = known.map((key) => ({ ...key, facts: factsOf(key, context.clock) }));
        const chosen = keys.filter(({ facts }) => facts.length > 0);
        if (state === undefined || chosen.length === 0) {
          const where = globals.env === undefined && globals.store === undefined ? '' : ` for ${whereName(place)}`;
          return messages.note(`There is nothing to forget${where}.`);
        }
        const what = chosen.length === 1 ? 'this' : `this of ${chosen.length} keys`;
        const lines = chosen.map(({ name, facts }) => `${name}: ${facts.join('; ')}`);
        await messages.show(() => lines, { always: questions.willAsk() });
        await questions.confirm({
          question: `Forget ${what}? A service that is called too early may ban the key.`,
          look: 'petstock limits',
          undone: 'Nothing was forgotten',
        });
        for (const { scope } of chosen) await state.limits.clear(scope);
        const names = chosen.map(({ name }) => name).join(', ');
        await messages.note(`Forgotten: what the service said of ${names}. The next request asks it again.`);
      },
      { need: 'limits' },
    );
  },
});

function factsOf(key: KnownKey, clock: Clock): string[] {
  const now = clock.now();
  const windows = currentLimits([key], clock).map(
    ({ limit, remaining, resetAt }) => `${remaining} of ${limit} left until ${localTime(resetAt, now)}`,
  );
  return [...currentGates([key], clock).map((gate) => gateText(gate, now)), ...windows];
}

/**
 * Returns the keys of the store and the environment that `--store` and `--env` name; all if neither is given. `key`: masked to its last 4
 * characters if it is the one that is configured, else `#` and the start of its hash. `name`: the environment, and the key if another one
 * was used there too.
 */
function nameKeys(invocation: Invocation, known: readonly KnownKey[]) {
  const configured = configuredKeys(invocation);
  const keys = known.map(({ scope, state }) => {
    const key = configured.get(scope)?.key ?? `#${scope.slice(0, 8)}`;
    return { scope, state, env: state.env, key };
  });
  const isMeant = (place: string) => {
    const [env = '', store] = place.split('/').reverse();
    return isNamed(invocation, { env, store });
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

/** Keys that a command prints are not known: nothing is run for a look. */
function configuredKeys({ context, configFile, store }: Invocation) {
  // Two places, such as `north/staging`, may be one service with one key.
  const found = new Map<string, { readonly key: string; readonly places: string[] }>();
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
function gateText({ until, reason }: KnownGate, now: number): string {
  const why = reason === 'refused' ? 'after a 429' : 'while the service is unavailable';
  return `${why} nothing is sent before ${localTime(until, now)}`;
}
