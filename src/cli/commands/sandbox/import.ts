import { counted } from '../../../inventory/items.ts';
import { recordView } from '../../../output/view.ts';
import { define } from '../command.ts';
import { files } from '../kinds.ts';
import { requireFileName } from '../option-values.ts';
import { chosenFile, forgetStock, withStore } from './open-store.ts';
import { fileOption } from './sandbox-options.ts';
import { readStockFile } from './stock-file.ts';

export const importCommand = define({
  summary: 'replace the stock with your own',
  operands: { '<file>': ['CSV, TSV, JSON or NDJSON; - is stdin', files('.csv', '.json')] },
  description:
    'Replaces the stock with your own, as a whole or not at all, even while it is served. The file has the columns petId, ' +
    'quantity and status (default: available), as `inventory list` and `inventory export` write them. If this replaces ' +
    'the stock of the sandbox itself, the built-in names of its pets and its runs in the history are removed.',
  options: [fileOption],
  examples: [
    ['petstock sandbox import stock.csv'],
    ['petstock inventory list -o csv | petstock sandbox import -', 'the stock of another environment'],
  ],
  run: async function* (invocation, choice, file = '') {
    const { context, messages } = invocation;
    requireFileName(file, 'sandbox import');
    const items = await readStockFile(file, context);
    const chosen = chosenFile(invocation, choice);
    await withStore(invocation, chosen, (store) => store.replace({ items, orders: [] }));
    if (chosen.isOwn) await forgetStock(invocation, 'none');
    const pets = items.length;
    await messages.note(`Imported ${counted(pets, 'pet')} into ${chosen.path}.`);
    yield recordView({ file: chosen.path, pets });
  },
});
