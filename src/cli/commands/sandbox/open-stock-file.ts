import { existsSync, rmSync } from 'node:fs';
import { readStockList } from '../../../change-files/read-stock-list.ts';
import type { InventoryItem, Stock, StockFile } from '../../../service/index.ts';
import { PetstockError, UsageError } from '../../../shared/errors.ts';
import { petstock } from '../../../shared/hint.ts';
import { sentence } from '../../../shared/parsed.ts';
import type { Context } from '../../context.ts';
import { faultyFile, readNamedFile } from '../../input-file.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { existingState } from '../../invocation/state-access.ts';
import { inMemory, isDamage, makeSandboxFolder, sandboxFile, storageError } from '../../sandbox.ts';

/** The file that a command works on. */
export interface ChosenFile {
  readonly path: string;
  /** Whether it is the file of `--env sandbox`. */
  readonly isOwn: boolean;
}

/** @throws UsageError if the file is `:memory:`, or does not exist and is not the sandbox's own */
export function chosenFile({ context }: Invocation, { file }: { readonly file?: string }): ChosenFile {
  const own = sandboxFile(context.folders.state);
  if (file === undefined || file === own) return { path: own, isOwn: true };
  if (file === inMemory) throw new UsageError('--file :memory: stores nothing between commands');
  if (existsSync(file)) return { path: file, isOwn: false };
  throw new UsageError(`There is no file ${file}`, { hint: petstock`sandbox serve --file ${file}` });
}

interface Opening {
  /** The stock of a new file; default: the default stock. */
  readonly stock?: Stock;
  /** Whether a damaged file may be replaced by a new one. */
  readonly replacesDamaged?: boolean;
}

/**
 * Runs `work` with the file open. The sandbox's own is created on first use.
 * @throws UsageError if it can't be opened, or is not a database of the service
 */
export async function withStore<Result>(
  { context }: Invocation,
  { path, isOwn }: ChosenFile,
  work: (store: StockFile) => Result,
  { stock, replacesDamaged = false }: Opening = {},
): Promise<Result> {
  const { openStockFile, seededStock } = await import('../../../service/index.ts');
  if (isOwn) makeSandboxFolder(context.folders.state);
  const open = () => openStockFile(path, stock ?? seededStock());
  try {
    const store = await open().catch((error: unknown) => {
      if (!replacesDamaged || !isDamage(error)) throw error;
      for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
      return open();
    });
    try {
      return work(store);
    } finally {
      store.close();
    }
  } catch (error) {
    throw storageError(error, context, path);
  }
}

/**
 * Removes what belonged to a stock of the sandbox that was replaced: its codes, and its runs, because nothing in them is
 * true of another stock.
 * @param codes see `resetPracticeCodes`
 */
export async function forgetStock(invocation: Invocation, codes: 'as it opens' | 'none'): Promise<void> {
  const { context, messages } = invocation;
  await (await import('../../shop-codes.ts')).resetPracticeCodes(context, codes);
  const env = 'sandbox';
  try {
    const found = await existingState({ ...invocation, environment: { ...invocation.environment, value: env } });
    const runs: string[] = [];
    for await (const { run } of found?.history.runs({ env }) ?? []) runs.push(run);
    await found?.history.remove(runs);
  } catch (error) {
    if (!(error instanceof PetstockError)) throw error;
    await messages.warn(`${sentence(error.message)} The history still has the runs of the former stock`);
  }
}

const nothing = 'nothing was imported';

/**
 * Reads a stock from any file that `inventory apply` reads.
 * @param file `-` for stdin
 * @throws UsageError with the errors in the file
 */
export async function readStockFile(file: string, context: Context): Promise<readonly InventoryItem[]> {
  const { petStatuses } = await import('../../../service/index.ts');
  const options = { name: file === '-' ? undefined : file, format: undefined, statuses: petStatuses };
  const read = await readStockList(readNamedFile(file, context, nothing), options);
  if (!read.ok) throw faultyFile(file, read, nothing);
  return read.list.items.map(({ petId, quantity, status }) => {
    const known = petStatuses.find((one) => one === status) ?? 'available';
    return { petId, quantity: BigInt(quantity), status: known };
  });
}
