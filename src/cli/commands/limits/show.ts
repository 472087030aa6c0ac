import type { Command } from 'commander';
import { type LimitFacts, limitsView } from '../../../output/limits-view.ts';
import { currentLimits, knownGates } from '../../../rate-limit/known-limits.ts';
import type { KnownKey } from '../../../rate-limit/limits-store.ts';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { withExistingState } from '../../invocation/state.ts';
import { examples, fieldsOption } from '../command.ts';
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
    .option(...fieldsOption)
    .addHelpText(
      'after',
      examples([['petstock limits'], ['petstock limits --refresh --env production'], ['petstock limits clear']]),
    )
    .action(
      run<LimitsOptions>(async (invocation, { refresh }) => {
        const { clock } = invocation.context;
        const keys = nameKeys(invocation, await (refresh ? refreshedKeys(invocation) : knownKeys(invocation)));
        const known = knownWindows(keys, invocation);
        if (known.length === 0) {
          await invocation.messages.note('No limits are known: the service states them with its next answer.');
        }
        for (const line of gateLines(keys, clock.now())) await invocation.messages.note(line);
        await invocation.results.print(limitsView(known, clock.now()), { sayWhenEmpty: false });
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

function knownWindows(keys: readonly NamedKey[], { context }: Invocation): readonly LimitFacts[] {
  const keyOf = new Map(keys.map(({ scope, key }) => [scope, key]));
  return currentLimits(keys, context.clock).map((limit) => ({ ...limit, key: keyOf.get(limit.scope) ?? '' }));
}
