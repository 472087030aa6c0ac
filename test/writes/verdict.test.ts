import { expect, test } from 'vitest';
import { PetQuantities } from '../../src/inventory/items.ts';
import type { LaterWrite } from '../../src/inventory/run-records.ts';
import type { RowWrite } from '../../src/writes/row-write.ts';
import { rebase, recheck, type UnansweredRow, verdictOn } from '../../src/writes/verdict.ts';

const set = { petId: 4n, before: 5, after: 7 };
const add = { ...set, delta: 2 };
const plain = { petId: 4n, after: 7 } as RowWrite;
const stockOf = (found: number | undefined) => new PetQuantities(found === undefined ? [] : [[4n, found]]);
/** Returns later writes as the history knows them. */
const wrote = (...writes: readonly Partial<LaterWrite>[]) => ({
  laterWrites: writes.map(
    (more) =>
      ({ run: 'r', command: 'inventory set', result: 'applied', before: 5, quantity: 7, ...more }) as LaterWrite,
  ),
});
const [notSent, resumed] = [{ wasSent: false }, { isResumed: true }];
const byAnother = 'conflict run r (inventory set) has';

test.each<[string, number | undefined, Partial<Omit<UnansweredRow, 'stock'>>, string]>([
  ['as wanted, never sent', 7, notSent, 'unchanged'],
  ['as wanted', 7, {}, 'applied'],
  ['as wanted, after another run has written it', 7, wrote({}), byAnother],
  ['as before', 5, {}, 'send'],
  [
    'changed by another run, if no change was requested',
    9,
    { write: { ...set, before: 7 }, ...wrote({ before: 7 }) },
    byAnother,
  ],
  ['as before, after a write of another stock', 5, wrote({}), byAnother],
  ['as before, after a write that may have left another stock', 5, wrote({ result: 'unknown' }), 'send'],
  [
    'as before, after a write that may have left this one',
    5,
    wrote({ result: 'unknown', quantity: 5 }),
    'conflict run r (inventory set) may have written the stock since',
  ],
  [
    'neither as before nor as wanted',
    9,
    {},
    'conflict the stock is 9, neither 5 as before nor 7 as requested, and it is not known',
  ],
  ['not there', undefined, {}, 'conflict pet 4 no longer exists'],
  ['another, for a plain set', 9, { write: plain }, 'send'],
  ['another, for a plain set that is resumed', 9, { write: plain, ...resumed }, 'conflict the stock is 9, not 7'],
  ['another, for a resumed plain set that was never sent', 9, { write: plain, ...resumed, ...notSent }, 'send'],
  ['not there, for a plain set', undefined, { write: plain }, 'conflict'],
  ['any, for a delta that was never sent', 9, { write: add, ...notSent }, 'send'],
  ['not there, for a delta that was never sent', undefined, { write: add, ...notSent }, 'conflict'],
  ['the sum with the delta', 7, { write: add }, 'applied'],
  ['the stock before the delta', 5, { write: add }, 'send'],
  ['another, for a delta', 9, { write: add }, 'conflict the stock is 9, neither 5 as before nor 7'],
  ['not there, for a delta that the next run had read', undefined, { write: add, ...wrote({}) }, 'conflict'],
  ['any, if the next run had read the sum', 9, { write: add, ...wrote({ before: 7 }, {}) }, 'applied'],
  ['any, if the next run had read the stock before the delta', 9, { write: add, ...wrote({}, { before: 7 }) }, 'send'],
  [
    'any, if the next run had not read the stock',
    7,
    { write: add, ...wrote({ before: undefined, run: undefined }) },
    'conflict a run that was removed from the history may have written the stock since, and it is not known',
  ],
  [
    'any, if no run had read the stock',
    9,
    { write: { ...add, before: undefined }, ...wrote({ before: undefined }) },
    'conflict',
  ],
])('judges an unanswered row by its stock: %s', (_what, found, facts, expected) => {
  const row: UnansweredRow = {
    write: set,
    wasSent: true,
    isResumed: false,
    laterWrites: [],
    stock: stockOf(found),
    ...facts,
  };
  expect(Object.values(verdictOn(row)).join(' ').slice(0, expected.length)).toBe(expected);
});

test.each<[number, number, number, number, object | string]>([
  [5, 2, 7, 0, { before: 5, after: 7 }],
  [1, -2, 3, 0, 'the stock is now 1, so -2 would take it below zero, to -1'],
  [-5, 2, 0, 0, 'the stock is now -5, so +2 would take it below zero, to -3'],
  [1, -2, -1, 0, { before: 1, after: -1 }],
  [2 ** 53 - 1, 1, 7, 0, expect.stringContaining('out of range')],
  [2, -2, 3, 0, 'the stock is now 2, so -2 would set it to 0, and max-zero allows no further row at 0 or below'],
  [2, -2, 3, 1, { before: 2, after: 0 }],
  [2, -2, 0, 0, { before: 2, after: 0 }],
])(
  'decides on a stock of %i whether to rebase a delta of %i (planned %i, %i zeros left): %j',
  (found, delta, after, left, expected) => {
    const write = { petId: 4n, before: 9, after, delta } as RowWrite;
    const zeros = { left };
    expect(rebase(write, found, zeros)).toEqual(
      'before' in Object(expected) ? { ...write, ...Object(expected) } : expected,
    );
    expect(zeros.left).toBe(left === 1 ? 0 : left);
  },
);

test.each<[object, number | 'missing', object]>([
  [set, 5, { kind: 'send', write: set }],
  [set, 7, { kind: 'unchanged' }],
  [set, 9, { kind: 'conflict', message: 'the stock is 9, neither 5 as before nor 7 as requested' }],
  [plain, 9, { kind: 'conflict', message: 'the stock is 9, not 7 as requested' }],
  [add, 6, { kind: 'send', write: { ...add, before: 6, after: 8 } }],
  [add, -6, { kind: 'conflict', message: 'the stock is now -6, so +2 would take it below zero, to -4' }],
  [add, 'missing', { kind: 'conflict', message: 'pet 4 no longer exists' }],
])('rechecks %o if the stock is %s: %o', (write, found, expected) => {
  expect(recheck(write as RowWrite, stockOf(found === 'missing' ? undefined : found), { left: 0 })).toEqual(expected);
});
