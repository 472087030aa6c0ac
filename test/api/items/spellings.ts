import type { InventoryItem } from '../../../src/inventory/items.ts';
import { petIds } from '../../inventory/arbitraries.ts';
import fc, { anyText } from '../../support/properties.ts';

const spaces = fc.oneof(
  { weight: 6, arbitrary: fc.constant('') },
  fc.string({ unit: fc.constantFrom(' ', '\n', '\r', '\t'), maxLength: 3 }),
);

/** Generates JSON strings with this text, in which characters may be escaped needlessly. */
function textSpelling(text: string): fc.Arbitrary<string> {
  const escaped = fc.array(fc.boolean(), { minLength: text.length, maxLength: text.length }).map((escapes) => {
    const units = Array.from({ length: text.length }, (_, index) => {
      const code = text.charCodeAt(index);
      return escapes[index] || code < 0x20 || (code >= 0xd800 && code <= 0xdfff)
        ? `\\u${code.toString(16).padStart(4, '0')}`
        : JSON.stringify(text.charAt(index)).slice(1, -1);
    });
    return `"${units.join('')}"`;
  });
  return fc.oneof({ weight: 5, arbitrary: fc.constant(JSON.stringify(text)) }, escaped);
}

/** Generates JSON numbers with this value, some with a needless point or exponent. */
function integerSpelling(value: bigint): fc.Arbitrary<string> {
  const zeros = fc.integer({ min: 1, max: 3 }).map((count) => '0'.repeat(count));
  return fc.oneof(
    { weight: 8, arbitrary: fc.constant(`${value}`) },
    zeros.map((zeros) => `${value}.${zeros}`),
    fc.constantFrom('e0', 'E+0', 'e-0').map((exponent) => `${value}${exponent}`),
    zeros.map((zeros) => `${value}${value === 0n ? '' : zeros}e-${zeros.length}`),
  );
}

export interface Member {
  readonly name: string;
  readonly value: string;
}

const unknownMembers: fc.Arbitrary<Member> = fc.record({
  name: fc.oneof(fc.string(), fc.constantFrom('petID', 'name', 'statusX', 'p', '', 'quantity ')),
  value: fc.oneof(
    fc.json({ maxDepth: 3 }),
    fc.constantFrom('"]},{"', '"\\"}"', '{"petId":1}', '[[],{}]', 'true', 'false ', 'null', '[ ]', '{ }'),
    fc.constantFrom(
      '-0',
      '0.50',
      '1E400',
      '-1.5e-3',
      '1'.repeat(50),
      '"\\ud83d"',
      '"\\ud83d\\ude00\\/\\b"',
      '"\x7f😀"',
    ),
  ),
});

function memberText({ name, value }: Member): fc.Arbitrary<string> {
  return fc
    .tuple(textSpelling(name), spaces, spaces)
    .map(([key, before, behind]) => `${key}${before}:${behind}${value}`);
}

/** Generates objects with these members, in any order and with any white space. */
export function objectText(members: readonly Member[]): fc.Arbitrary<string> {
  const separators = fc.array(fc.tuple(spaces, spaces), { minLength: members.length, maxLength: members.length });
  const order = fc.shuffledSubarray([...members], { minLength: members.length });
  return fc
    .tuple(
      order.chain((all) => fc.tuple(...all.map(memberText))),
      separators,
      spaces,
    )
    .map(([texts, gaps, inside]) => {
      const spaced = texts.map((text, index) => `${gaps[index]?.[0] ?? ''}${text}${gaps[index]?.[1] ?? ''}`);
      return `{${inside}${spaced.join(',')}}`;
    });
}

/** A JSON text, and whether a field is repeated in it. */
interface Spelled {
  readonly text: string;
  readonly repeats: boolean;
}

/** Generates JSON texts of one item. */
export function itemText({ petId, quantity, status }: InventoryItem): fc.Arbitrary<Spelled> {
  const plain = fc.constant(`{"petId":${petId},"quantity":${quantity},"status":${JSON.stringify(status)}}`);
  const known = fc
    .tuple(integerSpelling(petId), integerSpelling(BigInt(quantity)), textSpelling(status))
    .map(([id, count, text]): Member[] => [
      { name: 'petId', value: id },
      { name: 'quantity', value: count },
      { name: 'status', value: text },
    ]);
  const others = fc.oneof(
    { weight: 4, arbitrary: fc.constant([]) },
    fc.uniqueArray(unknownMembers, { maxLength: 3, selector: ({ name }) => name }),
  );
  const repeated = fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, fc.constant(true));
  const spelled = fc
    .tuple(known, others, repeated)
    .chain(([members, more, repeats]) =>
      objectText([...members, ...more, ...(repeats ? members.slice(0, 1) : [])]).map((text) => ({ text, repeats })),
    );
  return fc.oneof({ weight: 3, arbitrary: plain.map((text) => ({ text, repeats: false })) }, spelled);
}

