import { expect } from 'vitest';
import { decodeUtf8 } from '../../../src/api/body.ts';
import { decodeItems, decodeJson, type ExactDecoder, exactDecoder } from '../../../src/api/decode.ts';
import { InventoryScanner } from '../../../src/api/scanner/scanner.ts';
import type { InventoryItem } from '../../../src/inventory/items.ts';
import { keepFirst, type SeenPets } from '../../../src/inventory/pet-id-set.ts';
import { type ItemLineFormat, ItemLines } from '../../../src/output/item-lines.ts';
import { FailureError } from '../../../src/shared/errors.ts';

export const operation = { name: 'GET /inventory' };

/** The exact decoder of a list, with how many items it was asked for. */
export function inventoryDecoder(): ExactDecoder & { asked: number } {
  const exact = exactDecoder(operation);
  return {
    ...exact,
    asked: 0,
    item(...args) {
      this.asked += 1;
      return exact.item(...args);
    },
  };
}

/** What the scanner reads of a body that comes in pieces. */
export function scan(pieces: readonly Uint8Array[], size = 3, exact = exactDecoder(operation)): InventoryItem[] {
  const scanner = new InventoryScanner(exact, size);
  const items: InventoryItem[] = [];
  for (const piece of pieces) {
    scanner.add(piece);
    while (scanner.fill()) {
      expect(scanner.batch.length).toBe(size);
      items.push(...scanner.batch.items());
    }
  }
  scanner.finish();
  return [...items, ...scanner.batch.items()];
}

/** The lines of the same body, most of whose items are copied. */
export function copy(pieces: readonly Uint8Array[], size = 3, seen?: SeenPets): string {
  const lines = new ItemLines(lineFormat);
  if (seen !== undefined) lines.restart({ seen });
  const scanner = new InventoryScanner(exactDecoder(operation), size, lines);
  const text: Uint8Array[] = [];
  const take = () => {
    if (seen !== undefined) keepFirst(scanner.batch, seen, () => {});
    text.push(...lines.pieces(scanner.batch));
    if (lines.isFull) text.push(...lines.rest());
  };
  for (const piece of pieces) {
    scanner.add(piece);
    while (scanner.fill()) take();
  }
  scanner.finish();
  take();
  return Buffer.concat([...text, ...lines.rest()]).toString();
}

/** The lines of items that were read. */
export function linesOf(items: readonly InventoryItem[]): string {
  const text = items.map(({ petId, quantity, status }) => `(${petId}|${quantity}|${status})\n`).join('');
  // Half of a character has no bytes of its own.
  return Buffer.from(text).toString();
}

const lineFormat: ItemLineFormat = {
  cells: [
    { field: 'petId', before: '(' },
    { field: 'quantity', before: '|' },
    { field: 'status', before: '|' },
  ],
  end: ')\n',
  status: (status) => status,
};

/** What a parser makes of the body as a whole. */
export function parse(body: Uint8Array): InventoryItem[] {
  return decodeItems(decodeJson(decodeUtf8(body), operation), operation);
}

/** What was read, or the failure in a form that says no more than that it is one. */
export function outcome<T>(read: () => T): T | 'refused' {
  try {
    return read();
  } catch (error) {
    expect(error).toBeInstanceOf(FailureError);
    return 'refused';
  }
}
