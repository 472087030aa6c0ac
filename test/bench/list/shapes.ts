import { randomItem } from './random-item.ts';
import { type Pet, stock } from './stock.ts';

/** A way to spell a list that means the same. */
export interface Shape {
  readonly name: string;
  item(pet: Pet, index: number): string;
  /** Between two items; a comma without it. */
  readonly between?: string;
  /** The statuses are not ASCII. */
  readonly isForeign?: boolean;
  readonly isGzip?: boolean;
  /** The body comes in HTTP chunks of so many bytes. */
  readonly chunk?: number;
}

const compactItem = ({ petId, quantity, status }: Pet) =>
  `{"petId":${petId},"quantity":${quantity},"status":"${status}"}`;
const withMore = (more: (index: number) => string) => (pet: Pet, index: number) =>
  `${compactItem(pet).slice(0, -1)},${more(index)}}`;
const withQuantity = (ending: string) => (pet: Pet) => compactItem(pet).replace(',"status', `${ending},"status`);

const tags = (count: number) => Array.from({ length: count }, (_, index) => `"tag ${index}"`).join(',');
const details = (index: number) =>
  `"owner":{"name":"Ann ${index}","address":{"city":"Bern","zip":"${3000 + (index % 99)}"}},` +
  `"tags":[${tags(index % 4)}],"updated":"2026-11-21T08:00:00Z"`;

/** The first letter of the status is an escape. */
const escaped = (pet: Pet) =>
  compactItem({ ...pet, status: `\\u00${pet.status.charCodeAt(0).toString(16)}${pet.status.slice(1)}` });

const pretty = ({ petId, quantity, status }: Pet) =>
  `\n  {\n    "petId": ${petId},\n    "quantity": ${quantity},\n    "status": "${status}"\n  }`;

export const compact: Shape = { name: 'compact', item: compactItem };
export const nested: Shape = { name: 'nested object, tags, date', item: withMore(details) };

/** @param seed of the last, which is another one each time */
export function shapesOf(seed: number): readonly Shape[] {
  return [
    { name: 'one extra field', item: withMore((index) => `"name":"pet ${index}"`) },
    { name: String.raw`"x":{"a":[1,"\""]}`, item: withMore(() => String.raw`"x":{"a":[1,"\""]}`) },
    nested,
    { name: 'an escape in the status', item: escaped },
    { name: 'status not ASCII', item: compactItem, isForeign: true },
    { name: '"quantity":5.0', item: withQuantity('.0') },
    { name: '"quantity":5e0', item: withQuantity('e0') },
    { name: 'pretty', item: pretty },
    { name: 'a space behind colons and commas', item: (pet) => pretty(pet).replaceAll(/\s+/g, ' '), between: ', ' },
    {
      name: 'other order',
      item: ({ petId, quantity, status }) => `{"status":"${status}","quantity":${quantity},"petId":${petId}}`,
    },
    { name: 'gzip', item: compactItem, isGzip: true },
    { name: 'chunks of 64 bytes', item: compactItem, chunk: 64 },
    { name: `drawn at random, seed ${seed}`, item: randomItem(seed) },
  ];
}

/** The body that a service would answer GET /inventory with. */
export function bodyOf(pets: number, { item, between = ',', isForeign = false }: Shape): Buffer {
  const pieces: Buffer[] = [];
  let piece = '[';
  let index = 0;
  for (const pet of stock(pets, isForeign)) {
    piece += `${index === 0 ? '' : between}${item(pet, index)}`;
    index += 1;
    if (piece.length < 2 ** 20) continue;
    pieces.push(Buffer.from(piece));
    piece = '';
  }
  pieces.push(Buffer.from(`${piece}]`));
  return Buffer.concat(pieces);
}
