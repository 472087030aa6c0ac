import { describe, expect, it, test } from 'vitest';
import type { BulkRow, Change } from '../../src/inventory/change.ts';
import { guardFaults, type PlanOptions, planChanges as planInColumns, planTotals } from '../../src/inventory/plan.ts';
import { grouped } from '../../src/inventory/values.ts';
import fc, { property } from '../support/seeded-fast-check.ts';

function planChanges(...args: Parameters<typeof planInColumns>) {
  const { rows, faults } = planInColumns(...args);
  return { rows: [...rows], faults };
}

const stock = new Map([
  [42n, 7],
  [9007199254740993n, 0],
  [5n, 9007199254740990],
]);
const blank: Change = {
  line: 7,
  petId: 42n,
  quantity: undefined,
  delta: undefined,
  expected: undefined,
  reason: undefined,
  ref: undefined,
};
const plan = (change: Partial<Change>, options: Partial<PlanOptions> = {}) =>
  planChanges([{ ...blank, ...change }], stock, {
    skipUnknown: false,
    env: 'staging',
    ...options,
  });

describe('one change', () => {
  const differs = { code: 'conflict', message: 'the stock is 7, not 9' };
  test.each<[string, Partial<Change>, Partial<BulkRow>]>([
    ['a quantity', { quantity: 12 }, { before: 7, after: 12, result: 'planned' }],
    ['the quantity that is there', { quantity: 7 }, { before: 7, after: 7, result: 'unchanged' }],
    ['a delta', { delta: 5 }, { before: 7, after: 12, result: 'planned' }],
    [
      '0 expected and there',
      { petId: 9007199254740993n, delta: 1, expected: 0 },
      { before: 0, after: 1, result: 'planned' },
    ],
    ['what is not expected', { quantity: 1, expected: 9 }, { before: 7, after: 1, result: 'conflict', error: differs }],
    [
      'a delta on what is not expected',
      { delta: 1, expected: 9 },
      { before: 7, after: 10, result: 'conflict', error: differs },
    ],
    [
      'the quantity that is there, but another expected',
      { quantity: 7, expected: 9 },
      { before: 7, after: 7, result: 'conflict', error: differs },
    ],
    [
      '0 expected, and not there',
      { quantity: 7, expected: 0 },
      { result: 'conflict', error: { code: 'conflict', message: 'the stock is 7, not 0' } },
    ],
  ])('%s', (_what, change, row) => {
    const { rows, faults } = plan(change);
    expect(faults).toEqual([]);
    expect(rows).toMatchObject([{ line: 7, petId: change.petId ?? 42n, ...row }]);
    expect(rows[0]?.error !== undefined).toBe('error' in row);
  });

  it('keeps reason and ref', () => {
    expect(plan({ quantity: 1, reason: 'count', ref: '' }).rows[0]).toMatchObject({ reason: 'count', ref: '' });
  });
});

describe('a pet that is not there', () => {
  const message = 'there is no pet 8 in staging';
  test.each<[string, Partial<Change>]>([
    ['with a quantity', { quantity: 3 }],
    ['with a delta', { delta: 3 }],
    ['blank', {}],
    ['with another stock expected', { quantity: 3, expected: 1 }],
  ])('is a fault: %s', (_what, change) => {
    expect(plan({ petId: 8n, ...change })).toEqual({ rows: [], faults: [{ line: 7, message }] });
  });

  it('is skipped if that is asked for', () => {
    const { rows, faults } = plan({ petId: 8n, quantity: 3 }, { skipUnknown: true });
    expect(faults).toEqual([]);
    expect(rows).toEqual([
      {
        ...{ line: 7, petId: 8n, before: undefined, after: 3, result: 'skipped' },
        ...{
          delta: undefined,
          expected: undefined,
          quantity: undefined,
          error: undefined,
          reason: undefined,
          ref: undefined,
        },
      },
    ]);
  });
});

