import type { Command } from 'commander';
import { grouped } from '../../../inventory/grouped.ts';
import type { Run } from '../../invocation/invocation.ts';
import { examples } from '../command.ts';
import { requireFileName } from '../values.ts';
import { readStockFile } from './stock-file.ts';
import {
  chosenStore,
  nameOfStore,
  printRecord,
  type StoreChoice,
  withStore,
  withStoreOptions,
} from './store-access.ts';

interface ImportOptions extends StoreChoice {
  readonly merge?: boolean;
}

export function defineImport(command: Command, run: Run): void {
  withStoreOptions(command)
    .argument('<file>', 'CSV or JSON; - is stdin')
    .description(
      'Puts a stock of your own in the place of the one that is there, all at once, also while it is served. CSV has the columns petId, ' +
        'quantity and status. JSON is an array of items, or {"inventory":[…],"pets":[…],"orders":[…]}: what GET /pets/{petId} and ' +
        'GET /store/orders answer, as it is. Keys and what they have used stay.',
    )
    .option('--merge', 'keep what is there, and add or change the pets of the file')
    .addHelpText(
      'after',
      examples([
        ['petstock sandbox import stock.csv --merge'],
        ['petstock inventory list -o csv | petstock sandbox import -', 'the stock of another environment'],
      ]),
    )
    .action(
      run<ImportOptions>(async (invocation, { merge = false, ...choice }, file = '') => {
        const { messages, questions } = invocation;
        requireFileName(file, 'sandbox import');
        const stock = await readStockFile(file, invocation.context);
        const chosen = chosenStore(invocation, choice);
        const name = nameOfStore(chosen);
        if ('database' in chosen && !merge) await questions.confirm(`Replace the whole stock in ${name}?`);
        const pets = [...stock.items].length;
        await withStore(invocation, chosen, (store) =>
          merge ? store.put(stock.items) : store.replace(stock, { forgetsUsage: false }),
        );
        const orders = merge ? 0 : stock.orders.length;
        await messages.note(
          `${grouped(pets)} pets are in ${name} now${merge ? ', beside those that were there' : ''}.`,
        );
        await printRecord(invocation, { store: name, pets, orders });
      }),
    );
}
