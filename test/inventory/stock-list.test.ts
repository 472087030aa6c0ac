import { expect, test } from 'vitest';
import type { ComparedField } from '../../src/inventory/item-fields.ts';
import type { InventoryItem } from '../../src/inventory/items.ts';
import { type Difference, StockList } from '../../src/inventory/stock-list.ts';
import fc, { propertyRuns } from '../support/properties.ts';
import { batchesOf } from './batches.ts';

/** Ids that are close to each other where digits could be lost. */
const petIds = fc.oneof(
  fc.bigInt({ min: -3n, max: 3n }),
  fc.bigInt({ min: 999_999_998n, max: 1_000_000_002n }),
  fc.bigInt({ min: 2n ** 53n - 1n, max: 2n ** 53n + 2n }),
  fc.constantFrom(2n ** 63n - 1n, -(2n ** 63n), -1_000_000_000n, -1_000_000_001n),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
);
const items = fc.record({
  petId: petIds,
  quantity: fc.oneof(fc.integer({ min: -1, max: 2 }), fc.maxSafeInteger()).map((value) => value + 0),
  status: fc.constantFrom('available', 'pending', 'sold', 'on loan', ''),
});
const lists = fc.uniqueArray(items, { selector: ({ petId }) => petId, maxLength: 40 });

test('finds the same differences as a naive model, whatever the order of the lists', () => {
  const fields = fc.constantFrom<ComparedField | undefined>(undefined, 'quantity', 'status');
  return fc.assert(
    fc.asyncProperty(lists, lists, fields, async (left, right, only) => {
      const found = [...StockList.differences(await listOf(left), await listOf(right), only)].flat();
      expect(found).toEqual(naive(left, right, only));
    }),
    propertyRuns(100),
  );
});

test('orders ids as bigints, and finds a repeated id', () => {
  return fc.assert(
    fc.asyncProperty(fc.array(items, { maxLength: 60 }), async (gathered) => {
      const list = await listOf(gathered);
      const inOrder = list.items.map(({ petId }) => petId);
      expect(inOrder).toEqual(gathered.map(({ petId }) => petId).sort(compare));
      const repeated = list.repeated();
      expect(repeated === undefined).toBe(new Set(inOrder).size === list.size);
      expect(repeated).toBe(inOrder.find((petId, at) => petId === inOrder[at + 1]));
    }),
    propertyRuns(100),
  );
});

function naive(
  left: readonly InventoryItem[],
  right: readonly InventoryItem[],
  only: ComparedField | undefined,
): Difference[] {
  const sides = [left, right].map((list) => new Map(list.map((item) => [item.petId, item])));
  const petIds = [...new Set([...left, ...right].map(({ petId }) => petId))].sort(compare);
  return petIds.flatMap((petId): Difference[] => {
    const [before, after] = [sides[0]?.get(petId), sides[1]?.get(petId)];
    if (before === undefined) return [{ petId, change: 'added', left: before, right: after }];
    if (after === undefined) return [{ petId, change: 'removed', left: before, right: after }];
    const quantity = before.quantity !== after.quantity;
    const status = before.status !== after.status && before.status !== '' && after.status !== '';
    const differs = only === 'quantity' ? quantity : only === 'status' ? status : quantity || status;
    return differs ? [{ petId, change: 'changed', left: before, right: after }] : [];
  });
}

/** Gathers a list from several batches. */
function listOf(list: readonly InventoryItem[]): Promise<StockList> {
  return StockList.gather(batchesOf(list, 7));
}

function compare(left: bigint, right: bigint): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
