import type { Command } from 'commander';
import { isoTime, localTime } from '../../output/time.ts';
import type { Row, View } from '../../output/view.ts';
import type { KnownLimit } from '../../rate-limit/known-limits.ts';
import type { Run } from '../invocation/invocation.ts';
import { examples } from './command.ts';

interface LimitsOptions {
  readonly refresh?: boolean;
}

export function defineLimits(command: Command, run: Run): void {
  command
    .description('Shows the last known limits of each key that was used on this machine. Sends nothing.')
    .option('--refresh', 'ask the service first, for the chosen environment; takes one request')
    .addHelpText('after', examples([['petstock limits'], ['petstock limits --refresh --env production']]))
    .action(
      run<LimitsOptions>(async (invocation, { refresh }) => {
        const { state } = invocation.context.folders;
        if (refresh) await (await invocation.connect()).client.probe();
        const { readKnownGates, readKnownLimits } = await import('../../rate-limit/known-limits.ts');
        const known = readKnownLimits(state);
        if (known.length === 0) {
          await invocation.note('No limits are known yet: the service tells them with its first answer.');
        }
        const now = invocation.context.clock.now();
        for (const { env, until } of readKnownGates(state).filter((gate) => gate.until > now)) {
          await invocation.note(`${env}: after a 429 nothing is sent before ${localTime(until, now)}.`);
        }
        await invocation.print(limitsView(known));
      }),
    );
}

function limitsView(known: readonly KnownLimit[]): View {
  const rows: Row[] = known.map(({ env, limit, remaining, resetAt, asOf }) => ({
    env,
    limit,
    remaining,
    resetAt: isoTime(resetAt),
    asOf: isoTime(asOf),
  }));
  return {
    shape: 'list',
    columns: [
      { field: 'env', title: 'Environment', whole: true },
      { field: 'limit', title: 'Limit', align: 'right' },
      { field: 'remaining', title: 'Left', align: 'right' },
      { field: 'resetAt', title: 'Resets at', whole: true },
      { field: 'asOf', title: 'As of', whole: true },
    ],
    rows: [rows],
  };
}
