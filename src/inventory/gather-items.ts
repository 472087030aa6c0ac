import { type ColumnBatches, ItemColumns, StatusNames } from './item-columns.ts';

/**
 * All items of a list, in typed arrays.
 * @param into is emptied and filled again, and grows where it has to; of what is handed back, nothing is shared with the batches
 */
export async function gatherItems(batches: ColumnBatches, into = new ItemColumns()): Promise<ItemColumns> {
  let gathered = into;
  gathered.length = 0;
  gathered.statuses = new StatusNames();
  for await (const batch of batches) gathered = joined(gathered, batch);
  return gathered;
}

/** The items of `batch` behind those of `kept`, in the same columns where there is room. */
export function joined(kept: ItemColumns, batch: ItemColumns): ItemColumns {
  const length = kept.length + batch.length;
  const columns = length <= kept.capacity ? kept : grown(kept, Math.max(length, 2 * kept.capacity));
  const codes = Array.from({ length: batch.statuses.size }, (_, code) =>
    columns.statuses.codeOf(batch.statuses.textOf(code)),
  );
  for (let index = 0; index < batch.length; index += 1) {
    const to = columns.length + index;
    columns.copy(batch, index, to);
    columns.statusCodes[to] = codes[batch.statusCodes[index] ?? 0] ?? 0;
  }
  columns.length = length;
  return columns;
}

export function grown(from: ItemColumns, capacity: number): ItemColumns {
  const columns = new ItemColumns(capacity);
  for (const name of ['heads', 'tails', 'quantities', 'statusCodes'] as const) {
    columns[name].set(from[name].subarray(0, from.length));
  }
  columns.statuses = from.statuses;
  columns.length = from.length;
  return columns;
}
