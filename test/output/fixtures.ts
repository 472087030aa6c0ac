import type { BulkRow } from '../../src/inventory/change.ts';
import type { InventoryItem } from '../../src/inventory/items.ts';
import fc, { anyText } from '../support/properties.ts';

export const stock: readonly InventoryItem[] = [
  { petId: 1n, quantity: 12, status: 'available' },
  { petId: 42n, quantity: 0, status: 'pending' },
  { petId: 7n, quantity: 3, status: 'sold' },
  { petId: 8n, quantity: -3, status: 'on_loan' },
];

/** Stock with ids that a double can't represent. */
export const largeStock: readonly InventoryItem[] = [
  { petId: 9007199254740993n, quantity: 250, status: 'available' },
  { petId: 9223372036854775807n, quantity: 0, status: 'pending' },
];

/** Returns a row that is to be written, with the properties in `rest` replaced. */
export function bulkRow(petId: bigint, before?: number, after?: number, rest: Partial<BulkRow> = {}): BulkRow {
  return { line: 2, petId, before, after, result: 'planned', reason: undefined, ref: undefined, ...rest };
}

const texts = fc.oneof(anyText(), fc.string({ unit: fc.constantFrom(...'ab,;"\t\n\r\\ \x1b\x9b\u202e') }));

/** Rows of one shape with every kind of value. */
export const rowLists = fc.array(
  fc.record({
    id: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    text: texts,
    'a, "name"\tof\\its own': fc.oneof(texts, fc.constant(null)),
    count: fc.maxSafeInteger().map((value) => value + 0),
    flag: fc.boolean(),
  }),
  { minLength: 1, maxLength: 6 },
);
