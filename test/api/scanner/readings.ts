import { expect } from 'vitest';
import { decodeUtf8 } from '../../../src/api/body.ts';
import { decodeItems, decodeJson, type ExactDecoder, exactDecoder, itemBounds } from '../../../src/api/decode.ts';
import { InventoryScanner } from '../../../src/api/inventory-scanner.ts';
import type { InventoryItem } from '../../../src/inventory/items.ts';
import { FailureError } from '../../../src/shared/errors.ts';

export const operation = { name: 'GET /inventory' };

/** Returns the exact decoder of a list, which counts the items that it decodes. */
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

/** Returns the items that the scanner reads from a body in pieces. */
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

/** Returns the items that the parser reads from the whole body. */
export function parse(body: Uint8Array): InventoryItem[] {
  return decodeItems(decodeJson(decodeUtf8(body), operation, itemBounds), operation);
}

/** Returns what was read, or `refused` if it is refused. */
export function outcome<T>(read: () => T): T | 'refused' {
  try {
    return read();
  } catch (error) {
    expect(error).toBeInstanceOf(FailureError);
    return 'refused';
  }
}
