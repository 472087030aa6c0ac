import { expect } from 'vitest';
import { decodeUtf8 } from '../../../src/api/body.ts';
import { decodeItems, decodeJson, type ExactDecoder, exactDecoder, itemBounds } from '../../../src/api/decode.ts';
import { InventoryScanner } from '../../../src/api/inventory-scanner.ts';
import type { InventoryItem } from '../../../src/inventory/items.ts';
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

/** The items that the scanner reads from a body in pieces. */
export function scan(pieces: readonly Uint8Array[], size = 3, exact = exactDecoder(operation)): InventoryItem[] {
  const scanner = new InventoryScanner(exact, size);
  const items: InventoryItem[] = [];
  for (const piece of [...pieces, undefined]) {
    for (const batch of scanner.read(piece)) {
      if (piece !== undefined) expect(batch.length).toBe(size);
      items.push(...batch.items());
    }
  }
  return items;
}

/** The items that the parser reads from the whole body. */
export function parse(body: Uint8Array): InventoryItem[] {
  return decodeItems(decodeJson(decodeUtf8(body), operation, itemBounds), operation);
}

/** The items that were read, or `refused`. */
export function outcome<T>(read: () => T): T | 'refused' {
  try {
    return read();
  } catch (error) {
    expect(error).toBeInstanceOf(FailureError);
    return 'refused';
  }
}
