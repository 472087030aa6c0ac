import { bareNumber, readPetId } from '../../../change-files/cell-values.ts';
import type { RawRow } from '../../../change-files/field-names.ts';
import { ProblemList } from '../../../change-files/problems.ts';
import { SeenPetLines } from '../../../change-files/read-changes.ts';
import { type RowSink, readRows } from '../../../change-files/read-rows.ts';
import { parseQuantity } from '../../../inventory/items.ts';
import type { InventoryItem, PetStatus } from '../../../service/index.ts';
import { quoted } from '../../../shared/parsed.ts';
import type { Context } from '../../context.ts';
import { faultyFile, readNamedFile } from '../../input-file.ts';

const nothing = 'nothing was imported';

/**
 * Reads a stock from any file that `inventory apply` reads. Where there is no quantity, as in an export that was not
 * edited, the stock is what is expected.
 * @param file `-` for stdin
 * @throws UsageError with the errors in the file
 */
export async function readStockFile(file: string, context: Context): Promise<readonly InventoryItem[]> {
  const { petStatuses } = await import('../../../service/index.ts');
  const collector = new StockCollector(petStatuses);
  const name = file === '-' ? undefined : file;
  const options = { name, format: undefined, ignoreColumns: 'all', isStockList: true } as const;
  await readRows(readNamedFile(file, context, nothing), options, collector);
  const { problems, items } = collector;
  if (problems.total > 0) throw faultyFile(file, problems, nothing);
  return items;
}

class StockCollector implements RowSink {
  readonly problems = new ProblemList();
  readonly items: InventoryItem[] = [];
  readonly #seen = new SeenPetLines(this.problems);

  constructor(private readonly statuses: readonly PetStatus[]) {}

  add({ line, cells, names }: RawRow): void {
    const petId = readPetId(bareNumber(cells.petId ?? ''));
    const field = bareNumber(cells.quantity ?? '') === '' ? 'expected' : 'quantity';
    const quantity = parseQuantity(bareNumber(cells[field] ?? ''));
    const given = (cells.status ?? '').trim().toLowerCase();
    const status = this.statuses.find((one) => one === (given === '' ? 'available' : given));
    const fault = (column: 'petId' | 'quantity' | 'delta' | 'status', message: string) =>
      this.problems.add({ line, column: names[column] ?? column, message });
    if (cells.delta) fault('delta', 'a stock contains quantities, not changes');
    if (!petId.ok) fault('petId', petId.problem);
    if (!quantity.ok) fault('quantity', quantity.problem);
    if (status === undefined) fault('status', `the status must be ${this.statuses.join(', ')}, not ${quoted(given)}`);
    if (!petId.ok || !quantity.ok || status === undefined) return;
    this.#seen.add(petId.value, line);
    this.items.push({ petId: petId.value, quantity: BigInt(quantity.value), status });
  }
}
