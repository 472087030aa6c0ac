import { expect, test } from 'vitest';
import type { BulkRow } from '../../src/inventory/change.ts';
import { commonReason, numberRows, plannedRows, rowAfter, rowWrites } from '../../src/runs/run-rows.ts';
import type { WriteProgress } from '../../src/writes/row-write.ts';

const error = { code: 'c', message: 'no' };
const bare = { line: 1, petId: 4n, before: 5, after: 7, reason: undefined, ref: undefined };
const row = (result: BulkRow['result'], more: Partial<BulkRow> = {}): BulkRow => ({ ...bare, result, ...more });
const rows = [
  row('planned', { delta: 2 }),
  row('unchanged'),
  row('notEdited'),
  row('skipped'),
  row('planned', { after: undefined }),
  row('conflict', { delta: 2, error }),
  row('failed', { error }),
  row('failed'),
  row('planned', { reason: 'sale', ref: 'r1' }),
];
const numbers = numberRows(rows);

test('numbers rows that need a change and whose wanted stock is known', () => {
  expect(numbers).toEqual([1, undefined, undefined, undefined, undefined, 2, 3, 4, 5]);
});

test('records numbered rows with any outcome that they already have', () => {
  expect([...plannedRows(rows, numbers)]).toEqual([
    { ...bare, row: 1, delta: 2, outcome: undefined },
    { ...bare, row: 2, delta: undefined, outcome: { result: 'conflict', error } },
    { ...bare, row: 3, delta: undefined, outcome: { result: 'failed', error } },
    { ...bare, row: 4, delta: undefined, outcome: undefined },
    { ...bare, row: 5, delta: undefined, outcome: undefined, reason: 'sale', ref: 'r1' },
  ]);
});

test('writes only the planned rows', () => {
  const write = { petId: 4n, before: 5, after: 7 };
  expect([...rowWrites(rows, numbers)]).toEqual([
    { ...write, row: 1, delta: 2 },
    { ...write, row: 5, delta: undefined },
  ]);
});

test('turns the progress of a run into the outcomes of its planned rows', () => {
  const progress = {
    settled: new Map<number, object>([
      [1, { result: 'applied', rebased: { before: 6, after: 8 } }],
      [2, { result: 'differs', quantity: 9, error }],
    ]),
    unknown: new Map([[3, { write: { before: 6, after: 8 }, error }]]),
    notWritten: new Map([[4, error]]),
  } as unknown as WriteProgress;
  const after = (
    number: number | undefined,
    given = row('planned', { delta: 2, expected: 3, reason: 'r', ref: 'f' }),
  ) => rowAfter(given, number, progress, { code: 'stopped', message: 'down' });
  const same = { ...bare, delta: 2, expected: 3, reason: 'r', ref: 'f' };
  expect([1, 2, 3, 4, 5].map((number) => after(number))).toEqual([
    { ...same, before: 6, after: 8, result: 'applied', quantity: undefined, error: undefined },
    { ...same, result: 'differs', quantity: 9, error },
    { ...same, before: 6, after: 8, result: 'unknown', error },
    { ...same, result: 'failed', error },
    { ...same, result: 'notAttempted', error: { code: 'stopped', message: 'down' } },
  ]);
  expect(after(undefined)).toMatchObject({ result: 'planned' });
  expect(after(1, row('conflict'))).toEqual(row('conflict'));
});

test('returns a reason only if all rows share it', () => {
  const sold = row('planned', { reason: 'sold' });
  expect([[], [sold], [sold, sold], [sold, row('planned')]].map(commonReason)).toEqual([
    undefined,
    'sold',
    'sold',
    undefined,
  ]);
});
