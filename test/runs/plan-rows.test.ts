import { expect, test } from 'vitest';
import type { LaterWrite, RecordedRow } from '../../src/inventory/run-records.ts';
import { resumeRow } from '../../src/runs/plan-resume.ts';
import { undoRow } from '../../src/runs/plan-undo.ts';

const recorded = (result: RecordedRow['result'], more: Partial<RecordedRow> = {}) =>
  ({ row: 3, line: 8, petId: 4n, before: 5, after: 7, result, reason: 'sale', ref: 'r1', ...more }) as RecordedRow;
const stockOf = (stock?: number) => new Map(stock === undefined ? [] : [[4n, stock]]);
const write = (before: number | undefined, quantity: number, more: Partial<LaterWrite> = {}) =>
  ({ run: 'x', command: 'inventory set', result: 'applied', before, quantity, ...more }) as LaterWrite;
const sale = (before: number, delta: number) => write(before, before + delta, { delta });
const error = { code: 'c', message: 'lost' };

test.each<[string, RecordedRow, number | undefined, object, object | undefined]>([
  ['keeps an applied row', recorded('applied', { error }), 9, { result: 'applied', before: 5, error }, undefined],
  ['keeps the stock of a row that differs', recorded('differs', { quantity: 8 }), 9, { quantity: 8 }, undefined],
  ['hides the stock of an applied row', recorded('applied', { quantity: 7 }), 9, { quantity: undefined }, undefined],
  [
    'plans a pending row on the same stock',
    recorded('pending', { error }),
    5,
    { line: 8, result: 'planned', before: 5, after: 7, error: undefined, reason: 'sale', ref: 'r1' },
    undefined,
  ],
  [
    'records a pending row as unchanged if its stock is the wanted one',
    recorded('pending'),
    7,
    { result: 'unchanged' },
    { row: 3, petId: 4n, result: 'unchanged', quantity: 7 },
  ],
  [
    'makes a pending row a conflict if its stock has changed',
    recorded('pending'),
    6,
    { result: 'conflict', error: { code: 'conflict' } },
    { row: 3, petId: 4n, result: 'conflict', quantity: 6 },
  ],
  [
    'records an unknown row as applied if its stock is the wanted one',
    recorded('unknown'),
    7,
    { result: 'applied', after: 7 },
    { row: 3, petId: 4n, result: 'applied', quantity: 7 },
  ],
  [
    'makes an unknown row an unclear conflict if its stock has changed',
    recorded('unknown'),
    6,
    { result: 'conflict', error: { code: 'unclear' } },
    { result: 'conflict', quantity: 6, error: { code: 'unclear' } },
  ],
  [
    'adds a pending delta to the current stock',
    recorded('pending', { delta: 2 }),
    9,
    { result: 'planned', before: 9, after: 11, delta: 2 },
    undefined,
  ],
  [
    'makes a delta a conflict if it would bring the stock below 0',
    recorded('pending', { before: 9, delta: -9, after: 0 }),
    3,
    { result: 'conflict', error: { code: 'conflict' } },
    { result: 'conflict', quantity: 3 },
  ],
  [
    'plans a plain set again',
    recorded('pending', { before: undefined }),
    9,
    { result: 'planned', after: 7 },
    undefined,
  ],
])('resumes a run: %s', (_what, row, stock, expected, outcome) => {
  const resumed = resumeRow(row, { stock: stockOf(stock) as never, laterWrites: [] });
  expect(resumed.row).toMatchObject(expected);
  if (outcome === undefined) expect(resumed.outcome).toBeUndefined();
  else expect(resumed.outcome).toMatchObject(outcome);
});

test.each<[string, RecordedRow, number | undefined, LaterWrite[], object]>([
  [
    'sets the stock back',
    recorded('applied'),
    7,
    [],
    { line: 3, result: 'planned', before: 7, after: 5, delta: undefined, error: undefined, reason: 'undo', ref: 'r1' },
  ],
  ['uses the given ref if a row has no ref', recorded('applied', { ref: undefined }), 7, [], { ref: 'given' }],
  ['leaves a stock that has its old value already', recorded('applied'), 5, [], { result: 'unchanged' }],
  ['leaves a stock that a later write has set back', recorded('applied'), 5, [write(7, 5)], { result: 'unchanged' }],
  ['reports a missing pet', recorded('applied', { delta: 2 }), undefined, [], { result: 'conflict', delta: undefined }],
  [
    'makes a row a conflict if its stock has changed',
    recorded('applied'),
    8,
    [],
    { result: 'conflict', delta: undefined, error: { message: 'the stock is 8, not 7 as written' } },
  ],
  [
    'sets a stock back that the service had changed',
    recorded('differs', { quantity: 8 }),
    8,
    [],
    { result: 'planned' },
  ],
  [
    'keeps the delta to undo in a conflict if the stock has changed',
    recorded('applied', { delta: 2 }),
    8,
    [],
    { result: 'conflict', delta: -2 },
  ],
  [
    'keeps the delta to undo in a conflict after later deltas',
    recorded('applied', { delta: 2 }),
    6,
    [sale(7, -1)],
    { result: 'conflict', delta: -2, error: { message: expect.stringContaining('run x') } },
  ],
  ['drops the delta after a later set', recorded('applied', { delta: 2 }), 6, [write(7, 6)], { delta: undefined }],
  [
    'drops the delta to undo of an unknown row',
    recorded('unknown', { delta: 2 }),
    8,
    [],
    { result: 'conflict', delta: undefined },
  ],
  ['ignores a later write that changed nothing', recorded('applied'), 7, [write(7, 7)], { result: 'planned' }],
  [
    'ignores a later set to the stock that was written',
    recorded('applied'),
    7,
    [write(undefined, 7), write(undefined, 7)],
    { result: 'planned' },
  ],
  [
    'keeps a stock that later writes restored',
    recorded('applied'),
    7,
    [write(7, 6), write(6, 7)],
    { result: 'conflict' },
  ],
  [
    'makes a row a conflict if a later set may have followed a lost write',
    recorded('applied'),
    7,
    [write(7, 6, { result: 'unknown' }), write(undefined, 7)],
    { result: 'conflict' },
  ],
])('undoes a run: %s', (_what, row, stock, laterWrites, expected) => {
  const facts = { stock: stockOf(stock) as never, laterWrites, target: 5, reason: 'undo', ref: 'given' };
  expect(undoRow(row, facts)).toMatchObject(expected);
});
