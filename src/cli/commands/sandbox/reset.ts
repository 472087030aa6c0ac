import type { Command } from 'commander';
import type { Seed } from '../../../service/index.ts';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { openSandbox, resetSandbox, sandboxPlan } from '../../sandbox.ts';
import { examples } from '../command.ts';
import { oneOf } from '../values.ts';
import { count } from './numbers.ts';
import { chosenStore, nameOfStore, type StoreChoice, withStore, withStoreOptions } from './store-access.ts';

export function defineInfo(command: Command, run: Run): void {
  command
    .description('Shows where the sandbox is kept, its key, its plan and how many pets it has. Makes it on first use.')
    .addHelpText('after', examples([['petstock sandbox info'], ['petstock sandbox info --json']]))
    .action(run((invocation) => printInfo(invocation)));
}

/** `{"file","key","plan","pets"}` */
async function printInfo(invocation: Invocation): Promise<void> {
  const { adoptKey, inspectDatabase } = await import('../../../service/index.ts');
  const { file, key } = await openSandbox(invocation.context.folders.state);
  const { plan } = await withStore(invocation, { file }, (store) =>
    adoptKey(store, key, sandboxPlan, { keepsKnown: true }),
  );
  await invocation.results.print({
    shape: 'one',
    columns: [
      { field: 'file', title: 'File', whole: true },
      { field: 'key', title: 'Key', whole: true },
      { field: 'plan', title: 'Plan' },
      { field: 'pets', title: 'Pets', align: 'right' },
    ],
    rows: [[{ file, key, plan, pets: inspectDatabase(file)?.pets ?? 0 }]],
  });
}

interface ResetOptions extends StoreChoice {
  readonly pets?: string;
  readonly seed?: string;
  readonly ids?: string;
}

export function defineReset(command: Command, run: Run): void {
  withStoreOptions(command)
    .description(
      'Throws the stock of the sandbox away, seeds a fresh one, and forgets what was used of the limits. Keys stay; its own is a business key again.',
    )
    .option('--pets <n>', 'how many pets the fresh stock has (default: 24)')
    .option('--seed <n>', 'seed of the fresh stock (default: 1)')
    .option('--ids <kind>', 'large: some ids are beyond 2^53; small: none is (default: large)')
    .addHelpText(
      'after',
      examples([['petstock sandbox reset'], ['petstock sandbox reset --pets 1000', 'for a stock of another size']]),
    )
    .action(
      run<ResetOptions>(async (invocation, options) => {
        const { seededStock } = await import('../../../service/index.ts');
        const stock = seededStock(seedOf(options));
        const chosen = await chosenStore(invocation, options);
        if (options.file === undefined && 'file' in chosen) {
          await resetSandbox(invocation.context, stock);
          await invocation.messages.note('The sandbox has a fresh stock.');
          return printInfo(invocation);
        }
        const store = nameOfStore(chosen);
        if ('database' in chosen) await invocation.questions.confirm(`Throw the whole stock in ${store} away?`);
        await withStore(invocation, chosen, (opened) => opened.replace(stock, { forgetsUsage: true }), { stock });
        await invocation.messages.note(`${store} has a fresh stock.`);
        await invocation.results.print({
          shape: 'one',
          columns: [
            { field: 'store', title: 'Store', whole: true },
            { field: 'pets', title: 'Pets', align: 'right' },
          ],
          rows: [[{ store, pets: [...stock.items].length }]],
        });
      }),
    );
}

function seedOf({ pets, seed, ids }: ResetOptions): Seed {
  const given = {
    pets: pets === undefined ? undefined : count('--pets', pets, 0, 100_000_000),
    seed: seed === undefined ? undefined : count('--seed', seed, 0),
    ids: ids === undefined ? undefined : oneOf('--ids', ids, ['large', 'small'] as const),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
