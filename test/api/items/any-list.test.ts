import { describe, expect, test } from 'vitest';
import fc, { property } from '../../support/properties.ts';
import { outcome, parse, read } from './readings.ts';
import { inPieces, oddList, spelledList } from './spellings.ts';

/** Number of lists in all: `PETSTOCK_RUNS=1000000 PETSTOCK_SEED=1 npx vitest run --project unit test/api/items/any-list.test.ts` */
const numRuns = Math.ceil(Number(process.env.PETSTOCK_RUNS ?? 300) / 3);
const timeout = 20_000 + 20 * numRuns;
const options = { numRuns, testTimeout: timeout };

const pieceLengths = fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 6 });
const partLengths = fc.integer({ min: 1, max: 200 });

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

/** Items in their shortest spelling. */
const shortest = fc
  .array(
    fc.tuple(
      fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.bigInt({ min: 0n, max: 200n })),
      fc.oneof(fc.maxSafeInteger(), fc.integer({ min: -20, max: 2000 })),
      fc.constantFrom('available', 'pending', 'sold'),
    ),
    { minLength: 1, maxLength: 8 },
  )
  .map((items) => `[${items.map(([id, n, word]) => `{"petId":${id},"quantity":${n},"status":"${word}"}`).join()}]`);

describe('reading a list in parts', () => {
  property(
    'reads any items in any spelling like the exact parser',
    [spelledList, pieceLengths, partLengths],
    options,
    async (list, lengths, partLength) => {
      const body = Buffer.from(list.text);
      expect(await read(inPieces(body, lengths), partLength)).toEqual(list.items);
      expect(parse(body)).toEqual(list.items);
    },
  );

  const odd = oddList.map((text) => Buffer.from(text));
  const edited = fc.option(changes, { nil: [] });
  const short = fc.tuple(shortest, edited).map(([text, edits]) => changed(text, edits));
  const spelled = fc.tuple(spelledList, edited).map(([{ text }, edits]) => changed(text, edits));

  test.each([
    ['lists with odd fields', odd, 0.05],
    ['the shortest spelling, with bytes changed or not', short, 0],
    ['any spelling, with bytes changed or not', spelled, 0.01],
  ])('accepts and rejects the same bytes as the exact parser: %s', { timeout }, async (_what, bodies, least) => {
    const outcomes = { accepted: 0, refused: 0 };
    const agree = fc.asyncProperty(bodies, pieceLengths, partLengths, async (body, lengths, partLength) => {
      const expected = await outcome(() => parse(body));
      expect(await outcome(() => read(inPieces(body, lengths), partLength))).toEqual(expected);
      outcomes[expected === 'refused' ? 'refused' : 'accepted'] += 1;
    });
    await fc.assert(agree, { numRuns });
    expect(Math.min(outcomes.accepted, outcomes.refused)).toBeGreaterThan(numRuns * least);
  });
});

const listOf = (fields: string) => Buffer.from(`[{"petId":1,"quantity":2,"status":"sold",${fields}}]`);
const names = (different: number) => Array.from({ length: 1000 }, (_, index) => `"name ${index % different}":${index}`);

const repeated: readonly (readonly [string, string])[] = [
  ['"x":1,"x":1', 'is read'],
  ['"x":1,"x":2', 'is read'],
  ['"x":1,"\\u0078":2', 'is read'],
  ['"é":1,"\\u00e9":2', 'is read'],
  ['"😀":1,"\\ud83d\\uDE00":2', 'is read'],
  ['"\\ud83d":1,"\\ude00":2', 'is read'],
  ['"x":{"y":1,"y":2}', 'is read'],
  ['"x":{"y":1},"y":2', 'is read'],
  ['"x":[{"y":1},{"y":2}]', 'is read'],
  ['"x":{"y":{"y":{"y":1}}}', 'is read'],
  ['"petId":1', 'is read'],
  ['"petId":1.0', 'refused'],
  ['"pet\\u0049d":2', 'refused'],
  ['"x":{"petId":1,"petId":2}', 'refused'],
  ['"quantity":3', 'refused'],
  ['"status":"pending"', 'refused'],
  ['"isLosslessNumber":true', 'is read'],
  ['"__proto__":{"petId":2},"toString":1', 'is read'],
  ['"__proto__":1,"__proto__":2', 'is read'],
  [`"x":{${names(1000)}}`, 'is read'],
  [`"x":{${names(999)}}`, 'is read'],
];
test.each(repeated.map(([fields, expected]) => [fields.slice(0, 60), fields, expected] as const))(
  'decides like the exact parser whether a name appears twice: %s',
  async (_start, fields, expected) => {
    const body = listOf(fields);
    const found = await outcome(() => read(inPieces(body, [7])));
    expect(found).toEqual(await outcome(() => parse(body)));
    expect(found === 'refused' ? 'refused' : 'is read').toBe(expected);
  },
);

const usual = '{"petId":9007199254740993,"quantity":2,"status":"sold"}';

/** Long digits, or what looks like a field, in a text or in another field. */
const misleading = [
  String.raw`"name":"\"petId\": 12345678901234567890"`,
  String.raw`"name":"{\"petId\":12345678901234567890,\"quantity\":12345678901234567890}"`,
  String.raw`"x\"petId":12345678901234567890`,
  '"petid":12345678901234567890,"x":{"petId":12345678901234567890}',
  '"name":"petId","x":"quantity","y":["status","status"]',
  '"x":{"petId":1,"quantity":"2","status":{"status":[]}}',
  '"x":[{"petId":1},{"petId":"2"},[{"petId":3}]]',
  '"name":"]},{","x":["]},{",{}]',
];

test.each(misleading)('reads %s beside an item exactly, in parts of any length', async (more) => {
  const body = Buffer.from(
    `[${[usual, `${usual.slice(0, -1)},${more}}`, `{${more},${usual.slice(1)}`, usual].join(' , ')}]`,
  );
  const expected = parse(body);
  expect(expected.map(({ petId }) => petId)).toEqual(Array(4).fill(9007199254740993n));
  for (let partLength = 1; partLength < body.length; partLength += 5) {
    expect(await read(inPieces(body, [7]), partLength)).toEqual(expected);
  }
});

test.each(['"petId":"9007199254740993"', '"quantity":"3"', String.raw`"pet\u0049d":"9007199254740993"`])(
  'refuses a string in place of a number: %s',
  async (field) => {
    const fields = ['"petId":1', '"quantity":2', '"status":"sold"'].filter((one) => one[1] !== field[1]);
    const body = Buffer.from(`[${usual},{${[...fields, field].join(',')}}]`);
    await expect(read([body])).rejects.toThrow(/"(?:petId|quantity)" in item 2 of the response is not an int/);
  },
);

test.each([10, 1000])('reads %i nested arrays', async (depth) => {
  const body = listOf(`"x":${'['.repeat(depth)}${']'.repeat(depth)}`);
  expect(await read([body])).toEqual(parse(body));
  expect(await outcome(() => read([Buffer.from(body.toString().replace(']', '}'))]))).toBe('refused');
});
