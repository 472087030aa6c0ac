import { counted } from '../../../inventory/items.ts';
import { recordView, type View } from '../../../output/view.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { sandboxKey, sandboxPlan } from '../../sandbox.ts';
import { define, files } from '../command.ts';
import { requireFileName } from '../option-values.ts';
import { chosenFile, forgetStock, readStockFile, withStore } from './open-stock-file.ts';
import { defaultPort, fileOption, stockOptions } from './sandbox-options.ts';

export const infoCommand = define({
  summary: 'show where the sandbox is kept, its key and its plan',
  description:
    'Shows where the sandbox is kept, its key, its plan and how many pets it has. Creates the sandbox on first use.',
  examples: [['petstock sandbox info'], ['petstock sandbox info --json']],
  run: ownFacts,
});

/** Yields facts about the sandbox, as JSON `{"file","key","plan","pets"}`. */
async function* ownFacts(invocation: Invocation): AsyncGenerator<View, void> {
  const key = await sandboxKey(invocation.context.folders.state);
  const chosen = chosenFile(invocation, {});
  const pets = await withStore(invocation, chosen, (store) => store.count());
  yield recordView({ file: chosen.path, key, plan: sandboxPlan, pets });
}

export const resetCommand = define({
  summary: 'replace the stock of the sandbox with fresh stock',
  description:
    'Replaces the stock of the sandbox with a fresh one, and clears the usage of its key, even while it is served. ' +
    'Unless --file is given, the codes and names of the pets are the original ones again, and the history has no runs of the sandbox.',
  options: [fileOption, ...stockOptions],
  examples: [['petstock sandbox reset'], ['petstock sandbox reset --pets 1000', 'for a stock of another size']],
  run: async function* (invocation, options) {
    const { seededStock } = await import('../../../service/index.ts');
    const { messages } = invocation;
    const stock = seededStock(options);
    const chosen = chosenFile(invocation, options);
    const opening = { stock, replacesDamaged: chosen.isOwn };
    const pets = await withStore(
      invocation,
      chosen,
      (store) => {
        store.replace(stock);
        store.clearUsage();
        return store.count();
      },
      opening,
    );
    if (chosen.isOwn) await forgetStock(invocation, 'as it opens');
    await messages.note(
      `${chosen.isOwn ? 'The sandbox' : chosen.path} has a fresh stock${chosen.isOwn ? ', and no history' : ''}.`,
    );
    if (chosen.isOwn) yield* ownFacts(invocation);
    else yield recordView({ file: chosen.path, pets });
  },
});

export const openApiCommand = define({
  summary: 'print the contract of the service as an OpenAPI document',
  formats: ['json'],
  description: 'Prints the contract of the service as an OpenAPI 3.1 document in JSON. Starts nothing.',
  examples: [['petstock sandbox openapi > openapi.json']],
  run: async (invocation) => {
    const { openApiDocument } = await import('../../../service/index.ts');
    const document = openApiDocument(`http://127.0.0.1:${defaultPort}/v1`);
    await invocation.results.write(`${JSON.stringify(document, null, 2)}\n`);
  },
});

export const importCommand = define({
  summary: 'replace the stock with your own',
  operands: { '<file>': ['CSV, TSV, JSON or NDJSON; - is stdin', files('.csv', '.json')] },
  description:
    'Replaces the stock with your own, as a whole or not at all, even while it is served. The file has the columns petId, ' +
    'quantity and status (default: available), as `inventory list` and `inventory export` write them. If this replaces ' +
    'the stock of the sandbox itself, the built-in names of its pets and its runs in the history are removed.',
  options: [fileOption],
  examples: [['petstock inventory list -o csv | petstock sandbox import -', 'the stock of another environment']],
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
