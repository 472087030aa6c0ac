import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import type { BulkRow } from '../../src/inventory/change.ts';
import { type PreviewOptions, previewLines } from '../../src/output/preview.ts';
import { createPaint, plainPaint } from '../../src/output/terminal.ts';
import { bulkRow } from './fixtures.ts';
import { visible } from './render.ts';

const conflict = { result: 'conflict', error: { code: 'conflict', message: 'the stock is 9, not 7' } } as const;
const failed = (message: string) => ({ result: 'failed', error: { code: 'x', message } }) as const;
const unchanged = bulkRow(1n, 5, 5, { result: 'unchanged' });
const faulty = [
  bulkRow(43n, 9, 1, conflict),
  bulkRow(44n, 9, undefined, conflict),
  bulkRow(8n, undefined, 3, failed('there is no pet 8\x1b[2J\nin \u202estaging')),
];
const lines = (some: readonly BulkRow[], options: Partial<PreviewOptions> = {}) =>
  previewLines(some, { paint: plainPaint, width: Number.POSITIVE_INFINITY, ...options });

test('shows changes in columns, and reasons of failures without control characters', async () => {
  const rows = [
    bulkRow(42n, 7, 12),
    bulkRow(9223372036854775807n, 1800, 0),
    unchanged,
    bulkRow(2n, 0, -1),
    ...faulty,
    bulkRow(45n, 3, 4, { result: 'unknown' }),
    bulkRow(46n, 3, 500, { result: 'differs', quantity: 100 }),
  ];
  const options = { estimate: '3 changes, 4 requests: no wait for the rate limit' };
  const painted = await lines(rows, { ...options, paint: await createPaint(true) });
  expect(visible(painted.join('\n'))).toMatchInlineSnapshot(`
    "                 42       7 →  12  ␛[32m(+5)␛[39m
    9223372036854775807   1,800 →   ␛[1m␛[33m0␛[39m␛[22m  ␛[31m(-1,800)␛[39m
                      2       0 →  ␛[1m␛[33m-1␛[39m␛[22m  ␛[31m(-1)␛[39m
                     43       9 →   1  ␛[33mconflict␛[39m  the stock is 9, not 7
                     44       9 →   ?  ␛[33mconflict␛[39m  the stock is 9, not 7
                      8       ? →   3  ␛[31mfailed␛[39m    there is no pet 8 in staging
                     45       3 →   4  ␛[33munknown␛[39m   not known whether it was written
                     46       3 → 500  ␛[33mdiffers␛[39m   the service wrote 100
    3 changes, 1 unchanged, 1 failed, 2 conflicts, 1 unknown, 1 differs.
    Units: 5 added, 1,801 removed.
    ␛[1m␛[33m1 pet to 0, 1 pet BELOW ZERO.␛[39m␛[22m
    3 changes, 4 requests: no wait for the rate limit."
  `);
  expect(await lines(rows, options)).toEqual(painted.map(stripVTControlCharacters));
});

test('shows a single row on one line, with an exact difference', async () => {
  expect(await lines([bulkRow(42n, 7, 12)])).toEqual(['42   7 → 12  (+5)']);
  const [line] = await lines([bulkRow(1n, -Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER - 1)]);
  expect(line).toBe('1   -9,007,199,254,740,991 → 9,007,199,254,740,990  (+18,014,398,509,481,981)');
  expect(await lines([bulkRow(42n, 1800, 7)], { width: 12 })).toEqual(['42 1800 → 7 (-1793)']);
});

test('counts the changes of a preview, and separately the pets that go to 0 or below', async () => {
  expect(await lines([])).toEqual(['No rows.']);
  expect(await lines([unchanged])).toEqual(['1 unchanged.']);
  const one = ['42   7 → 12  (+5)', '1 change, 1 unchanged.', 'Units: 5 added.'];
  expect(await lines([bulkRow(42n, 7, 12), unchanged])).toEqual(one);
  const emptied = [bulkRow(1n, 3, 0), bulkRow(2n, 3, 0), bulkRow(3n, 3, -1)];
  expect((await lines(emptied)).at(-1)).toBe('2 pets to 0, 1 pet BELOW ZERO.');
  expect(await lines(emptied.slice(2))).toEqual(['3   3 → -1  (-4)', 'That is BELOW ZERO.']);
});

test('omits totals from the preview if the question shows them', async () => {
  const asked = [bulkRow(1n, 3, 0), bulkRow(2n, 3, 4)];
  const changes = ['1   3 → 0  (-3)', '2   3 → 4  (+1)'];
  const estimate = '2 changes, 3 requests';
  expect(await lines(asked, { isAsked: true, estimate })).toEqual([...changes, '2 changes, 3 requests.']);
  expect(await lines([...asked, unchanged], { isAsked: true })).toEqual([...changes, '2 changes, 1 unchanged.']);
});

test('shows 20 rows of a long plan, including conflicts, failures and zeros', async () => {
  const many = Array.from({ length: 1200 }, (_, index) => bulkRow(BigInt(index), 1, 2));
  const last = ['… and 1,180 more', '1,200 changes.', 'Units: 1,200 added.'];
  expect((await lines(many)).slice(19)).toEqual(['19   1 → 2  (+1)', ...last]);
  expect((await lines(many.slice(0, 20))).join()).not.toContain('more');
  expect((await lines([...many.slice(0, 21), unchanged, unchanged]))[20]).toBe('… and 1 more');

  const zeros = Array.from({ length: 50 }, () => bulkRow(5000n, 3, 0));
  const kinds = (shown: readonly string[]) => shown.slice(0, 20).map((line) => line.includes('→ 0'));
  expect(kinds(await lines([...many, ...zeros]))).toEqual([...Array(10).fill(false), ...Array(10).fill(true)]);
  expect((await lines([...many.slice(0, 500), ...faulty, ...many.slice(500)]))[19]).toMatch(
    /^ *8 .* failed +there is /,
  );
  expect(kinds(await lines([...zeros, ...many.slice(0, 4)]))).toEqual([
    ...Array(16).fill(true),
    ...Array(4).fill(false),
  ]);
});

test('truncates reasons and columns on a narrow terminal', async () => {
  expect((await lines([unchanged, ...faulty], { width: 40 })).join('\n')).toMatchInlineSnapshot(`
    "43 9 → 1 conflict the stock is 9, not 7
    44 9 → ? conflict the stock is 9, not 7
     8 ? → 3 failed   there is no pet 8 in …
    1 unchanged, 1 failed, 2 conflicts."
  `);
  expect((await lines([bulkRow(42n, 7, 12)], { width: 15 }))[0]).toBe('42 7 → 12 (+5)');
  expect((await lines([bulkRow(42n, 7000, 12)], { width: 21 }))[0]).toBe('42 7000 → 12 (-6988)');
});
