import type { ColumnBatches, ItemColumns } from '../inventory/item-columns.ts';
import { largestChunk } from './batches.ts';
import type { InventoryField } from './view.ts';

export interface ItemLineFormat {
  /** The cells of a line in their order, each with the text before it. */
  readonly cells: readonly { readonly field: InventoryField; readonly before: string }[];
  /** The text after the last cell, including the line end. */
  readonly end: string;
  status(status: string): string;
}

/** Yields items as whole lines, without creating an object for each. */
export async function* itemPieces(batches: ColumnBatches, format: ItemLineFormat): AsyncGenerator<string> {
  for await (const batch of batches) {
    const line = lineWriter(batch, format);
    let text = '';
    for (let index = 0; index < batch.length; index += 1) {
      text += line(index);
      if (text.length < largestChunk) continue;
      yield text;
      text = '';
    }
    if (text !== '') yield text;
  }
}

function lineWriter(batch: ItemColumns, { cells, end, status }: ItemLineFormat): (index: number) => string {
  const { quantities, statusCodes, statuses } = batch;
  const statusTexts = Array.from({ length: statuses.size }, (_, code) => status(statuses.textOf(code)));
  const cellTexts = {
    petId: (index: number) => `${batch.petIdAt(index)}`,
    quantity: (index: number) => `${quantities[index]}`,
    status: (index: number) => statusTexts[statusCodes[index] ?? 0] ?? '',
  };
  const parts = cells.map(({ field, before }) => ({ before, textOf: cellTexts[field] }));
  return (index) => {
    let line = '';
    for (const { before, textOf } of parts) line += before + textOf(index);
    return line + end;
  };
}
