import { expect, test } from 'vitest';
import type { BulkRow, Change } from '../../src/inventory/change.ts';
import { grouped } from '../../src/inventory/items.ts';
import { guardProblems, planChanges, planTotals } from '../../src/inventory/plan.ts';
import fc, { property } from '../support/properties.ts';

const stock = new Map([
  [42n, 7],
  [5n, 9007199254740990],
]);
const none = { quantity: undefined, delta: undefined, expected: undefined, reason: undefined, ref: undefined };
const blank: Change = { line: 7, petId: 42n, ...none };
const plan = (change: Partial<Change>, skipUnknown = false) =>
  planChanges([{ ...blank, ...change }], stock, { skipUnknown, env: 'staging' });

const differs = (expected: number) => ({ code: 'conflict', message: `the stock is 7, not ${expected}` });
test.each<[string, Partial<Change>, Partial<BulkRow>]>([
  ['a quantity', { quantity: 12, ref: '' }, { before: 7, after: 12, result: 'planned', ref: '' }],
  ['a delta', { delta: 5, reason: 'count' }, { before: 7, after: 12, result: 'planned', reason: 'count' }],
  [
    'a conflict if a quantity expects another stock',
    { quantity: 1, expected: 9 },
    { before: 7, after: 1, result: 'conflict', error: differs(9) },
  ],
  [
    'a conflict if a delta expects another stock',
    { delta: 1, expected: 9 },
    { before: 7, after: 10, result: 'conflict', error: differs(9) },
  ],
  [
    'a conflict if a quantity expects 0',
    { quantity: 7, expected: 0 },
    { before: 7, after: 7, result: 'conflict', error: differs(0) },
  ],
  ['a delta to the largest quantity', { petId: 5n, delta: 1 }, { after: 9007199254740991, result: 'planned' }],
])('plans %s', (_what, change, row) => {
  const { rows, problems } = plan(change);
  expect(problems).toEqual([]);
  expect(rows).toMatchObject([{ line: 7, petId: change.petId ?? 42n, ...row }]);
  expect(rows[0]?.error !== undefined).toBe('error' in row);
});

const unknown = 'there is no pet 8 in staging';
const tooMuch = expect.stringMatching(/^the stock is 9007199254740990, and .* out of range/);
test.each<[string, Partial<Change>, unknown]>([
  ['a missing pet with a quantity', { petId: 8n, quantity: 3 }, unknown],
  ['a missing pet with a delta', { petId: 8n, delta: 3 }, unknown],
  ['a missing pet in a blank row', { petId: 8n }, unknown],
  ['a missing pet with an expected stock', { petId: 8n, quantity: 3, expected: 1 }, unknown],
  ['a delta whose sum is out of range', { petId: 5n, delta: 2 }, tooMuch],
])('reports %s', (_what, change, message) => {
  const absent = change.petId === 8n ? 8n : undefined;
  expect(plan(change)).toEqual({ rows: [], problems: [{ line: 7, message, absent }] });
});

test('skips a pet that is not in the stock if skipUnknown is set', () => {
  const skipped = { ...none, line: 7, petId: 8n, before: undefined, after: 3, result: 'skipped', error: undefined };
  expect(plan({ petId: 8n, quantity: 3 }, true)).toEqual({ rows: [skipped], problems: [] });
});

const small = fc.integer({ min: -3, max: 3 });
const quantities = fc.oneof(
  small,
  fc.maxSafeInteger().map((value) => value + 0),
);
const maybe = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined });
const changes = fc
  .array(
    fc
      .record({ petId: fc.bigInt({ min: 0n, max: 9n }), value: maybe(quantities), isDelta: fc.boolean() })
      .chain(({ petId, value, isDelta }) =>
        fc.record({
          petId: fc.constant(petId),
          quantity: fc.constant(isDelta ? undefined : value),
          delta: fc.constant(isDelta ? value : undefined),
          expected: maybe(small),
          reason: maybe(fc.string()),
          ref: maybe(fc.string()),
        }),
      ),
    { maxLength: 30 },
  )
  .map((rows) => rows.map((row, index): Change => ({ ...row, line: index + 2 })));
const stocks = fc.dictionary(fc.integer({ min: 0, max: 9 }).map(String), quantities);

const stocked = (all: readonly Change[], levels: Record<string, number>, skipUnknown: boolean) =>
  planChanges(all, { get: (petId) => levels[`${petId}`] }, { skipUnknown, env: 'staging' });

