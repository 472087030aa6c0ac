import { describe, expect, it } from 'vitest';
import type { BulkRow } from '../../src/inventory/change.ts';
import { type PreviewOptions, previewLines } from '../../src/output/preview.ts';
import { createPaint, plainPaint } from '../../src/output/terminal.ts';
import { visibleWidth } from '../../src/output/text-width.ts';
import fc, { property } from '../support/seeded-fast-check.ts';
import { bulkRow } from './fixtures.ts';
import { visible } from './render.ts';

const conflict = { result: 'conflict', error: { code: 'conflict', message: 'the stock is 9, not 7' } } as const;
const failed = (message: string) => ({ result: 'failed', error: { code: 'x', message } }) as const;
const unchanged = bulkRow(1n, 5, 5, { result: 'unchanged' });
const rows = [
  bulkRow(42n, 7, 12),
  bulkRow(9223372036854775807n, 1800, 0),
  unchanged,
  bulkRow(43n, 9, 1, conflict),
  bulkRow(44n, 9, undefined, conflict),
  bulkRow(8n, undefined, 3, failed('there is no pet 8 in staging')),
];
const lines = (some: readonly BulkRow[], options: Partial<PreviewOptions> = {}) =>
  previewLines(some, { paint: plainPaint, width: Number.POSITIVE_INFINITY, ...options });

describe('the preview', () => {
  it('shows what changes, in columns, and what is amiss with its reason', () => {
    const estimate = '2 changes, 3 requests: no wait for the rate limit';
    expect(lines(rows, { estimate }).join('\n')).toMatchInlineSnapshot(`
      "                 42       7 → 12  (+5)
      9223372036854775807   1,800 →  0  (-1,800)
                       43       9 →  1  conflict: the stock is 9, not 7
                       44       9 →  ?  conflict: the stock is 9, not 7
                        8       ? →  3  failed: there is no pet 8 in staging
      2 changes, 1 unchanged, 1 failed, 2 conflicts.
      Units: 5 added, 1,800 removed.
      1 pet goes to 0.
      2 changes, 3 requests: no wait for the rate limit."
    `);
  });

  it('paints', async () => {
    const some = [bulkRow(1n, 3, 0), bulkRow(2n, 0, -1), bulkRow(3n, 0, 4), bulkRow(4n, 9, 1, conflict)];
    expect(visible(lines(some, { paint: await createPaint(true) }).join('\n'))).toMatchInlineSnapshot(`
      "1   3 →  ␛[1m␛[33m0␛[39m␛[22m  ␛[31m(-3)␛[39m
      2   0 → ␛[1m␛[33m-1␛[39m␛[22m  ␛[31m(-1)␛[39m
      3   0 →  4  ␛[32m(+4)␛[39m
      4   9 →  1  ␛[33mconflict␛[39m: the stock is 9, not 7
      3 changes, 1 conflict.
      Units: 4 added, 4 removed.
      ␛[1m␛[33m1 pet goes to 0. 1 pet goes below 0.␛[39m␛[22m"
    `);
  });

  it('shows one row as the contract has it, and otherwise what is amiss, without harmful text', () => {
    const line = (row: BulkRow) => lines([row])[0];
    expect(line(bulkRow(42n, 7, 12))).toBe('42   7 → 12  (+5)');
    const unknown = bulkRow(1n, 3, 4, { result: 'unknown' });
    expect(line(unknown)).toBe('1   3 → 4  unknown: not known whether it was written');
    const differs = bulkRow(1n, 3, 500, { result: 'differs', quantity: 100 });
    expect(line(differs)).toBe('1   3 → 500  differs: the service wrote 100');
    expect(line(bulkRow(1n, 1, 2, failed('a\x1b[2J\nb\u202ec')))).toBe('1   1 → 2  failed: a bc');
  });

  it('is exact where a difference is larger than a quantity', () => {
    const [line] = lines([bulkRow(1n, -Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER - 1)]);
    expect(line).toBe('1   -9,007,199,254,740,991 → 9,007,199,254,740,990  (+18,014,398,509,481,981)');
  });

  it('counts what is not one change alone, and apart what goes to 0 and what goes below', () => {
    expect(lines([])).toEqual(['No rows.']);
    expect(lines([unchanged])).toEqual(['1 unchanged.']);
    const one = ['42   7 → 12  (+5)', '1 change, 1 unchanged.', 'Units: 5 added, 0 removed.'];
    expect(lines([bulkRow(42n, 7, 12), unchanged])).toEqual(one);
    const emptied = [bulkRow(1n, 3, 0), bulkRow(2n, 3, 0), bulkRow(3n, 3, -1)];
    expect(lines(emptied)).toEqual([
      ...['1   3 →  0  (-3)', '2   3 →  0  (-3)', '3   3 → -1  (-4)'],
      ...['3 changes.', 'Units: 0 added, 10 removed.', '2 pets go to 0. 1 pet goes below 0.'],
    ]);
    expect(lines(emptied.slice(2))).toEqual(['3   3 → -1  (-4)', '1 pet goes below 0.']);
  });

  it('leaves to the question what is in it', () => {
    const asked = [bulkRow(1n, 3, 0), bulkRow(2n, 3, 4)];
    const changes = ['1   3 → 0  (-3)', '2   3 → 4  (+1)'];
    const estimate = '2 changes, 3 requests';
    expect(lines(asked, { isAsked: true, estimate })).toEqual([...changes, '2 changes, 3 requests.']);
    expect(lines([...asked, unchanged], { isAsked: true })).toEqual([...changes, '2 changes, 1 unchanged.']);
  });
});

