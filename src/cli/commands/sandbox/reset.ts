import type { Command } from 'commander';
import type { Invocation, Run } from '../../invocation/invocation.ts';
import { openSandbox, resetSandbox, sandboxPlan } from '../../sandbox.ts';
import { examples } from '../command.ts';
import { addOptions, type Values } from './sandbox-options.ts';
import {
  chosenStore,
  nameOfStore,
  printRecord,
  type StoreChoice,
  withStore,
  withStoreOptions,
} from './store-access.ts';

export function defineInfo(command: Command, run: Run): void {
  command
    .description('Shows where the sandbox is kept, its key, its plan and how many pets it has. Makes it on first use.')
    .addHelpText('after', examples([['petstock sandbox info'], ['petstock sandbox info --json']]))
    .action(run(printInfo));
}

/** `{"file","key","plan","pets"}` */
async function printInfo(invocation: Invocation): Promise<void> {
  const { adoptKey, inspectDatabase } = await import('../../../service/index.ts');
  const { file, key } = await openSandbox(invocation.context.folders.state);
  const { plan } = await withStore(invocation, chosenStore(invocation, {}), (store) =>
    adoptKey(store, key, sandboxPlan, { keepsKnown: true }),
  );
  await printRecord(invocation, { file, key, plan, pets: inspectDatabase(file)?.pets ?? 0 });
}

export function defineReset(command: Command, run: Run): void {
  addOptions(withStoreOptions(command), ['pets', 'seed', 'ids'])
    .description(
      'Throws the stock of the sandbox away, seeds a fresh one, and forgets what was used of the limits. Keys stay; its own is a business key again.',
    )
    .addHelpText(
      'after',
      examples([['petstock sandbox reset'], ['petstock sandbox reset --pets 1000', 'for a stock of another size']]),
    )
    .action(
      run<StoreChoice & Pick<Values, 'pets' | 'seed' | 'ids'>>(async (invocation, options) => {
        const { seededStock } = await import('../../../service/index.ts');
        const stock = seededStock(options);
        const chosen = chosenStore(invocation, options);
        if ('file' in chosen && chosen.isOwn) {
          await resetSandbox(invocation.context, stock);
          await invocation.messages.note('The sandbox has a fresh stock.');
          return printInfo(invocation);
        }
        const store = nameOfStore(chosen);
        if ('database' in chosen) await invocation.questions.confirm(`Throw the whole stock in ${store} away?`);
        await withStore(invocation, chosen, (opened) => opened.replace(stock, { forgetsUsage: true }), { stock });
        await invocation.messages.note(`${store} has a fresh stock.`);
        await printRecord(invocation, { store, pets: [...stock.items].length });
      }),
    );
}
