import type { Command } from 'commander';
import type { Column, View } from '../../../output/view.ts';
import type { Seed } from '../../../service/index.ts';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { resetSandbox, sandboxPlan } from '../../sandbox.ts';
import { examples } from '../command.ts';
import { oneOf } from '../values.ts';
import { count } from './numbers.ts';
import { chosenStore, nameOfStore, type StoreChoice, withKeys, withStore, withStoreOptions } from './store-access.ts';

export function defineInfo(command: Command, run: Run): void {
  command
    .description('Shows where the sandbox is kept, its key, its plan and how many pets it has. Makes it on first use.')
    .addHelpText('after', examples([['petstock sandbox info'], ['petstock sandbox info --json']]))
    .action(run((invocation) => printInfo(invocation)));
}

/** `{"file","key","plan","pets"}` */
async function printInfo(invocation: Invocation): Promise<void> {
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
        const seed = seedOf(options);
        const chosen = await chosenStore(invocation, options);
        const isOwn = options.file === undefined && 'file' in chosen;
        if (isOwn && Object.keys(seed).length === 0) return resetOwn(invocation);
        const name = nameOfStore(chosen);
        if ('database' in chosen) await invocation.questions.confirm(`Throw the whole stock in ${name} away?`);
        const { seededStock } = await import('../../../service/index.ts');
        const stock = seededStock(seed);
        await withStore(invocation, chosen, (store) => store.replace(stock, { forgetsUsage: true }), stock);
        await invocation.messages.note(`${name} has a fresh stock.`);
        if (isOwn) return printInfo(invocation);
        const columns: Column[] = [
          { field: 'store', title: 'Store', whole: true },
          { field: 'pets', title: 'Pets', align: 'right' },
        ];
        await invocation.results.print({
          shape: 'one',
          columns,
          rows: [[{ store: name, pets: [...stock.items].length }]],
        });
      }),
    );
}

async function resetOwn(invocation: Invocation): Promise<void> {
  await resetSandbox(invocation.context);
  await withKeys(invocation, {}, ({ ring, own }) => ring.adopt(own.key, sandboxPlan, { keepsKnown: false }));
  await invocation.messages.note('The sandbox has a fresh stock.');
  await printInfo(invocation);
}

function seedOf({ pets, seed, ids }: ResetOptions): Seed {
  const given = {
    pets: count('--pets', pets, 0, 100_000_000),
    seed: count('--seed', seed, 0),
    ids: ids === undefined ? undefined : oneOf('--ids', ids, ['large', 'small'] as const),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