describe('a long plan', () => {
  const many = Array.from({ length: 1200 }, (_, index) => bulkRow(BigInt(index), 1, 2));

  it('is cut after 20 rows, and what is unchanged is not counted as more', () => {
    const shown = lines(many);
    expect(shown.slice(0, 2)).toEqual([' 0   1 → 2  (+1)', ' 1   1 → 2  (+1)']);
    const last = ['… and 1,180 more', '1,200 changes.', 'Units: 1,200 added, 0 removed.'];
    expect(shown.slice(19)).toEqual(['19   1 → 2  (+1)', ...last]);
    expect(lines(many.slice(0, 20)).join()).not.toContain('more');
    expect(lines([...many.slice(0, 21), unchanged, unchanged])[20]).toBe('… and 1 more');
  });

  it('shows what is amiss or goes to zero, in its place, and some of the rest', () => {
    const zeros = Array<BulkRow>(50).fill(bulkRow(5000n, 3, 0));
    const amiss = bulkRow(6000n, 9, 1, conflict);
    const shown = lines([...many, ...zeros, amiss]);
    const kinds = shown.slice(0, 20).map((line) => (line.includes('→ 0') ? 'zero' : 'other'));
    expect(kinds).toEqual([...Array(10).fill('other'), ...Array(10).fill('zero')]);
    expect(lines([...many.slice(0, 500), amiss, ...many.slice(500)])[19]).toMatch(/^6000 .* conflict: /);
  });

  it('shows more of what is amiss where nothing else is left', () => {
    const amiss = Array.from({ length: 30 }, (_, index) => bulkRow(BigInt(index), 3, 0));
    expect(lines(amiss).slice(19, 21)).toEqual(['19   3 → 0  (-3)', '… and 10 more']);
    const shown = lines([...amiss, ...many.slice(0, 4)]).slice(0, 21);
    expect(shown.join('\n')).toMatch(/(?:.*→ 0.*\n){16}(?:.*→ 2.*\n){4}… and 14 more/);
  });
});

describe('a narrow terminal', () => {
  it('cuts reasons and leaves out space', () => {
    expect(lines(rows.slice(2), { width: 40 }).join('\n')).toMatchInlineSnapshot(`
      "43   9 → 1  conflict: the stock is 9, n…
      44   9 → ?  conflict: the stock is 9, n…
       8   ? → 3  failed: there is no pet 8 i…
      1 unchanged, 1 failed, 2 conflicts."
    `);
    expect(lines([bulkRow(42n, 7, 12)], { width: 16 })[0]).toBe('42 7 → 12 (+5)');
  });

  const id = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
  const quantity = fc.oneof(fc.integer({ min: -5, max: 5 }), fc.maxSafeInteger());
  const result = fc.constantFrom('failed', 'conflict');
  const amiss = fc.tuple(result, fc.string()).map(([result, message]) => ({ ...failed(message), result }));
  const row = fc.tuple(id, quantity, quantity, fc.oneof(fc.constant({}), amiss)).map((parts) => bulkRow(...parts));
  const plans = fc.array(row, { maxLength: 40 });

  property(
    'has no line that is wider, unless it is numbers alone',
    [plans, fc.integer({ min: 20, max: 120 }), fc.string()],
    (some, width, estimate) => {
      for (const line of lines(some, { width, estimate })) {
        const numbers = /^ *-?\d+ +-?\d+ → +-?\d+(?: +\([+-]?\d+\))?$/.test(line.trimEnd());
        if (!numbers) expect(visibleWidth(line)).toBeLessThanOrEqual(Math.max(width, numbersWidth(some)));
      }
    },
  );
});

/** What the numbers of a row take at most, which are never cut: id, two stocks, the arrow and two spaces. */
function numbersWidth(rows: readonly BulkRow[]): number {
  const widest = (texts: string[]) => Math.max(0, ...texts.map((text) => text.length));
  const stocks = widest(rows.map(({ before }) => `${before}`)) + widest(rows.map(({ after }) => `${after}`));
  return widest(rows.map(({ petId }) => `${petId}`)) + stocks + 5;
}
