import { escapeFirst, randomItem } from './random-item.ts';
import { changedStock, foreignStock, jsonOf, type Pet, shuffledStock, stock } from './stock.ts';

export interface Shape {
  readonly name: string;
  item(pet: Pet, index: number): string;
  /** The text between two items; default: a comma. */
  readonly between?: string;
  /** Returns the pets; default: `stock`. */
  readonly stock?: (pets: number) => Iterable<Pet>;
  readonly isGzip?: boolean;
  /** The length in bytes of the HTTP chunks in which the body is sent. */
  readonly chunk?: number;
}

const withMore = (more: (index: number) => string) => (pet: Pet, index: number) =>
  `${jsonOf(pet).slice(0, -1)},${more(index)}}`;
const withQuantity = (ending: string) => (pet: Pet) => jsonOf(pet).replace(',"status', `${ending},"status`);

const tags = (count: number) => Array.from({ length: count }, (_, index) => `"tag ${index}"`).join(',');
const details = (index: number) =>
  `"owner":{"name":"Ann ${index}","address":{"city":"Bern","zip":"${3000 + (index % 99)}"}},` +
  `"tags":[${tags(index % 4)}],"updated":"2026-11-21T08:00:00Z"`;

const escaped = (pet: Pet) => jsonOf(pet).replace(`"${pet.status}"`, escapeFirst(pet.status));

const pretty = ({ petId, quantity, status }: Pet) =>
  `\n  {\n    "petId": ${petId},\n    "quantity": ${quantity},\n    "status": "${status}"\n  }`;

export const compact: Shape = { name: 'compact', item: jsonOf };
const nested: Shape = { name: 'nested object, tags, date', item: withMore(details) };

/**
 * The right-hand lists of `inventory diff`: the quantities differ for every tenth pet, for every pet, or for every
 * tenth pet in random order.
 */
export const variants: readonly Shape[] = [
  { name: 'tenth', item: jsonOf, stock: (pets) => changedStock(pets, 10) },
  { name: 'every', item: jsonOf, stock: (pets) => changedStock(pets, 1) },
  { name: 'shuffled', item: jsonOf, stock: shuffledStock },
];

/** @param seed the seed of the last spelling, which is random */
export function shapesOf(seed: number): readonly Shape[] {
  return [
    { name: 'one extra field', item: withMore((index) => `"name":"pet ${index}"`) },
    { name: String.raw`"x":{"a":[1,"\""]}`, item: withMore(() => String.raw`"x":{"a":[1,"\""]}`) },
    nested,
    { name: 'an escape in the status', item: escaped },
    { name: 'status not ASCII', item: jsonOf, stock: foreignStock },
    { name: '"quantity":5.0', item: withQuantity('.0') },
    { name: '"quantity":5e0', item: withQuantity('e0') },
    { name: 'pretty', item: pretty },
    { name: 'a space behind colons and commas', item: (pet) => pretty(pet).replaceAll(/\s+/g, ' '), between: ', ' },
    {
      name: 'other order',
      item: ({ petId, quantity, status }) => `{"status":"${status}","quantity":${quantity},"petId":${petId}}`,
    },
    { name: 'gzip', item: jsonOf, isGzip: true },
    { name: 'chunks of 64 bytes', item: jsonOf, chunk: 64 },
    { name: `drawn at random, seed ${seed}`, item: randomItem(seed) },
  ];
}

/** Returns the body of a response to GET /inventory. */
export function bodyOf(pets: number, { item, between = ',', stock: petsOf = stock }: Shape): Buffer {
  const pieces: Buffer[] = [];
  let piece = '[';
  let index = 0;
  for (const pet of petsOf(pets)) {
    piece += `${index === 0 ? '' : between}${item(pet, index)}`;
    index += 1;
    if (piece.length < 2 ** 20) continue;
    pieces.push(Buffer.from(piece));
    piece = '';
  }
  pieces.push(Buffer.from(`${piece}]`));
  return Buffer.concat(pieces);
}
