import { existsSync } from 'node:fs';
import { link, open, rm } from 'node:fs/promises';
import { counted } from '../../../inventory/items.ts';
import { exactJson } from '../../../output/exact-json.ts';
import type { ServiceStorage } from '../../../service/index.ts';
import { UsageError } from '../../../shared/errors.ts';
import { fileErrorReason } from '../../../shared/file-error.ts';
import { petstock } from '../../../shared/hint.ts';
import { parseJson } from '../../../shared/json.ts';
import { storageError } from '../../sandbox.ts';
import { define } from '../define.ts';
import { exportFormat, requireHeader } from '../export-format.ts';
import { oneOf, requireFileName } from '../option-values.ts';
import { printRecord } from '../print-record.ts';
import { exportTo, forceOption } from '../replace-file.ts';
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

interface ExportOptions extends StorageChoice {
  readonly format?: string;
  readonly force?: boolean;
}

const exportFormats = ['csv', 'json'] as const;

export const defineExport = define({
  formats: exportFormats,
  operands: { '[file]': 'the file to write (default: stdout)' },
  description: 'Writes the stock in a format that `petstock sandbox import` reads. Sends nothing.',
  options: [
    ...storageOptions,
    [
      '--format <format>',
      'csv, or json, which also has pet records and orders (default: by the name of the file, otherwise csv)',
    ],
    forceOption,
  ],
  examples: [['petstock sandbox export stock.csv'], ['petstock sandbox export shop.json']],
  action: async (invocation, { format, force = false, ...choice }: ExportOptions, file = '-') => {
    const { stringIds = false, ...globals } = invocation.globals;
    requireHeader(invocation);
    const asked = format === undefined ? undefined : oneOf('--format', format, exportFormats);
    const other = globals.json ? 'json' : globals.typed.output;
    if (asked !== undefined && other !== undefined && other !== asked) {
      throw new UsageError(`--format ${asked} and -o ${other} can't be used together. Leave one out`);
    }
    const named = asked === undefined ? globals : { ...globals, typed: { output: asked } };
    const isJson = exportFormat({ ...invocation, globals: named }, file, 'csv', exportFormats) === 'json';
    await withStorage(invocation, chosenStorage(invocation, choice), async (storage) => {
      await exportTo(invocation, file, isJson ? jsonOf(storage, stringIds) : csvOf(storage), { force });
      const [orders, records] = [await storage.orders(), await storage.records()];
      if (!isJson && orders.length + records.length > 0) {
        await invocation.messages.warn('CSV leaves out orders and pet records. To write them, too, use --format json.');
      }
    });
  },
});

async function* csvOf(storage: ServiceStorage): AsyncGenerator<string> {
  yield 'petId,quantity,status\r\n';
  for await (const page of storage.inventory()) {
    yield page.replace(/\{"petId":(-?\d+),"quantity":(-?\d+),"status":"(\w+)"\},?/g, '$1,$2,$3\r\n');
  }
}

async function* jsonOf(storage: ServiceStorage, stringIds: boolean): AsyncGenerator<string> {
  let separator = '{"inventory":[\n';
  for await (const page of storage.inventory()) {
    const items = page.replaceAll('},{', '},\n{');
    yield `${separator}${stringIds ? items.replace(/"petId":(-?\d+)/g, '"petId":"$1"') : items}`;
    separator = ',\n';
  }
  if (separator.startsWith('{')) yield separator;
  const list = (records: readonly string[]) =>
    records.map((record) => (stringIds ? exactJson(parseJson(record), true) : record)).join(',\n');
  yield `],\n"pets":[${list(await storage.records())}],\n"orders":[${list(await storage.orders())}]}\n`;
}

export const defineBackup = define({
  operands: { '<file>': 'the name of a new file for the copy' },
  description:
    'Saves a copy of the database file, with stock, keys and their usage, even while the service is running. ' +
    'To restore it, stop the service and serve the copy. For PostgreSQL use pg_dump.',
  options: storageOptions,
  examples: [['petstock sandbox backup monday.db']],
  action: async (invocation, choice: StorageChoice, target = '') => {
    requireFileName(target, 'sandbox backup');
    const chosen = chosenStorage(invocation, choice);
    if ('database' in chosen) {
      throw new UsageError('For PostgreSQL use its own tools: pg_dump --schema=petstock_service');
    }
    if (existsSync(target)) throw new UsageError(`${target} already exists. Choose another file`);
    const pets = await copy(chosen.file, target);
    await invocation.messages.note(`Written to ${target}. To serve it: ${petstock`sandbox serve --file ${target}`}`);
    await printRecord(invocation, { file: target, pets });
  },
});

/**
 * Copies a database, and returns how many pets it has. The copy has another name until it is complete, so that a
 * failure leaves nothing that looks like a backup.
 * @throws UsageError if the database can't be read or the copy can't be written
 */
async function copy(file: string, target: string): Promise<number> {
  const { backupDatabase } = await import('../../../service/index.ts');
  const unfinished = `${target}.unfinished`;
  const remove = () =>
    Promise.all(['', '-journal', '-wal', '-shm'].map((end) => rm(unfinished + end, { force: true })));
  try {
    await remove();
    // The copy contains the usage of keys, so it is private to this user.
    await (await open(unfinished, 'wx', 0o600)).close();
    const pets = await backupDatabase(file, unfinished);
    await link(unfinished, target);
    return pets;
  } catch (error) {
    const worded = await storageError(error, { file });
    throw worded === error
      ? new UsageError(`${target} can't be written: ${fileErrorReason(error)}`, { cause: error })
      : worded;
  } finally {
    await remove();
  }
}
