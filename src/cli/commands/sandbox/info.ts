import type { Command } from 'commander';
import type { View } from '../../../output/view.ts';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { withKeys } from './key-ring.ts';

export function defineInfo(command: Command, run: Run): void {
  command
    .description('Shows where the sandbox is kept, its key, its plan and how many pets it has. Makes it on first use.')
    .addHelpText('after', examples([['petstock sandbox info'], ['petstock sandbox info --json']]))
    .action(run((invocation) => printInfo(invocation)));
}

/** `{"file","key","plan","pets"}` */
export async function printInfo(invocation: Invocation): Promise<void> {
  const { inspectDatabase } = await import('../../../service/index.ts');
  const row = await withKeys(invocation, {}, async ({ file, own: { key, record } }) => {
    return { file, key, plan: record.plan, pets: inspectDatabase(file)?.pets ?? 0 };
  });
  const view: View = {
    shape: 'one',
    columns: [
      { field: 'file', title: 'File', whole: true },
      { field: 'key', title: 'Key', whole: true },
      { field: 'plan', title: 'Plan' },
      { field: 'pets', title: 'Pets', align: 'right' },
    ],
    rows: [[row]],
  };
  await invocation.results.print(view);
}
