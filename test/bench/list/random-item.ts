import { boolean, constantFrom, record, sample, shuffledSubarray, subarray } from 'fast-check';
import type { Pet } from './stock.ts';

type Value = (pet: Pet, index: number) => string;

const extras: readonly Value[] = [
  (_pet, index) => `"pet ${index}"`,
  (_pet, index) => String(index / 8),
  (_pet, index) => (index % 3 === 0 ? 'null' : String(index % 3 === 1)),
  () => '-1.5E-300',
  (_pet, index) => String.raw`"B\u00e4r \"${index}\" 🐻\n"`,
  (_pet, index) => `[${Array.from({ length: index % 5 }, (_, value) => value * index).join(', ')}]`,
  (_pet, index) => `{"a": {"b": [[], {}, {"c": ${index}}]}, "d": "größer"}`,
  () => `"${'long '.repeat(40)}"`,
];
const names = ['petId', 'quantity', 'status', ...extras.map((_, index) => `extra ${index}`)];
const space = constantFrom('', '', ' ', '\n    ', '\t');
const ending = constantFrom('', '', '', '.0', 'e0', '.000E+0', '0e-1');
const spelling = record({
  before: space,
  behind: space,
  inside: space,
  idEnding: ending,
  quantityEnding: ending,
  order: shuffledSubarray(names, { minLength: names.length }),
  leftOut: subarray(names.slice(3), { minLength: 4 }),
  escaped: subarray(names, { maxLength: 2 }),
  hasEscapedStatus: boolean(),
}).map(({ before, behind, inside, idEnding, quantityEnding, order, leftOut, escaped, hasEscapedStatus }): Value => {
  // JSON has no numbers such as `00`, so a zero gets no ending.
  const number = (value: string, end: string) => (value === '0' ? value : value + end);
  const values: readonly Value[] = [
    ({ petId }) => number(petId, idEnding),
    ({ quantity }) => number(String(quantity), quantityEnding),
    ({ status }) => (hasEscapedStatus ? escapeFirst(status) : `"${status}"`),
    ...extras,
  ];
  const members = order
    .filter((name) => !leftOut.includes(name))
    .map((name) => {
      const key = `${before}${escaped.includes(name) ? escapeFirst(name) : `"${name}"`}${inside}:${behind}`;
      return { key, value: values[names.indexOf(name)] as Value };
    });
  return (pet, index) => `{${members.map(({ key, value }) => key + value(pet, index)).join(',')}${before}}`;
});

/** Returns one random spelling of items: the order, white space, escapes, endings of numbers, and further fields. */
export const randomItem = (seed: number): Value => sample(spelling, { seed, numRuns: 1 })[0] as Value;

/** Returns a JSON string whose first letter is escaped. */
export const escapeFirst = (text: string) => `"\\u00${text.charCodeAt(0).toString(16)}${text.slice(1)}"`;
