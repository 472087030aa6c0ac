import { batchSize, ItemColumns, joined } from '../inventory/item-columns.ts';
import { bareNumber, readPetId, readQuantity } from './cell-values.ts';
import { FaultList, type FileFault, type PlaceUnit } from './fault.ts';
import type { RawRow } from './field-names.ts';
import { type ReadOptions, type RowSink, readRows } from './read-rows.ts';
import { SeenIds } from './seen-ids.ts';

/** The stock that a file lists, or what is wrong with it. */
export type StockList =
  | { readonly ok: true; readonly items: ItemColumns }
  | {
      readonly ok: false;
      readonly faults: readonly FileFault[];
      readonly total: number;
      readonly unit: PlaceUnit;
    };

/**
 * Reads a list of stock as `list` and `export` write it: a pet and its quantity in each row; its status where there is one,
 * else empty. A table of pet id, quantity and status needs no header line, since `list` writes none into a pipe. No pet is
 * there twice.
 * @throws what `source` throws
 */
export async function readStockList(
  source: AsyncIterable<Uint8Array>,
  options: Pick<ReadOptions, 'name' | 'format'>,
): Promise<StockList> {
  const collector = new StockCollector();
  await readRows(source, { ...options, ignoreColumns: true, isStockList: true }, collector);
  return collector.finish();
}

class StockCollector implements RowSink {
  readonly faults = new FaultList();
  readonly #seen = new SeenIds();
  readonly #batch = new ItemColumns(batchSize);
  #items = new ItemColumns();

  add({ line, cells, names, status }: RawRow): void {
    const petId = readPetId(bareNumber(cells.petId));
    const text = bareNumber(cells.quantity);
    const quantity = text === '' ? { ok: false as const, fault: 'the quantity is missing' } : readQuantity(text);
    if (!petId.ok) this.faults.add({ line, column: names.petId, message: petId.fault });
    if (!quantity.ok) this.faults.add({ line, column: names.quantity, message: quantity.fault });
    if (cells.delta !== '') {
      this.faults.add({ line, column: names.delta, message: 'a list of stock has no changes in it, only quantities' });
    }
    if (!petId.ok || !quantity.ok) return;
    this.#seen.add(petId.value, line);
    this.#batch.append({ petId: petId.value, quantity: quantity.value, status: status.trim() });
    if (this.#batch.length === this.#batch.capacity) this.#flush();
  }

  finish(): StockList {
    this.#flush();
    const repeated = new FaultList();
    const { unit } = this.faults;
    this.#seen.reportRepeated(repeated, unit);
    const total = this.faults.total + repeated.total;
    if (total > 0) return { ok: false, unit, faults: this.faults.inOrder(repeated), total };
    return { ok: true, items: this.#items };
  }

  #flush(): void {
    this.#items = joined(this.#items, this.#batch);
    this.#batch.length = 0;
  }
}
