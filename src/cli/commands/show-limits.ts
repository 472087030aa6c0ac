import { type LimitRow, limitsView } from '../../output/rate-limit-text.ts';
import { localTime } from '../../output/time.ts';
import { plainColumns, type Row, type View } from '../../output/view.ts';
import { type KeyState, scopeOf } from '../../rate-limit/key-state.ts';
import {
  clearLimits,
  currentGate,
  type KnownGate,
  type KnownKey,
  knownKeys,
  knownLimits,
} from '../../rate-limit/known-limits.ts';
import { configOf } from '../../settings/config-file.ts';
import { maskKey, serviceNameOf } from '../../settings/key-and-url.ts';
import { knownKey, resolveBaseUrl, resolveKey } from '../../settings/resolve.ts';
import { remoteEnvironmentNames } from '../../settings/settings.ts';
import { storesOfVariables } from '../../settings/variables.ts';
import { type Target, targetName } from '../../shared/hint.ts';
import type { Store } from '../../state/state-store.ts';
import { isNamed, isNarrowed } from '../invocation/globals.ts';
import type { Invocation } from '../invocation/invocation.ts';
import { existingState, gatesOf, lastKnownKeys } from '../invocation/state-access.ts';
import { define, fieldsOption } from './command.ts';
import { namedTargetText } from './history/selection.ts';

const notCleared = 'Nothing was cleared';

const clear = define({
  summary: 'clear the known limits of a key',
  description:
    'Clears the known limits of a key, after a confirmation: how many requests are left, and the time before which nothing may be sent. Covers ' +
    'every key of this configuration, unless --env, --store or their variables select some. Requests that have no response yet stay counted. Sends nothing.',
  examples: [['petstock limits clear'], ['petstock limits clear --env production --yes']],
  run: async function* (invocation) {
    const found = await existingState(invocation, { notDone: notCleared });
    const cleared = await clearKnown(invocation, found?.state);
    if (invocation.results.isFormatNamed) yield clearedView(cleared);
  },
});

export const limitsCommand = define({
  summary: 'show or clear the known rate limits',
  group: 'Service and setup',
  commands: { clear },
  description:
    'Shows the known rate limits of each key, as of its last responses, and the time before which nothing may be sent with it. ' +
    'Covers every key of this configuration, unless --env, --store or their variables select some. Sends nothing, unless --refresh is given.',
  options: [['--refresh', 'ask the service first, for the chosen environment; sends one request'], fieldsOption],
  examples: [['petstock limits'], ['petstock limits --refresh --env production'], ['petstock limits clear']],
  run: async function* (invocation, { refresh }) {
    const { context, messages, results } = invocation;
    await results.requireFields(limitsView([], 0));
    const keys = (
      await namedKeys(invocation, await (refresh ? refreshed(invocation) : lastKnownKeys(invocation)))
    ).flatMap(({ target, ...key }) => (target === undefined ? [] : [{ target, ...key }]));
    const now = context.clock.now();
    const rows = keys.flatMap(({ target, shown: key, state }): LimitRow[] => {
      const gate = currentGate(state, now)?.until;
      const windows = knownLimits(state, now);
      if (windows.length > 0) return windows.map((window) => ({ ...window, target, key, gate }));
      return gate === undefined ? [] : [{ target, key, gate }];
    });
    if (rows.every(({ limit }) => limit === undefined)) {
      const why = refresh ? 'The service did not report any' : 'The service reports them with its next response';
      await messages.note(`No limits are known yet. ${why}.`);
    }
    for (const { name, state } of keys) {
      const gate = currentGate(state, now);
      if (gate !== undefined) await messages.note(`${name}: ${gateText(gate, now)}.`);
    }
    yield { ...limitsView(rows, now), noteWhenEmpty: false };
  },
});

/** Returns what is known after one request. */
async function refreshed({ connections, context }: Invocation): Promise<readonly KnownKey[]> {
  const { client, limits, state } = await connections.connect();
  await client.probe();
  await limits.save();
  return knownKeys(state, gatesOf(context), context.clock);
}

/** Returns the keys whose limits were cleared. */
async function clearKnown(invocation: Invocation, state: Store | undefined): Promise<readonly NamedKey[]> {
  const { messages, questions, context } = invocation;
  const { clock } = context;
  const gates = gatesOf(context);
  const known = await namedKeys(invocation, await knownKeys(state, gates, clock));
  const keys = known
    .map((key) => ({ ...key, facts: factsOf(key.state, clock.now()) }))
    .filter(({ facts }) => facts.length > 0);
  const chosen = keys.filter(({ target }) => target !== undefined);
  const others = keys.filter(({ target }) => target === undefined);
  if (others.length > 0) {
    await messages.note(
      `Not cleared, because they belong to another configuration: ${others.map(({ shown }) => shown).join(', ')}.`,
    );
  }
  if (chosen.length === 0) {
    const where = isNarrowed(invocation) ? ` for ${namedTargetText(invocation)}` : '';
    await messages.note(`There is nothing to clear${where}.`);
    return [];
  }
  const what = chosen.length === 1 ? 'these limits' : `the limits of ${chosen.length} keys`;
  const lines = chosen.map(({ name, facts }) => `${name}: ${facts.join('; ')}`);
  await messages.show(() => lines, { always: questions.willAsk() });
  await questions.confirm({
    question: `Clear ${what}? If the service is called too early, it may ban the key.`,
    previewCommand: 'petstock limits',
    notDone: notCleared,
  });
  for (const { scope } of chosen) await clearLimits(state, gates, scope);
  const names = chosen.map(({ name }) => name).join(', ');
  await messages.note(`Cleared the known limits of ${names}. The next request reads them again.`);
  return chosen;
}

