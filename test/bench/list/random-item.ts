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
const numberEndings = ['', '', '', '.0', 'e0', '.000E+0', '0e-1'];
const spaces = ['', '', ' ', '\n    ', '\t'];

/** A spelling of items that is drawn once: order, white space, escapes, endings of numbers, other fields. */
export function randomItem(seed: number): Value {
  const random = generator(seed);
  const draw = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const [before, behind, inside] = [draw(spaces), draw(spaces), draw(spaces)];
  const name = (text: string) => (random() < 0.1 ? escapeFirst(text) : `"${text}"`);
  const status = draw([escapeFirst, (text: string) => `"${text}"`]);
  const number = (value: (pet: Pet) => string | number): Value => {
    const ending = draw(numberEndings);
    // A zero with a zero behind it is no number.
    return (pet) => `${value(pet)}${String(value(pet)) === '0' ? '' : ending}`;
  };
  const members: [string, Value][] = [
    [name('petId'), number(({ petId }) => petId)],
    [name('quantity'), number(({ quantity }) => quantity)],
    [name('status'), (pet) => status(pet.status)],
    ...Array.from({ length: Math.floor(random() * 5) }, (_, index): [string, Value] => [
      name(`extra ${index}`),
      draw(extras),
    ]),
  ];
  const order = members.map((member) => ({ member, key: random() })).sort((a, b) => a.key - b.key);
  return (pet, index) =>
    `{${order.map(({ member: [text, value] }) => `${before}${text}${inside}:${behind}${value(pet, index)}`).join(',')}${before}}`;
}

/** A JSON text whose first letter is an escape. */
export const escapeFirst = (text: string) => `"\\u00${text.charCodeAt(0).toString(16)}${text.slice(1)}"`;

/** Numbers from 0 up to 1, the same for the same seed: mulberry32. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
