import type { Command } from 'commander';
import { isoTime } from '../../../output/time.ts';
import type { Row, View } from '../../../output/view.ts';
import { currentLimits, knownGates } from '../../../rate-limit/known-limits.ts';
import type { KnownKey } from '../../../rate-limit/limits-store.ts';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { withExistingState } from '../../invocation/state.ts';
import { examples } from '../command.ts';
import { defineLimitsClear } from './clear.ts';
import { gateText, type NamedKey, nameKeys } from './keys.ts';

interface LimitsOptions {
  readonly refresh?: boolean;
}

export function defineLimits(command: Command, run: Run): void {
  command
    .description(
      'Shows what is left of the rate limit of each key, as far as its last answers said. Of every environment, unless ' +
        '--env names one. Sends nothing.',
    )
    .option('--refresh', 'ask the service first, for the chosen environment; takes one request')
    .addHelpText(
      'after',
      examples([['petstock limits'], ['petstock limits --refresh --env production'], ['petstock limits clear']]),
    )
    .action(
      run<LimitsOptions>(async (invocation, { refresh }) => {
        const { clock } = invocation.context;
        const keys = nameKeys(invocation, await (refresh ? refreshedKeys(invocation) : knownKeys(invocation)));
        const view = limitsView(keys, invocation);
        if (view.rows.flat().length === 0) {
          await invocation.messages.note('No limits are known: the service states them with its next answer.');
        }
        for (const line of gateLines(keys, clock.now())) await invocation.messages.note(line);
        await invocation.results.print(view);
      }),
    );
  defineLimitsClear(command.command('clear').summary('forget what the service said of a key'), run);
}

function knownKeys(invocation: Invocation): Promise<readonly KnownKey[]> {
  return withExistingState(invocation, 'limits', async (state) => (await state?.limits.list()) ?? [], 'limits');
}

async function refreshedKeys({ service }: Invocation): Promise<readonly KnownKey[]> {
  const { client, state } = await service.connect();
  await client.probe();
  return state.limits.list();
}

function gateLines(keys: readonly NamedKey[], now: number): string[] {
  const gates = knownGates(keys).filter(({ until }) => until > now);
  return gates.map((gate) => `${nameOf(keys, gate.scope)}: ${gateText(gate, now)}.`);
}

function nameOf(keys: readonly NamedKey[], scope: string): string | undefined {
  return keys.find((key) => key.scope === scope)?.name;
}

function limitsView(keys: readonly NamedKey[], { context }: Invocation): View & { readonly rows: Row[][] } {
  const keyOf = new Map(keys.map(({ scope, key }) => [scope, key]));
  const rows: Row[] = currentLimits(keys, context.clock).map(({ scope, env, limit, remaining, resetAt, asOf }) => ({
    env,
    limit,
    remaining,
    resetAt: isoTime(resetAt),
    asOf: isoTime(asOf),
    key: keyOf.get(scope) ?? '',
  }));
  return {
    shape: 'list',
    isWordy: true,
    columns: [
      { field: 'env', title: 'Environment', whole: true },
      { field: 'limit', title: 'Limit', align: 'right' },
      { field: 'remaining', title: 'Left', align: 'right' },
      { field: 'resetAt', title: 'Resets at', whole: true },
      { field: 'asOf', title: 'As of', whole: true },
      { field: 'key', title: 'Key', whole: true },
    ],
    rows: [rows],
  };
}
