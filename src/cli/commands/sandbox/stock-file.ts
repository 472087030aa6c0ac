import { readStockList } from '../../../change-files/read-stock-list.ts';
import type { InventoryItem } from '../../../service/index.ts';
import type { Context } from '../../context.ts';
import { faultyFile, readNamedFile } from '../../input-file.ts';

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