/** Returns the targets of the cleared keys, in JSON `[{"env","store"}]`. */
function clearedView(keys: readonly NamedKey[]): View {
  const rows = keys.map(({ target }): Row => ({ env: target?.env ?? null, store: target?.store ?? null }));
  return { shape: 'list', columns: plainColumns(['env', 'store']), rows: [rows], noteWhenEmpty: false };
}

function factsOf(state: KeyState, now: number): string[] {
  const gate = currentGate(state, now);
  const windows = knownLimits(state, now).map(({ limit, remaining, resetAt, isOver }) => {
    const at = localTime(resetAt, now);
    return isOver
      ? `a limit of ${limit}, in a window that ended at ${at}`
      : `${remaining} of ${limit} left until ${at}`;
  });
  return gate === undefined ? windows : [gateText(gate, now), ...windows];
}

interface NamedKey extends KnownKey {
  /** The target of the key; undefined if the key belongs to another or an earlier configuration. */
  readonly target: Target | undefined;
  /** The key, masked except for its last 4 characters; `#` and the start of its hash if its text is not configured. */
  readonly shown: string;
  /** The target, followed by the key if the target has several; `another configuration (#…)` if it is unknown. */
  readonly name: string;
}

/** Returns the keys of the targets that options and variables name; all keys if they name none. */
async function namedKeys(invocation: Invocation, known: readonly KnownKey[]): Promise<NamedKey[]> {
  const isForAll = !isNarrowed(invocation);
  const { configured, printed } = await configuredKeys(invocation);
  const keys = known.flatMap((key): Omit<NamedKey, 'name'>[] => {
    const shown = `#${key.scope.slice(0, 8)}`;
    // A key that a command prints is not known here. Every key that was used with the target of such a command is
    // therefore shown for that target.
    const targets =
      configured.get(key.scope)?.targets ?? printed.filter((target) => targetName(target) === key.state.target);
    // A key of several targets is shown with the one that used it last, if selected.
    const meant = targets.filter((target) => isNamed(invocation, target));
    const target = meant.find((each) => targetName(each) === key.state.target) ?? meant[0];
    if (target !== undefined) return [{ ...key, target, shown: configured.get(key.scope)?.key ?? shown }];
    return isForAll && targets.length === 0 ? [{ ...key, target, shown }] : [];
  });
  const sortKey = ({ target }: Pick<NamedKey, 'target'>) => (target === undefined ? '\uffff' : targetName(target));
  const sorted = keys.toSorted((a, b) => sortKey(a).localeCompare(sortKey(b)));
  return sorted.map((one) => {
    const { target, shown } = one;
    if (target === undefined) return { ...one, name: `another configuration (${shown})` };
    const targetText = targetName(target);
    const isAlone = keys.every((other) => other === one || !other.target || targetName(other.target) !== targetText);
    return { ...one, name: isAlone ? targetText : `${targetText} ${shown}` };
  });
}

/**
 * Returns the configured keys by their scopes, and the targets whose key is printed by a command. The command is not
 * run.
 */
async function configuredKeys({ context, configFile, store }: Invocation) {
  // Several targets may be one service with one key.
  const configured = new Map<string, { readonly key: string; readonly targets: Target[] }>();
  const printed: Target[] = [];
  const add = (origin: string, key: string, target: Target) => {
    const scope = scopeOf(origin, key);
    const entry = configured.get(scope) ?? { key: maskKey(key), targets: [] };
    entry.targets.push(target);
    configured.set(scope, entry);
  };
  const stores = [...Object.keys(configFile.stores), ...storesOfVariables(context.env)];
  for (const name of new Set([undefined, store?.value, ...stores])) {
    const config = configOf(configFile, name);
    for (const env of remoteEnvironmentNames) {
      const url = resolveBaseUrl(env, context.env, config);
      const key = resolveKey(env, context.env, config);
      if (url === undefined || key === undefined) continue;
      const known = knownKey(key);
      if (known === undefined) printed.push({ store: name, env });
      else add(new URL(serviceNameOf(url.value)).origin, known.value, { store: name, env });
    }
  }
  const { ownKey } = await import('../sandbox.ts');
  const sandboxKey = ownKey(context.folders.state);
  if (sandboxKey !== undefined) add('sandbox', sandboxKey, { env: 'sandbox' });
  return { configured, printed };
}

/** Returns, for example, `after a 429 nothing is sent before 08:00:20`. */
function gateText({ until, reason }: KnownGate, now: number): string {
  const why = reason === 'refused' ? 'after a 429' : 'while the service is unavailable';
  return `${why} nothing is sent before ${localTime(until, now)}`;
}
