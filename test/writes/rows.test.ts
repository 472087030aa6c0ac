import { expect, test } from 'vitest';
import { PetQuantities } from '../../src/inventory/items.ts';
import type { OtherWrite, Row } from '../../src/state/open-run.ts';
import { type Facts, fateOf, rebase, stepOf } from '../../src/writes/rows.ts';

const set = { petId: 4n, before: 5, after: 7 };
const add = { ...set, delta: 2 };
const plain = { petId: 4n, before: undefined, after: 7 };
const stockOf = (found: number | undefined) => new PetQuantities(found === undefined ? [] : [[4n, found]]);
/** Returns later writes as the history knows them. */
const wrote = (...writes: readonly Partial<OtherWrite>[]) =>
  writes.map(
    (more): OtherWrite => ({
      ...{ petId: 4n, run: 'r', command: 'inventory set', intent: 9, result: 'applied', before: 5, quantity: 7 },
      ...{ delta: undefined, inFlightUntil: undefined, row: 1, line: 1, undoes: undefined },
      ...more,
    }),
  );
const byAnother = 'run r (inventory set) has';

type Evidence = Partial<Parameters<typeof fateOf>[1]> & {
  readonly row?: Pick<Row, 'petId' | 'before' | 'after' | 'delta'>;
};

test.each<[string, number | undefined, Evidence, string]>([
  ['as wanted', 7, {}, 'applied'],
  ['as wanted, after another run has written it', 7, { later: wrote({}) }, byAnother],
  ['as before', 5, {}, 'send'],
  [
    'changed by another run, if no change was requested',
    9,
    { row: { ...set, before: 7 }, later: wrote({ before: 7 }) },
    byAnother,
  ],
  ['as before, after a write of another stock', 5, { later: wrote({}) }, byAnother],
  ['as before, after a write that may have left another stock', 5, { later: wrote({ result: 'unknown' }) }, 'send'],
  [
    'as before, after a write that may have left this one',
    5,
    { later: wrote({ result: 'unknown', quantity: 5 }) },
    'run r (inventory set) may have written the stock since',
  ],
  [
    'neither as before nor as wanted',
    9,
    {},
    'the stock is 9, neither 5 as before nor 7 as requested, and it is not known',
  ],
  ['not there', undefined, {}, 'pet 4 no longer exists'],
  ['another, for a plain set', 9, { row: plain }, 'send'],
  ['another, for a plain set that is resumed', 9, { row: plain, isResumed: true }, 'the stock is 9, not 7'],
  ['not there, for a plain set', undefined, { row: plain }, 'pet 4'],
  ['the sum with the delta', 7, { row: add }, 'applied'],
  ['the stock before the delta', 5, { row: add }, 'send'],
  ['another, for a delta', 9, { row: add }, 'the stock is 9, neither 5 as before nor 7'],
  ['not there, for a delta that the next run had read', undefined, { row: add, later: wrote({}) }, 'pet 4'],
  ['any, if the next run had read the sum', 9, { row: add, later: wrote({ before: 7 }, {}) }, 'applied'],
  [
    'any, if the next run had read the stock before the delta',
    9,
    { row: add, later: wrote({}, { before: 7 }) },
    'send',
  ],
  [
    'any, if the next run had not read the stock',
    7,
    { row: add, later: wrote({ before: undefined }) },
    'run r (inventory set) has written the stock since, and it is not known',
  ],
  [
    'any, if no run had read the stock',
    9,
    { row: { ...add, before: undefined }, later: wrote({ before: undefined }) },
    'run r',
  ],
])('judges a row of unknown outcome by its stock: %s', (_what, found, { row = set, ...evidence }, expected) => {
  const verdict = fateOf(
    { delta: undefined, ...row },
    { stock: stockOf(found), later: [], isResumed: false, ...evidence },
  );
  expect((typeof verdict === 'string' ? verdict : verdict.conflict).slice(0, expected.length)).toBe(expected);
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
])('adds to a stock of %i a delta of %i (planned %i, %i zeros left): %j', (found, delta, after, left, expected) => {
  const step = rebase({ before: 9, after, delta }, found, left);
  expect(step).toMatchObject(
    'before' in Object(expected) ? { kind: 'send', ...Object(expected) } : { error: { message: expected } },
  );
});

