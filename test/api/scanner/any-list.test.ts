import { describe, expect, test } from 'vitest';
import type { InventoryItem } from '../../../src/inventory/items.ts';
import { SeenPets } from '../../../src/inventory/seen-pets.ts';
import fc from '../../support/seeded-fast-check.ts';
import { oddList } from './odd-lists.ts';
import { copy, inventoryDecoder, linesOf, outcome, parse, scan } from './readings.ts';
import { inPieces, spelledList } from './spellings.ts';

/** Lists in all three: `PETSTOCK_RUNS=1000000 PETSTOCK_SEED=1 npx vitest run --project unit test/api/scanner/any-list.test.ts` */
const { PETSTOCK_RUNS, PETSTOCK_SEED } = process.env;
const numRuns = Math.ceil(Number(PETSTOCK_RUNS ?? 600) / 3);
const options = { numRuns, ...(PETSTOCK_SEED === undefined ? {} : { seed: Number(PETSTOCK_SEED) }) };
const timeout = 20_000 + 20 * numRuns;

const pieceLengths = fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 6 });
const sizes = fc.integer({ min: 1, max: 5 });

const inserts = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'[]{},:" \\0-.e1au\n'), maxLength: 2 }).map((text) => Buffer.from(text)),
  fc
    .constantFrom('\\u00e9', '\\ud83d', '\\ude00', '.0', 'e0', '00', '"a":1,', ',"a":[]')
    .map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 2 }),
);
const changes = fc.array(
  fc.record({
    at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    remove: fc.integer({ min: 0, max: 2 }),
    insert: inserts,
  }),
  { minLength: 1, maxLength: 3 },
);
type Change = typeof changes extends fc.Arbitrary<readonly (infer C)[]> ? C : never;

function changed(text: string, edits: readonly Change[]): Uint8Array {
  let body = Buffer.from(text);
  for (const { at, remove, insert } of edits) {
    const place = Math.floor(at * body.length);
    body = Buffer.concat([body.subarray(0, place), insert, body.subarray(place + remove)]);
  }
  return body;
}

function expectReading(pieces: readonly Uint8Array[], size: number, expected: InventoryItem[] | 'refused'): void {
  expect(outcome(() => scan(pieces, size))).toEqual(expected);
  expect(outcome(() => copy(pieces, size))).toEqual(expected === 'refused' ? expected : linesOf(expected));
}

/** Items that are copied, or are nearly such, with bytes changed. */
const nearlyCopied = fc
  .array(
    fc.tuple(
      fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.bigInt({ min: 0n, max: 200n })),
      fc.oneof(fc.maxSafeInteger(), fc.integer({ min: -20, max: 2000 })),
      fc.constantFrom('available', 'pending', 'sold'),
    ),
    { minLength: 1, maxLength: 8 },
  )
  .map((items) => `[${items.map(([id, n, word]) => `{"petId":${id},"quantity":${n},"status":"${word}"}`).join()}]`);

/** Ids that go on in one step, here and there from where they were before, and over the borders of a billion and of ten thousand. */
const runsOfIds = fc
  .array(
    fc.record({
      from: fc.oneof(
        fc.bigInt({ min: 0n, max: 30n }),
        fc.constantFrom(
          9_990n,
          99_999_990n,
          999_999_990n,
          9_999_999_990n,
          10n ** 15n - 5n,
          10n ** 18n - 5n,
          2n ** 63n - 40n,
        ),
      ),
      step: fc.bigInt({ min: 1n, max: 3n }),
      length: fc.integer({ min: 1, max: 12 }),
    }),
    { maxLength: 5 },
  )
  .map((runs) => runs.flatMap(({ from, step, length }) => Array.from({ length }, (_, n) => from + step * BigInt(n))));

