import type { Command } from 'commander';
import { machineOf } from '../../../history/machine.ts';
import { listRuns } from '../../../history/runs.ts';
import { historyListView } from '../../../output/history-view.ts';
import type { Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { petIdOf } from '../values.ts';
import { momentOf } from './parse-date.ts';

interface ListOptions {
  readonly pet?: string;
  readonly since?: string;
  readonly until?: string;
}

export function defineHistoryList(command: Command, run: Run): void {
  command
    .description(
      'Lists what this machine has written, the latest first: in every environment, unless --env names one. Sends nothing.',
    )
    .option('--pet <id>', 'only runs that changed this pet')
    .option('--since <date>', 'only runs from then on: 2026-01-15, 2026-01-15T09:30, or 7d, 12h, 30min ago')
    .option('--until <date>', 'only runs up to then')
    .addHelpText(
      'after',
      examples([
        ['petstock history list'],
        ['petstock history list --pet 42 --since 7d', 'who has changed it this week?'],
        ['petstock history list --env production --json'],
      ]),
    )
    .action(
      run<ListOptions>(async (invocation, { pet, since, until }) => {
        const { context, globals, environment } = invocation;
        const { clock, folders } = context;
        const now = clock.now();
        const filter = {
          env: globals.env === undefined ? undefined : environment.value,
          petId: pet === undefined ? undefined : petIdOf(pet),
          since: momentOf('--since', since, now, 'start'),
          until: momentOf('--until', until, now, 'end'),
        };
        const { runs, problems } = listRuns(folders.state, filter, machineOf(context));
        for (const problem of problems) await invocation.warn(problem);
        await invocation.print(historyListView(runs));
      }),
    );
}
