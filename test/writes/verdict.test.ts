import { expect, test } from 'vitest';
import { PetQuantities } from '../../src/inventory/pet-id-set.ts';
import type { PetWrite } from '../../src/inventory/run-records.ts';
import { rebase } from '../../src/writes/rebase.ts';
import type { RowWrite } from '../../src/writes/row-write.ts';
import { type OpenRow, verdictOn } from '../../src/writes/verdict.ts';

const set = { petId: 4n, before: 5, after: 7 };
const add = { ...set, delta: 2 };
const later = (more: Partial<PetWrite> = {}) =>
  ({ run: 'r', command: 'inventory set', result: 'applied', before: 5, quantity: 7, ...more }) as PetWrite;

type Facts = Partial<Omit<OpenRow, 'stock'>>;

test.each<[string, number | undefined, Facts, string]>([
  ['as wanted, never sent', 7, { wasSent: false }, 'unchanged'],
  ['as wanted', 7, {}, 'applied'],
  ['as wanted, which another run has written', 7, { laterWrites: [later()] }, 'conflict'],
  ['as before', 5, {}, 'open'],
  [
    'as before, after a write that may have left another stock',
    5,
    { laterWrites: [later({ result: 'unknown' })] },
    'open',
  ],
  [
    'as before, after a write that may have left this one',
    5,
    { laterWrites: [later({ result: 'unknown', quantity: 5 })] },
    'conflict',
  ],
  ['neither', 9, {}, 'conflict'],
  ['not there', undefined, {}, 'conflict'],
  ['of a plain set', 9, { write: { petId: 4n, after: 7 } as RowWrite }, 'open'],
  [
    'of a plain set that goes on in a resume',
    9,
    { write: { petId: 4n, after: 7 } as RowWrite, isResumed: true },
    'conflict',
  ],
  [
    'of a plain set that was never sent, in a resume',
    9,
    { write: { petId: 4n, after: 7 } as RowWrite, isResumed: true, wasSent: false },
    'open',
  ],
  ['anything, of an increment that was never sent', 9, { write: add, wasSent: false }, 'open'],
  ['not there, of an increment that was never sent', undefined, { write: add, wasSent: false }, 'conflict'],
  ['the sum', 7, { write: add }, 'applied'],
  ['the one before the increment', 5, { write: add }, 'open'],
  ['neither, of an increment', 9, { write: add }, 'conflict'],
  [
    'anything, and the next run had read the sum',
    9,
    { write: add, laterWrites: [later({ before: 7 }), later()] },
    'applied',
  ],
  [
    'anything, and the next run had read the one before',
    9,
    { write: add, laterWrites: [later(), later({ before: 7 })] },
    'open',
  ],
  [
    'anything, and the next run had read nothing',
    7,
    { write: add, laterWrites: [later({ before: undefined })] },
    'conflict',
  ],
])('the stock is %s', (_what, found, facts, kind) => {
  const stock = new PetQuantities(found === undefined ? [] : [[4n, found]]);
  const row: OpenRow = { write: set, wasSent: true, isResumed: false, laterWrites: [], stock, ...facts };
  expect(verdictOn(row).kind).toBe(kind);
});

test.each<[number, number, number, number, object | string]>([
  [5, 2, 7, 0, { before: 5, after: 7 }],
  [1, -2, 3, 0, 'the stock is 1 now, and 1 -2 would go below zero, to -1'],
  [1, -2, -1, 0, { before: 1, after: -1 }],
  [2, -2, 3, 0, 'the stock is 2 now, and 2 -2 would be 0: more than max-zero allows'],
  [2, -2, 3, 1, { before: 2, after: 0 }],
  [2, -2, 0, 0, { before: 2, after: 0 }],
])('of %i, %i, planned to come to %i, with %i zeros left: %j', (found, delta, after, left, expected) => {
  const write = { petId: 4n, before: 9, after, delta } as RowWrite;
  const zeros = { left };
  expect(rebase(write, found, zeros)).toEqual(typeof expected === 'string' ? expected : { ...write, ...expected });
  expect(zeros.left).toBe(left === 1 ? 0 : left);
});
