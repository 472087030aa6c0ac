import type { Command } from 'commander';
import type { View } from '../../output/view.ts';
import { openSandbox, sandboxPlan, startSandbox } from '../../sandbox.ts';
import { examples } from '../command.ts';
import type { Invocation, Run } from '../invocation.ts';

export function registerInfo(sandbox: Command, run: Run): void {
  sandbox
    .command('info')
    .summary('show where the sandbox is kept, its key and its plan')
    .description('Shows where the sandbox is kept, its key, its plan and how many pets it has. Makes it on first use.')
    .addHelpText('after', examples([['petstock sandbox info'], ['petstock sandbox info --json']]))
    .action(run((invocation) => printInfo(invocation)));
}

/** `{"file","key","plan","pets"}` */
export async function printInfo(invocation: Invocation): Promise<void> {
  const { inspectDatabase } = await import('../../service/index.ts');
  const { file, key } = await openSandbox(invocation.context.folders.state);
  if (inspectDatabase(file) === null) await (await startSandbox(invocation.context)).close();
  const pets = inspectDatabase(file)?.pets ?? 0;
  const view: View = {
    shape: 'one',
    columns: [
      { field: 'file', title: 'File', whole: true },
      { field: 'key', title: 'Key', whole: true },
      { field: 'plan', title: 'Plan' },
      { field: 'pets', title: 'Pets', align: 'right' },
    ],
    rows: [[{ file, key, plan: sandboxPlan, pets }]],
  };
  await invocation.print(view);
}
