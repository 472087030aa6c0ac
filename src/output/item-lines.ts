import type { ColumnBatches, StatusNames } from '../inventory/item-columns.ts';
import { type InventoryField, largestChunk } from './view.ts';

export interface ItemLineFormat {
  /** The cells of a line, in this order, and the text before each. */
  readonly cells: readonly { readonly field: InventoryField; readonly before: string }[];
  /** After the last cell, with the line end. */
  readonly end: string;
  status(status: string): string;
}

/** Returns items as whole lines, without an object for each. */
export async function* itemPieces(
  batches: ColumnBatches,
  { cells, end, status }: ItemLineFormat,
): AsyncGenerator<string> {
  let names: StatusNames | undefined;
  let statuses: string[] = [];
  for await (const batch of batches) {
    if (batch.statuses !== names) statuses = [];
    names = batch.statuses;
    while (statuses.length < names.size) statuses.push(status(names.textOf(statuses.length)));
    let text = '';
    for (let index = 0; index < batch.length; index += 1) {
      for (const { field, before } of cells) {
        text += before;
        if (field === 'petId') text += batch.petIdText(index);
        else if (field === 'quantity') text += batch.quantities[index];
        else text += statuses[batch.statusCodes[index] ?? 0];
      }
      text += end;
      if (text.length < largestChunk) continue;
      yield text;
      text = '';
    }
    if (text !== '') yield text;
  }
}
