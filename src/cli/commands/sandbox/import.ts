import { counted } from '../../../inventory/items.ts';
import { define } from '../define.ts';
import { requireFileName } from '../option-values.ts';
import { printRecord } from '../print-record.ts';
import { readStockFile } from './stock-file.ts';
import { chosenStorage, type StorageChoice, storageName, storageOptions, withStorage } from './storage-access.ts';

export const defineImport = define({
  operands: { '<file>': 'CSV or JSON; - is stdin' },
  description:
    'Replaces the stock with your own, as a whole or not at all, even while it is served. CSV has the columns petId, ' +
    'quantity and status. JSON is an array of items, or {"inventory":[…],"pets":[…],"orders":[…]}, whose pets and orders are the responses to GET /pets/{petId} and ' +
    'GET /store/orders, unchanged. Keys and their usage stay. If this replaces the stock of the sandbox itself, the built-in names of its pets are removed.',
  options: [...storageOptions, ['--merge', 'keep the stock, and add or change the pets of the file']],
  examples: [
    ['petstock sandbox import stock.csv --merge'],
    ['petstock inventory list -o csv | petstock sandbox import -', 'the stock of another environment'],
  ],
  action: async (invocation, { merge = false, ...choice }: StorageChoice & { readonly merge?: boolean }, file = '') => {
    const { messages, questions } = invocation;
    requireFileName(file, 'sandbox import');
    const stock = await readStockFile(file, invocation.context);
    const chosen = chosenStorage(invocation, choice);
    const name = storageName(chosen);
    if ('database' in chosen && !merge) await questions.confirm(`Replace the whole stock in ${name}?`);
    const pets = [...stock.items].length;
    await withStorage(invocation, chosen, (storage) =>
      merge ? storage.put(stock.items) : storage.replace(stock, { clearsUsage: false }),
    );
    if (!merge && 'file' in chosen && chosen.isOwn) {
      await (await import('../../shop-codes.ts')).resetPracticeCodes(invocation.context, 'none');
    }
    const orders = merge ? 0 : stock.orders.length;
    await messages.note(`Imported ${counted(pets, 'pet')} into ${name}${merge ? ', and kept all others' : ''}.`);
    await printRecord(invocation, { store: name, pets, orders });
  },
});
