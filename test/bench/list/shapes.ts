import { type Pet, stock } from './stock.ts';

/** A legal spelling of a list: what stands between the brackets for each pet, and between two pets. */
export interface Shape {
  readonly name: string;
  item(pet: Pet, index: number): string;
  /** Between two items; a comma without it. */
  readonly between?: string;
  /** The answer is compressed. */
  readonly gzip?: boolean;
  /** The body comes in HTTP chunks of so many bytes. */
  readonly chunk?: number;
}

const extra = (text: (pet: Pet, index: number) => string) => (pet: Pet, index: number) =>
  `{${compact(pet).slice(1, -1)},${text(pet, index)}}`;
const compact = ({ petId, quantity, status }: Pet) => `{"petId":${petId},"quantity":${quantity},"status":"${status}"}`;

const details = (_pet: Pet, index: number) =>
  `"owner":{"name":"Ann ${index}","address":{"city":"Bern","zip":"${3000 + (index % 99)}"}},` +
  `"tags":[${Array.from({ length: index % 4 }, (_, tag) => `"tag ${tag}"`).join(',')}],"updated":"2026-11-21T08:00:00Z"`;

/** Every status begins with a letter that is escaped. */
const escapeFirst = (status: string) => `\\u00${status.charCodeAt(0).toString(16)}${status.slice(1)}`;

export const compactShape: Shape = { name: 'compact', item: compact };

export const shapes: readonly Shape[] = [
  compactShape,
  { name: 'one extra field', item: extra((_, index) => `"name":"pet ${index}"`) },
  { name: 'a nested value with an escape', item: extra(() => String.raw`"x":{"a":[1,"\""]}`) },
  { name: 'nested object, tags, date', item: extra(details) },
  { name: 'an escape in the status', item: (pet) => compact({ ...pet, status: escapeFirst(pet.status) }) },
  { name: 'status not ASCII', item: (pet) => compact({ ...pet, status: pet.status.replace('v', 'v\u00e4') }) },
  { name: '"quantity":5.0', item: (pet) => compact(pet).replace(',"status', '.0,"status') },
  { name: '"quantity":5e0', item: (pet) => compact(pet).replace(',"status', 'e0,"status') },
  {
    name: 'pretty',
    item: ({ petId, quantity, status }) =>
      `\n  {\n    "petId": ${petId},\n    "quantity": ${quantity},\n    "status": "${status}"\n  }`,
  },
  {
    name: 'a space behind colons and commas',
    between: ', ',
    item: (pet) => compact(pet).replaceAll(/(?<=":|[\d"],)/g, ' '),
  },
  {
    name: 'other order',
    item: ({ petId, quantity, status }) => `{"status":"${status}","quantity":${quantity},"petId":${petId}}`,
  },
  { name: 'gzip', item: compact, gzip: true },
  { name: 'chunks of 64 bytes', item: compact, chunk: 64 },
];

export function bodyOf(pets: number, { item, between = ',' }: Shape): Buffer {
  const pieces: Buffer[] = [];
  let piece = '[';
  let index = 0;
  for (const pet of stock(pets)) {
    piece += `${index === 0 ? '' : between}${item(pet, index)}`;
    index += 1;
    if (piece.length > 2 ** 20) {
      pieces.push(Buffer.from(piece));
      piece = '';
    }
  }
  pieces.push(Buffer.from(`${piece}]`));
  return Buffer.concat(pieces);
}