property('turns each change into a row or a fault, in order', [changes, stocks, fc.boolean()], (all, levels, skips) => {
  const { rows, problems } = stocked(all, levels, skips);
  const lines = rows.map(({ line }) => line);
  const faulty = problems.map(({ line }) => line);
  expect(lines).toEqual(lines.toSorted((a, b) => a - b));
  expect(faulty).toEqual(faulty.toSorted((a, b) => a - b));
  expect([...lines, ...faulty].sort((a, b) => a - b)).toEqual(all.map(({ line }) => line));
  for (const { line, petId, reason, ref } of rows) expect(all[line - 2]).toMatchObject({ petId, reason, ref });
});

property('plans a write only if the stock differs from the wanted quantity', [changes, stocks], (all, levels) => {
  const { rows, problems } = stocked(all, levels, true);
  for (const { line, petId, before, after, result, error } of rows) {
    const level = levels[`${petId}`];
    const wish = wished(all[line - 2] ?? blank, level);
    expect([before, result]).toEqual([level, typeof wish === 'bigint' ? resultOf(wish, level) : wish]);
    expect(error !== undefined).toBe(result === 'conflict');
    if (typeof wish === 'bigint') expect(BigInt(after ?? Number.NaN)).toBe(wish);
  }
  for (const { line } of problems) {
    const change = all[line - 2] ?? blank;
    expect(Number.isSafeInteger(Number(wished(change, levels[`${change.petId}`])))).toBe(false);
  }
});

/** Returns the stock that a change asks for, or the reason why it gets none. */
function wished(
  { quantity, delta, expected }: Change,
  level: number | undefined,
): bigint | 'skipped' | 'notEdited' | 'conflict' {
  if (quantity !== undefined && quantity === expected) return 'notEdited';
  if (level === undefined) return 'skipped';
  if (quantity === undefined && delta === undefined) return BigInt(level);
  if (expected !== undefined && expected !== level) return 'conflict';
  return quantity === undefined ? BigInt(level) + BigInt(delta ?? 0) : BigInt(quantity);
}

function resultOf(wish: bigint, level: number | undefined): BulkRow['result'] {
  return wish === BigInt(level ?? 0) ? 'unchanged' : 'planned';
}

const row = (before: number, after: number, result: BulkRow['result'] = 'planned'): BulkRow => ({
  line: 2,
  petId: 1n,
  before,
  after,
  result,
  reason: undefined,
  ref: undefined,
});
const largest = Number.MAX_SAFE_INTEGER;

test('adds up only the planned rows, and keeps every digit', () => {
  const results = ['applied', 'unchanged', 'failed', 'conflict', 'notAttempted'] as const;
  const others = results.map((result) => row(5, 0, result));
  const totals = { changes: 4, toZero: 2, belowZero: 1, added: 5n, removed: 8n };
  expect(planTotals([row(1, 4), row(4, 0), row(-2, 0), row(3, -1), ...others])).toEqual(totals);
  const exact = { added: 36028797018963964n, removed: 18014398509481982n };
  expect(planTotals([row(-largest, largest), row(-largest, largest), row(largest, -largest)])).toMatchObject(exact);
});

const rows = [...Array.from({ length: 1200 }, () => row(1, 0)), row(0, 0, 'unchanged'), row(1, 0, 'conflict')];
const changed = '1,200 rows would be changed, but max-changes allows';
const emptied = '1,200 pets would go to 0, but max-zero allows';
test.each([
  ['no limits', undefined, undefined, rows, []],
  ['limits that it just meets', 1200, 1200, rows, []],
  ['a limit of changes', 1199, undefined, rows, [`${changed} 1,199`]],
  ['a limit of pets at zero', undefined, 1199, rows, [`${emptied} 1,199`]],
  ['limits of 0', 0, 0, rows, [`${changed} 0`, `${emptied} 0`]],
  [
    'limits of 0, with a single row',
    0,
    0,
    [row(1, 0)],
    ['1 row would be changed, but max-changes allows 0', '1 pet would go to 0, but max-zero allows 0'],
  ],
])('checks a plan against %s', (_what, maxChanges, maxZero, rows, faults) => {
  expect(guardProblems({ rows }, { maxChanges, maxZero })).toEqual(faults);
});

test.each([
  [0, '0'],
  [999, '999'],
  [-1000, '-1,000'],
  [-100, '-100'],
  [1234567, '1,234,567'],
  [9223372036854775807n, '9,223,372,036,854,775,807'],
])('groups the digits of %s as %s', (value, text) => expect(grouped(value)).toBe(text));
