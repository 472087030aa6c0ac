import type { ServiceStorage } from '../../../service/index.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { openSandbox, ownKey, sandboxPlan } from '../../sandbox.ts';
import { define } from '../define.ts';
import { printRecord } from '../print-record.ts';
import { defaultPort, sandboxOptions, type Values } from './sandbox-options.ts';
import { chosenStorage, type StorageChoice, storageName, storageOptions, withStorage } from './storage-access.ts';

export const defineInfo = define({
  description:
    'Shows where the sandbox is kept, its key, its plan and how many pets it has. Creates the sandbox on first use.',
  examples: [['petstock sandbox info'], ['petstock sandbox info --json']],
  action: printInfo,
});

/** Prints facts about the sandbox, as JSON `{"file","key","plan","pets"}`. */
async function printInfo(invocation: Invocation): Promise<void> {
  const { adoptKey, inspectDatabase } = await import('../../../service/index.ts');
  const { file, key } = await openSandbox(invocation.context.folders.state);
  const { plan } = await withStorage(invocation, chosenStorage(invocation, {}), (storage) =>
    adoptKey(storage, key, sandboxPlan, { keepsKnown: true }),
  );
  await printRecord(invocation, { file, key, plan, pets: inspectDatabase(file)?.pets ?? 0 });
}

export const defineReset = define({
  description:
    'Replaces the stock of the sandbox with a fresh one, and clears the usage of keys. Keys stay. ' +
    "Unless --file or --database is given, the sandbox's own key gets the business plan again, and the codes and names of the pets are the original ones again.",
  options: [...storageOptions, ...sandboxOptions(['pets', 'seed', 'ids'])],
  examples: [['petstock sandbox reset'], ['petstock sandbox reset --pets 1000', 'for a stock of another size']],
  action: async (invocation, options: StorageChoice & Pick<Values, 'pets' | 'seed' | 'ids'>) => {
    const { adoptKey, seededStock } = await import('../../../service/index.ts');
    const stock = seededStock(options);
    const chosen = chosenStorage(invocation, options);
    const isOwn = 'file' in chosen && chosen.isOwn;
    const name = storageName(chosen);
    if ('database' in chosen) await invocation.questions.confirm(`Replace all stock in ${name} with fresh stock?`);
    const fill = async (storage: ServiceStorage) => {
      await storage.replace(stock, { clearsUsage: true });
      const key = isOwn ? ownKey(invocation.context.folders.state) : undefined;
      if (key !== undefined) await adoptKey(storage, key, sandboxPlan, { keepsKnown: false });
    };
    // A running service that has the file open keeps using it.
    await withStorage(invocation, chosen, fill, { stock, replacesDamaged: isOwn });
    if (isOwn) await (await import('../../shop-codes.ts')).resetPracticeCodes(invocation.context, 'as it opens');
    await invocation.messages.note(`${isOwn ? 'The sandbox' : name} has a fresh stock.`);
    if (isOwn) await printInfo(invocation);
    else await printRecord(invocation, { store: name, pets: [...stock.items].length });
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