export const anyItem: fc.Arbitrary<InventoryItem> = fc.record({
  petId: fc.oneof(petIds, fc.bigInt({ min: -20n, max: 10n ** 12n }), fc.constantFrom(2n ** 63n - 1n, -(2n ** 63n))),
  quantity: fc.oneof(fc.maxSafeInteger(), fc.integer({ min: -5, max: 200 })).map((quantity) => quantity + 0),
  status: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom('available', 'pending', 'sold', 'sole', '') },
    fc.string(),
    anyText(),
  ),
});

export interface SpelledList extends Spelled {
  readonly items: readonly InventoryItem[];
}

/** Lists of items, each with a JSON text, which seldom has a byte order mark. */
export const spelledList: fc.Arbitrary<SpelledList> = fc.array(anyItem, { maxLength: 8 }).chain((items) =>
  fc
    .record({
      texts: fc.tuple(...items.map(itemText)),
      gaps: fc.array(spaces, { minLength: 2 * items.length + 3, maxLength: 2 * items.length + 3 }),
      mark: fc.oneof({ weight: 9, arbitrary: fc.constant('') }, fc.constant('\ufeff')),
    })
    .map(({ texts, gaps, mark }) => {
      const [before = '', inside = '', behind = '', ...others] = gaps;
      const spaced = texts.map(({ text }, index) => `${others[2 * index] ?? ''}${text}${others[2 * index + 1] ?? ''}`);
      const repeats = texts.some((text) => text.repeats);
      return { items, repeats, text: `${mark}${before}[${inside}${spaced.join(',')}]${behind}` };
    }),
);

/** Splits bytes into pieces of these lengths in turn. Pieces have at least one byte. */
export function inPieces(bytes: Uint8Array, lengths: readonly number[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const length = Math.max(1, lengths[turn % Math.max(1, lengths.length)] ?? 1);
    pieces.push(bytes.subarray(at, at + length));
    at += length;
  }
  return pieces;
}

const oneOf = (texts: string) => fc.constantFrom(...texts.split(' '));

const fewNames = oneOf('petId quantity status a b é 😀 __proto__ isLosslessNumber');

const withPoint = (digits: string, places: number) =>
  digits.length > places ? `${digits.slice(0, -places)}.${digits.slice(-places)}` : digits;
const decimals = fc
  .tuple(fc.bigInt({ min: 0n, max: 10n ** 20n }), fc.integer({ min: 1, max: 20 }), fc.integer({ min: -20, max: 20 }))
  .map(([digits, places, exponent]) => `${withPoint(`${digits}`, places)}e${exponent}`);
const zeros = (count: number) => '0'.repeat(count);
const numbers = fc.oneof(
  oneOf('1 2 -0 1.0 1e0 10e-1 1.5 15e-1 1.5e1 0e999 0.0e-9 1e0000 00 1. 1e18 1e19 1e-1'),
  oneOf('9007199254740991 9007199254740992 9007199254740993e0 -9007199254740991.0 -9007199254740992'),
  oneOf('9223372036854775807 9223372036854775808 9223372036854775807.0 922337203685477580.7e1 1e0'),
  oneOf('-9223372036854775808 -9223372036854775809 -9223372036854775808e0 9223372037000000000'),
  fc.constantFrom(`1${zeros(30)}e-30`, `1.${zeros(40)}`, `1.${zeros(41)}`, `0.${zeros(39)}1e40`, `1${zeros(40)}e-40`),
  decimals,
);
const likelyNumbers = fc.oneof({ weight: 3, arbitrary: oneOf('1 2.0 -3e0 40e-1 0') }, numbers);

const texts = oneOf(String.raw`"sold" "so\u006cd" "\ud83d\ude00" "\ud83d" "\ude00" "\u00e9" "" "\x" "sold`);
const others = oneOf(
  String.raw`{} [] true nul {"a":1,"a":1} {"a":1,"\u0061":2} [1,] {"a":{"b":[1,{"c":[]}]}} {"a":1,}`,
);

const members: fc.Arbitrary<Member> = fc.record({ name: fewNames, value: fc.oneof(numbers, texts, others) });

/** An object with the fields of an item and some more. */
const likelyItems = fc
  .tuple(fc.array(members, { maxLength: 2 }), likelyNumbers, likelyNumbers, texts)
  .chain(([more, id, count, text]) =>
    objectText([
      ...more,
      { name: 'petId', value: id },
      { name: 'quantity', value: count },
      { name: 'status', value: text },
    ]),
  );
const anyObjects = fc.array(members, { maxLength: 4 }).chain(objectText);

/** Lists of objects with few names and many odd values. Most of them are not lists of items. */
export const oddList: fc.Arbitrary<string> = fc
  .array(fc.oneof({ weight: 5, arbitrary: likelyItems }, anyObjects), { minLength: 1, maxLength: 2 })
  .map((objects) => `[${objects.join(',')}]`);
