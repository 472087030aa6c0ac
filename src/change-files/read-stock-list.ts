import { ItemColumns } from '../inventory/item-columns.ts';
import { StockList } from '../inventory/stock-list.ts';
import { bareNumber, readPetId, readQuantity } from './cell-values.ts';
import { FaultList, type FileFaults } from './fault.ts';
import type { RawRow } from './field-names.ts';
import { SeenPetLines } from './read-changes.ts';
import { type ReadOptions, type RowSink, readRows } from './read-rows.ts';

/** The stock that a file lists, or its faults. */
export type StockFile = { readonly ok: true; readonly list: StockList } | ({ readonly ok: false } & FileFaults);

/**
 * Reads a list of stock as `list` and `export` write it: a pet and its quantity in each row; its status if there is one,
 * else empty. A table of pet id, quantity and status needs no header line, since `list` writes none into a pipe. No pet is
 * there twice.
 * @throws what `source` throws
 */
export async function readStockList(
  source: AsyncIterable<Uint8Array>,
  options: Pick<ReadOptions, 'name' | 'format'>,
): Promise<StockFile> {
  const collector = new StockCollector();
  await readRows(source, { ...options, ignoreColumns: true, isStockList: true }, collector);
  return collector.finish();
}

class StockCollector implements RowSink {
  readonly faults = new FaultList();
  readonly #lines: number[] = [];
  readonly #items = new ItemColumns();

  add({ line, cells, names }: RawRow): void {
    const petId = readPetId(bareNumber(cells.petId ?? ''));
    const text = bareNumber(cells.quantity ?? '');
    const quantity = text === '' ? { ok: false as const, fault: 'the quantity is missing' } : readQuantity(text);
    const fault = (field: 'petId' | 'quantity' | 'delta', message: string) =>
      this.faults.add({ line, column: names[field] ?? field, message });
    if (!petId.ok) fault('petId', petId.fault);
    if (!quantity.ok) fault('quantity', quantity.fault);
    if (cells.delta) fault('delta', 'a list of stock has no changes in it, only quantities');
    if (!petId.ok || !quantity.ok) return;
    this.#lines.push(line);
    this.#items.append({ petId: petId.value, quantity: quantity.value, status: (cells.status ?? '').trim() });
  }

  finish(): StockFile {
    const list = new StockList(this.#items);
    // Only if there are any: a set of all takes a quarter of the time that a file takes.
    if (list.repeated() !== undefined) this.#reportRepeated();
    return this.faults.or({ list });
  }

  #reportRepeated(): void {
    const seen = new SeenPetLines(this.faults);
    for (const [index, line] of this.#lines.entries()) seen.add(this.#items.petIdAt(index), line);
  }
}
