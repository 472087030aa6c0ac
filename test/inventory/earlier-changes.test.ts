import { expect, test } from 'vitest';
import type { Change } from '../../src/inventory/change.ts';
import {
  countedBefore,
  type EarlierChange,
  incomingBefore,
  repeatedDeltas,
  sameDelivery,
} from '../../src/inventory/earlier-changes.ts';

const hour = 3600 * 1000;
const now = 100 * hour;

function earlier(change: Partial<EarlierChange>): EarlierChange {
  return {
    ...{ run: 'r1', at: now - hour, command: 'inventory apply', file: undefined },
    ...{ petId: 4n, before: 10, after: 15, delta: 5, reason: undefined, ref: 'N-7', isCertain: true, ...change },
  };
}

function change(delta: number | undefined, ref: string | undefined = 'N-7'): Change {
  return { line: 1, petId: 4n, quantity: undefined, delta, expected: undefined, reason: undefined, ref };
}

test.each([
  ['the same delta', change(5), [earlier({})], true],
  ['another delta', change(50), [earlier({})], false],
  ['the sum of two', change(12), [earlier({}), earlier({ delta: 7 })], true],
  ['one of two', change(7), [earlier({}), earlier({ delta: 7 })], true],
  ['the same ref in other case', change(5, 'n-7'), [earlier({})], true],
  ['one of two refs that were added up', change(5), [earlier({ ref: 'N-6, N-7', delta: 12 })], false],
  ['two refs added up that came apart', change(12, 'N-7, N-8'), [earlier({}), earlier({ ref: 'N-8', delta: 7 })], true],
  ['a part of another ref', change(5, 'N-7'), [earlier({ ref: 'N-77' })], undefined],
  ['another ref', change(5, 'N-8'), [earlier({})], undefined],
  ['another pet', change(5), [earlier({ petId: 5n })], undefined],
  ['no ref', { ...change(5), ref: undefined }, [earlier({ ref: undefined })], undefined],
  ['a stock that was set', change(5), [earlier({ delta: undefined })], undefined],
  ['no change', change(0), [earlier({})], undefined],
] as const)('finds a delta that came before under its ref: %s', (_, one, rows, isSame) => {
  expect(repeatedDeltas([one], rows).map((found) => found.isSame)).toEqual(isSame === undefined ? [] : [isSame]);
});

/** Deltas by pet, as lines of a file. */
const delivery = (deltas: Readonly<Record<number, number>>) =>
  Object.entries(deltas).map(([petId, delta]) => ({ ...change(delta, undefined), petId: BigInt(petId) }));

test.each([
  ['extended', { 4: 50, 6: 2, 5: 1 }, 2],
  ['the same with another last line', { 4: 50, 6: 2, 7: 1 }, 2],
  ['corrected in one of two lines', { 4: 5, 6: 2 }, undefined],
  ['of other numbers', { 4: 5, 6: 3 }, undefined],
  ['of one pet', { 4: 50 }, undefined],
  ['of many other pets', { 4: 50, 6: 2, 1: 1, 2: 1, 3: 1 }, 2],
] as const)('finds a delivery without a ref that comes again: %s', (_, deltas, pets) => {
  const rows = (
    [
      [4n, 50],
      [6n, 2],
    ] as const
  ).map(([petId, delta]) => earlier({ petId, delta, ref: undefined }));
  expect(sameDelivery(delivery(deltas), rows)?.pets).toBe(pets);
  expect(
    sameDelivery(
      delivery(deltas),
      rows.map((row) => ({ ...row, ref: 'N-7' })),
    ),
  ).toBe(undefined);
});

const stockTake = (file: string | undefined, after: number, other: Partial<EarlierChange> = {}) =>
  earlier({ command: 'inventory count', delta: undefined, file, after, ...other });

test.each([
  ['another file', stockTake('a.txt', 7), true],
  ['the same file with another count', stockTake('b.txt', 15), true],
  ['the same file with the same count', stockTake('b.txt', 7), false],
  ['stdin with the same count', stockTake(undefined, 7), true],
  ['a delivery', stockTake('a.txt', 15, { delta: 5 }), false],
  ['another command', stockTake('a.txt', 15, { command: 'inventory set' }), false],
  ['the file of a stock-take', stockTake('a.csv', 15, { command: 'inventory apply', reason: 'stock-take' }), true],
  ['another pet', stockTake('a.txt', 15, { petId: 5n }), false],
] as const)('finds a pet that another stock-take has set: %s', (_, row, isFound) => {
  expect(countedBefore(new Map([[4n, 7]]), [row], 'b.txt')).toHaveLength(isFound ? 1 : 0);
});

test.each([
  ['units that came in an hour ago', earlier({}), true],
  ['units that came in three hours ago', earlier({ at: now - 3 * hour }), false],
  ['a sale', earlier({ delta: -1, after: 9 }), false],
  ['a stock that was raised', earlier({ delta: undefined }), true],
  ['another stock-take', earlier({ delta: undefined, command: 'inventory count' }), false],
  ['another pet', earlier({ petId: 5n }), false],
  ['a delivery after another stock-take', [earlier({}), stockTake('a.txt', 3)], true],
  ['a delivery before another stock-take', [stockTake('a.txt', 3), earlier({})], false],
] as const)('finds units that came in shortly before a count: %s', (_, rows, isFound) => {
  expect(incomingBefore(new Set([4n]), [rows].flat(), now)).toHaveLength(isFound ? 1 : 0);
});
