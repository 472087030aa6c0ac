import { expect } from 'vitest';
import { decodeUtf8 } from '../../../src/api/body.ts';
import { decodeJson, itemBounds, itemDecoder } from '../../../src/api/decode.ts';
import { readItems } from '../../../src/api/read-items.ts';
import type { InventoryItem } from '../../../src/inventory/items.ts';
import { FailureError } from '../../../src/shared/errors.ts';
import type { Json } from '../../../src/shared/json.ts';

export const operation = { name: 'GET /inventory' };

/** Returns the items that are read in parts from a body in pieces. */
export async function read(pieces: readonly Uint8Array[], partLength = 1): Promise<InventoryItem[]> {
  const items: InventoryItem[] = [];
  for await (const part of readItems(pieces, operation, partLength)) items.push(...part);
  return items;
}

/** Returns the items that the exact parser reads from the whole body. */
export function parse(body: Uint8Array): InventoryItem[] {
  const list = decodeJson(decodeUtf8(body), operation, itemBounds);
  if (!Array.isArray(list)) throw new FailureError('not a list');
  const decoder = itemDecoder(operation);
  return list.map((item: Json) => decoder.exact(item));
}

/** Returns what was read, or `refused` if it is refused. */
export async function outcome<T>(read: () => T | Promise<T>): Promise<T | 'refused'> {
  try {
    return await read();
  } catch (error) {
    expect(error).toBeInstanceOf(FailureError);
    return 'refused';
  }
}
