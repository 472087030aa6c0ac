import { expect, test } from 'vitest';
import {
  type ComparedField,
  type Difference,
  differences,
  orderById,
  ordered,
  repeatedId,
} from '../../src/inventory/differences.ts';
import { gatherItems, ItemColumns } from '../../src/inventory/item-columns.ts';
import type { InventoryItem } from '../../src/inventory/items.ts';
import fc from '../support/seeded-fast-check.ts';

/** Near one another at the places where digits could be lost. */
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

test('the difference of two lists is that of a naive model, in any order of the lists', () => {
  const fields = fc.constantFrom<ComparedField>(undefined, 'quantity', 'status');
  fc.assert(
    fc.property(lists, lists, fields, (left, right, only) => {
      const found = [...differences(ordered(columnsOf(left)), ordered(columnsOf(right)), only)].flat();
      expect(found).toEqual(naive(left, right, only));
    }),
    { numRuns: 1000 },
  );
});

test('ids are ordered as bigints are, and one that is there twice is found', () => {
  fc.assert(
    fc.property(fc.array(items, { maxLength: 60 }), (list) => {
      const columns = columnsOf(list);
      const order = orderById(columns);
      const inOrder = list.map((_, at) => columns.petIdAt(order?.[at] ?? at));
      expect(inOrder).toEqual(list.map(({ petId }) => petId).sort(compare));
      const repeated = repeatedId(columns, order);
      expect(repeated === undefined).toBe(new Set(inOrder).size === list.length);
      expect(repeated).toBe(inOrder.find((petId, at) => petId === inOrder[at + 1]));
    }),
    { numRuns: 1000 },
  );
});

test('a list is gathered into the same columns again, with statuses of its own', async () => {
  const into = columnsOf([{ petId: 1n, quantity: 1, status: 'gone' }]);
  const list = Array.from({ length: 9000 }, (_, index) => ({ petId: BigInt(index), quantity: index, status: 'sold' }));
  async function* batches() {
    for (let at = 0; at < list.length; at += 4096) yield columnsOf(list.slice(at, at + 4096));
  }
  const first = await gatherItems(batches(), into);
  expect(first.items()).toEqual(list);
  expect(first.statuses.size).toBe(1);
  expect(await gatherItems(batches(), first)).toBe(first);
});

function naive(left: readonly InventoryItem[], right: readonly InventoryItem[], only: ComparedField): Difference[] {
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

function columnsOf(list: readonly InventoryItem[]): ItemColumns {
  const columns = new ItemColumns(Math.max(1, list.length));
  for (const item of list) columns.append(item);
  return columns;
}

function compare(left: bigint, right: bigint): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