const pending: Row = {
  ...{ row: 1, line: 1, ...set, result: 'pending', intent: undefined, inFlightUntil: undefined },
  ...{ quantity: undefined, error: undefined },
};
const lost: Row = { ...pending, result: 'unknown', intent: 1, inFlightUntil: 100 };
const facts = (found: number | undefined, more: Partial<Facts> = {}): Facts => ({
  ...{ others: [], stock: stockOf(found), isResumed: false, began: 0, since: 50, sends: 1, mayResend: true },
  zerosLeft: 0,
  ...more,
});
const over = { since: 200 };
const recent = { petId: 4n, before: 5, quantity: 6, at: 40 };

test.each<[string, Row, Facts, object]>([
  ['the stock is as planned', pending, facts(5), { kind: 'send', before: 5, after: 7 }],
  ['no stock was read', pending, { ...facts(5), stock: undefined }, { kind: 'send', before: 5, after: 7 }],
  ['the stock is as wanted', pending, facts(7), { kind: 'settle', result: 'unchanged' }],
  ['the stock has moved', pending, facts(9), { result: 'conflict', error: { code: 'conflict' } }],
  [
    'the stock is not the expected one, but the wanted one',
    { ...pending, readsFirst: true },
    facts(7),
    { result: 'conflict' },
  ],
  [
    'any stock is read first',
    { ...pending, before: undefined, readsFirst: true },
    facts(9),
    { kind: 'send', before: 9, after: 7 },
  ],
  ['another run has written since', { ...pending, basis: 3 }, facts(5, { others: wrote({}) }), { result: 'conflict' }],
  [
    'another run may have written, but not this stock',
    { ...pending, basis: 3 },
    facts(5, { others: wrote({ result: 'unknown' }) }),
    { kind: 'send' },
  ],
  ['another run has written before', { ...pending, basis: 9 }, facts(5, { others: wrote({}) }), { kind: 'send' }],
  ['the stock may be that of a replica', pending, facts(5, { recent }), { kind: 'readAgain' }],
  ['the stock is that of a replica again', pending, facts(5, { recent, isSecondRead: true }), { result: 'conflict' }],
  ['the pet is gone', pending, facts(undefined), { result: 'conflict', error: { code: 'no_such_pet' } }],
])('decides about a row that was not written: %s', (_what, row, given, step) => {
  expect(stepOf(row, given)).toMatchObject(step);
});

test.each<[string, Row, Facts, object]>([
  ['the stock shows it', lost, facts(7), { result: 'applied', isOver: true }],
  ['the stock shows one of two requests', lost, facts(7, { sends: 2 }), { result: 'applied', isOver: false }],
  ['the stock was as wanted before', { ...lost, before: 7 }, facts(7), { result: 'applied', isOver: false }],
  ['it may arrive, with the same quantity', lost, facts(5), { kind: 'send', before: 5, after: 7 }],
  ['it may arrive, and was sent again', lost, facts(5, { mayResend: false }), { kind: 'leave', isUnwritten: false }],
  [
    'it can no longer arrive, and was sent again',
    lost,
    facts(5, { ...over, mayResend: false }),
    { kind: 'leave', isUnwritten: true },
  ],
  [
    'it can no longer arrive, was sent again, and no stock was known before',
    { ...lost, before: undefined },
    facts(9, { ...over, mayResend: false }),
    { kind: 'leave', isUnwritten: false },
  ],
  ['it may arrive, and the stock has moved', lost, facts(9), { kind: 'leave', isUnwritten: false }],
  [
    'it may arrive from a process before, and the stock has moved',
    lost,
    facts(9, { sends: 0, isResumed: true }),
    { kind: 'wait', until: 100 },
  ],
  [
    'it can no longer arrive, and the stock has moved',
    lost,
    facts(9, over),
    { result: 'conflict', error: { code: 'unclear' } },
  ],
  [
    'a delta may arrive, and a later run had not read it',
    { ...lost, delta: 2 },
    facts(9, { others: wrote({}) }),
    { kind: 'leave' },
  ],
  [
    'a delta did not arrive, as a later run had read',
    { ...lost, delta: 2 },
    facts(8, { ...over, others: wrote({}) }),
    { kind: 'send', before: 8, after: 10 },
  ],
])('decides about a row of unknown outcome: %s', (_what, row, given, step) => {
  expect(stepOf(row, given)).toMatchObject(step);
});
