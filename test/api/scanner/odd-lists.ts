import fc from '../../support/seeded-fast-check.ts';
import { type Member, objectText } from './spellings.ts';

const oneOf = (texts: string) => fc.constantFrom(...texts.split(' '));

const names = oneOf('petId quantity status a b é 😀 __proto__ isLosslessNumber');

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

const members: fc.Arbitrary<Member> = fc.record({ name: names, value: fc.oneof(numbers, texts, others) });

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

/** Lists of objects with few names and many odd values: some are lists of items, and more are not. */
export const oddList: fc.Arbitrary<string> = fc
  .array(fc.oneof({ weight: 5, arbitrary: likelyItems }, anyObjects), { minLength: 1, maxLength: 2 })
  .map((objects) => `[${objects.join(',')}]`);