it('finds a delta at fault that no quantity can hold', () => {
  expect(plan({ petId: 5n, delta: 2 })).toEqual({
    rows: [],
    faults: [{ line: 7, message: expect.stringMatching(/^the stock is 9007199254740990, and .* is out of range/) }],
  });
  expect(plan({ petId: 5n, delta: 1 }).rows).toMatchObject([{ after: 9007199254740991 }]);
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

describe('any changes on any stock', () => {
  property('are each a row or a fault, in their order', [changes, stocks, fc.boolean()], (all, levels, skipUnknown) => {
    const { rows, faults } = planChanges(all, { get: (petId) => levels[`${petId}`] }, { skipUnknown, env: 'staging' });
    const lines = rows.map(({ line }) => line);
    const faulty = faults.map(({ line }) => line);
    expect(lines).toEqual(lines.toSorted((a, b) => a - b));
    expect(faulty).toEqual(faulty.toSorted((a, b) => a - b));
    expect([...lines, ...faulty].sort((a, b) => a - b)).toEqual(all.map(({ line }) => line));
    for (const { line, petId, reason, ref } of rows) expect(all[line - 2]).toMatchObject({ petId, reason, ref });
  });

  property('are written only where the stock differs, to what was wanted', [changes, stocks], (all, levels) => {
    const { rows, faults } = planChanges(
      all,
      { get: (petId) => levels[`${petId}`] },
      { skipUnknown: true, env: 'staging' },
    );
    for (const { line, petId, before, after, result, error } of rows) {
      const level = levels[`${petId}`];
      const wish = wished(all[line - 2] ?? blank, level);
      expect([before, result]).toEqual([level, typeof wish === 'bigint' ? resultOf(wish, level) : wish]);
      expect(error !== undefined).toBe(result === 'conflict');
      if (typeof wish === 'bigint') expect(BigInt(after ?? Number.NaN)).toBe(wish);
    }
    for (const { line } of faults) {
      const change = all[line - 2] ?? blank;
      const wish = wished(change, levels[`${change.petId}`]);
      expect(Number.isSafeInteger(Number(wish))).toBe(false);
    }
  });
});

/** What a change wants the stock to be, or why it gets nothing. */
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
  ...{ line: 2, petId: 1n, before, after, result, reason: undefined, ref: undefined },
});
const largest = Number.MAX_SAFE_INTEGER;

describe('the totals', () => {
  it('count what is planned, and nothing else', () => {
    const others = (['applied', 'unchanged', 'failed', 'conflict', 'notAttempted'] as const).map((result) =>
      row(5, 0, result),
    );
    expect(planTotals([row(1, 4), row(4, 0), row(-2, 0), row(3, -1), ...others])).toEqual({
      ...{ changes: 4, toZero: 2, belowZero: 1, added: 5n, removed: 8n },
    });
  });

  it('are exact', () => {
    expect(planTotals([row(-largest, largest), row(-largest, largest), row(largest, -largest)])).toMatchObject({
      added: 36028797018963964n,
      removed: 18014398509481982n,
    });
  });
});

describe('the guards', () => {
  const rows = [...Array.from({ length: 1200 }, () => row(1, 0)), row(0, 0, 'unchanged'), row(1, 0, 'conflict')];
  const changed = '1,200 rows would be changed, and max-changes allows';
  const emptied = '1,200 pets would go to 0, and max-zero allows';
  test.each([
    [undefined, undefined, []],
    [1200, 1200, []],
    [1199, undefined, [`${changed} 1,199`]],
    [undefined, 1199, [`${emptied} 1,199`]],
    [0, 0, [`${changed} 0`, `${emptied} 0`]],
  ])('at most %s changes, %s to zero', (maxChanges, maxZero, faults) => {
    expect(guardFaults({ rows }, { maxChanges, maxZero })).toEqual(faults);
  });

  it('speak of one', () => {
    expect(guardFaults({ rows: [row(1, 0)] }, { maxChanges: 0, maxZero: 0 })).toEqual([
      '1 row would be changed, and max-changes allows 0',
      '1 pet would go to 0, and max-zero allows 0',
    ]);
  });
});

test.each([
  [0, '0'],
  [999, '999'],
  [-1000, '-1,000'],
  [-100, '-100'],
  [1234567, '1,234,567'],
  [9223372036854775807n, '9,223,372,036,854,775,807'],
])('%s in groups: %s', (value, text) => expect(grouped(value)).toBe(text));
