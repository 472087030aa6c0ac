import type { Invocation } from '../../invocation/invocation.ts';
import { sandboxKey, sandboxPlan } from '../../sandbox.ts';
import { define } from '../define.ts';
import { printRecord } from '../print-record.ts';
import { chosenFile, fileOption, withStore } from './open-store.ts';
import { defaultPort, sandboxOptions, type Values } from './sandbox-options.ts';

export const defineInfo = define({
  description:
    'Shows where the sandbox is kept, its key, its plan and how many pets it has. Creates the sandbox on first use.',
  examples: [['petstock sandbox info'], ['petstock sandbox info --json']],
  action: printInfo,
});

/** Prints facts about the sandbox, as JSON `{"file","key","plan","pets"}`. */
async function printInfo(invocation: Invocation): Promise<void> {
  const key = await sandboxKey(invocation.context.folders.state);
  const chosen = chosenFile(invocation, {});
  const pets = await withStore(invocation, chosen, (store) => store.count());
  await printRecord(invocation, { file: chosen.path, key, plan: sandboxPlan, pets });
}

type ResetOptions = Pick<Values, 'file' | 'pets' | 'seed' | 'ids'>;

export const defineReset = define({
  description:
    'Replaces the stock of the sandbox with a fresh one, and clears the usage of its key, even while it is served. ' +
    'Unless --file is given, the codes and names of the pets are the original ones again.',
  options: [...fileOption, ...sandboxOptions(['pets', 'seed', 'ids'])],
  examples: [['petstock sandbox reset'], ['petstock sandbox reset --pets 1000', 'for a stock of another size']],
  action: async (invocation, options: ResetOptions) => {
    const { seededStock } = await import('../../../service/index.ts');
    const { context, messages } = invocation;
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
    if (chosen.isOwn) await (await import('../../shop-codes.ts')).resetPracticeCodes(context, 'as it opens');
    await messages.note(`${chosen.isOwn ? 'The sandbox' : chosen.path} has a fresh stock.`);
    if (chosen.isOwn) await printInfo(invocation);
    else await printRecord(invocation, { file: chosen.path, pets });
  },
});

export const defineOpenApi = define({
  formats: ['json'],
  description: 'Prints the contract of the service as an OpenAPI 3.1 document in JSON. Starts nothing.',
  examples: [['petstock sandbox openapi > openapi.json']],
  action: async (invocation) => {
    const { openApiDocument } = await import('../../../service/index.ts');
    const document = openApiDocument(`http://127.0.0.1:${defaultPort}/v1`);
    await invocation.results.write(`${JSON.stringify(document, null, 2)}\n`);
  },
});
