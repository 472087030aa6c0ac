import type { Command } from 'commander';
import { machineOf } from '../../../history/machine.ts';
import { removeRuns, runsToPrune } from '../../../history/prune.ts';
import { grouped } from '../../../inventory/grouped.ts';
import { UsageError } from '../../../shared/errors.ts';
import type { Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { momentOf } from './parse-date.ts';

interface PruneOptions {
  readonly before?: string;
  readonly keep?: string;
  readonly incomplete?: boolean;
}

export function defineHistoryPrune(command: Command, run: Run): void {
  command
    .description(
      'Removes runs from the history, once you have agreed: they can no longer be shown or taken back. Runs that are not ' +
        'complete, and could be gone on with, stay unless --incomplete is given. Of every environment, unless --env names one.',
    )
    .option('--before <date>', 'runs before then: 2026-01-15, or 90d for those older than 90 days')
    .option('--keep <n>', 'all but the latest n runs')
    .option('--incomplete', 'those that are not complete, too')
    .addHelpText(
      'after',
      examples([['petstock history prune --before 90d'], ['petstock history prune --keep 1000 --yes']]),
    )
    .action(
      run<PruneOptions>(async (invocation, { before, keep, incomplete = false }) => {
        if (before === undefined && keep === undefined) {
          throw new UsageError('Which runs? Say --before <date>, --keep <n>, or both', {
            hint: 'petstock history prune --before 90d',
          });
        }
        const { clock, folders } = invocation.context;
        const env = invocation.globals.env === undefined ? undefined : invocation.environment.value;
        const machine = machineOf(invocation.context);
        const { runs, kept, problems } = runsToPrune(folders.state, {
          env,
          before: momentOf('--before', before, clock.now(), 'start'),
          keep: keepOf(keep),
          incomplete,
          ...machine,
        });
        for (const problem of problems) await invocation.warn(problem);
        if (kept.length > 0) await invocation.note(keptText(kept.length));
        if (runs.length > 0) {
          await invocation.confirmBulk({ question: `Remove ${runsText(runs.length)} for good?` });
        }
        const removed = removeRuns(folders.state, runs, machine);
        await invocation.note(`${runsText(removed.length)}${env === undefined ? '' : ` of ${env}`} removed.`);
      }),
    );
}

function keepOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError(`--keep takes a whole number from 0, such as 1000; "${text}" is none`);
}

function runsText(runs: number): string {
  return `${grouped(runs)} ${runs === 1 ? 'run' : 'runs'}`;
}

function keptText(runs: number): string {
  const stay = runs === 1 ? 'stays: it' : 'stay: each';
  return `${runsText(runs)} ${stay} is still going on, can be gone on with, or takes back a run that stays.`;
}