describe('the scanner reads what the parser reads', () => {
  test('any spelling of any items, in any pieces, and by itself', { timeout }, () => {
    fc.assert(
      fc.property(spelledList, pieceLengths, sizes, ({ items, text, repeats }, lengths, size) => {
        const body = Buffer.from(text);
        const exact = inventoryDecoder();
        expect(scan(inPieces(body, lengths), size, exact)).toEqual(items);
        expect(parse(body)).toEqual(items);
        expect(copy(inPieces(body, lengths), size)).toBe(linesOf(items));
        // It would be right, too, but ten times as slow.
        if (!repeats) expect(exact.asked).toBe(0);
      }),
      options,
    );
  });

  test('whatever the fields are, both accept it or both refuse it', { timeout }, () => {
    const outcomes = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(oddList, pieceLengths, sizes, (text, lengths, size) => {
        const body = Buffer.from(text);
        const expected = outcome(() => parse(body));
        expectReading(inPieces(body, lengths), size, expected);
        outcomes[expected === 'refused' ? 'refused' : 'accepted'] += 1;
      }),
      options,
    );
    expect(Math.min(outcomes.accepted, outcomes.refused)).toBeGreaterThan(numRuns / 20);
  });

  test('what is copied, with bytes changed or not: both accept it or both refuse it', { timeout }, () => {
    fc.assert(
      fc.property(nearlyCopied, fc.option(changes), pieceLengths, sizes, (text, edits, lengths, size) => {
        const body = edits === null ? Buffer.from(text) : changed(text, edits);
        expectReading(
          inPieces(body, lengths),
          size,
          outcome(() => parse(body)),
        );
      }),
      options,
    );
  });

  test('of a pet that is there twice, copied or read, the first item alone', { timeout }, () => {
    fc.assert(
      fc.property(runsOfIds, fc.array(fc.boolean()), pieceLengths, sizes, (ids, isSpaced, lengths, size) => {
        const items = ids.map((id, index) => {
          const isFirst = ids.indexOf(id) === index;
          return {
            text: `{${isSpaced[index] ? ' ' : ''}"petId":${id},"quantity":${index},"status":"sold"}`,
            isFirst,
            id,
            index,
          };
        });
        const body = Buffer.from(`[${items.map(({ text }) => text).join()}]`);
        const firsts = items.filter(({ isFirst }) => isFirst);
        const expected = firsts.map(({ id, index }) => ({ petId: id, quantity: index, status: 'sold' as const }));
        expect(copy(inPieces(body, lengths), size, new SeenPets())).toBe(linesOf(expected));
      }),
      options,
    );
  });

  test('where bytes have been changed, both accept it or both refuse it', { timeout }, () => {
    let accepted = 0;
    fc.assert(
      fc.property(spelledList, changes, pieceLengths, sizes, ({ text }, edits, lengths, size) => {
        const body = changed(text, edits);
        const expected = outcome(() => parse(body));
        expectReading(inPieces(body, lengths), size, expected);
        if (expected !== 'refused') accepted += 1;
      }),
      options,
    );
    expect(accepted).toBeGreaterThan(numRuns / 100);
  });
});

describe('a name twice in one object', () => {
  const listOf = (fields: string) => Buffer.from(`[{"petId":1,"quantity":2,"status":"sold",${fields}}]`);
  test.each([
    ['"x":1,"x":1', 'is read'],
    ['"x":1,"x":2', 'refused'],
    ['"x":1,"\\u0078":2', 'refused'],
    ['"é":1,"\\u00e9":2', 'refused'],
    ['"😀":1,"\\ud83d\\uDE00":2', 'refused'],
    ['"\\ud83d":1,"\\ude00":2', 'is read'],
    ['"x":{"y":1,"y":2}', 'refused'],
    ['"x":{"y":1},"y":2', 'is read'],
    ['"x":[{"y":1},{"y":2}]', 'is read'],
    ['"x":{"y":{"y":{"y":1}}}', 'is read'],
    ['"petId":1', 'is read'],
    ['"petId":1.0', 'refused'],
    ['"pet\\u0049d":2', 'refused'],
    ['"x":{"petId":1,"petId":2}', 'refused'],
    ['"isLosslessNumber":true', 'is read'],
    ['"__proto__":{"petId":2},"toString":1', 'is read'],
    ['"__proto__":1,"__proto__":2', 'refused'],
  ])('%s', (fields, expected) => {
    const body = listOf(fields);
    const found = outcome(() => scan(inPieces(body, [7])));
    expect(found).toEqual(outcome(() => parse(body)));
    expect(found === 'refused' ? 'refused' : 'is read').toBe(expected);
  });

  test.each([
    [1000, 'is read'],
    [999, 'refused'],
  ])('of a thousand names, %i are different', (different, expected) => {
    const names = Array.from({ length: 1000 }, (_, index) => `"name ${index % different}":${index}`);
    const found = outcome(() => scan([listOf(`"x":{${names.join(',')}}`)]));
    expect(found === 'refused' ? 'refused' : 'is read').toBe(expected);
  });

  test.each([10, 250, 255, 256, 257, 1000])('%i arrays, one in the other, are read', (depth) => {
    const body = listOf(`"x":${'['.repeat(depth)}${']'.repeat(depth)}`);
    const exact = inventoryDecoder();
    expect(scan([body], 3, exact)).toEqual(parse(body));
    expect(exact.asked).toBe(depth > 256 ? 1 : 0);
    expect(outcome(() => scan([Buffer.from(body.toString().replace(']', '}'))]))).toBe('refused');
  });

  test('a hundred thousand arrays, one in the other, are refused as the parser does', () => {
    const body = listOf(`"x":${'['.repeat(100_000)}${']'.repeat(100_000)}`);
    expect(outcome(() => scan([body]))).toBe('refused');
    expect(outcome(() => parse(body))).toBe('refused');
  });
});
