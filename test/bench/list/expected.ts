import { foreignStock, type Pet, stock } from './stock.ts';

/** Returns the rows that an output should have, in order. A row is its values, separated by spaces. */
export type Expected = (pets: number) => Iterable<string>;

export const minQuantity = 100;

export const everything: Expected = (pets) => rows(stock(pets));

export function* first(pets: number): Generator<string> {
  const [row = ''] = everything(pets);
  yield row;
}

export const everythingForeign: Expected = (pets) => rows(foreignStock(pets));

export const filtered: Expected = (pets) =>
  rows(stock(pets), ({ status, quantity }) => status === 'available' && quantity >= minQuantity);

export function* fields(pets: number): Generator<string> {
  for (const { petId, quantity } of stock(pets)) yield `${quantity} ${petId}`;
}

/** Returns the rows by quantity. Pets with equal quantities keep their order. */
export const sorted: Expected = (pets) => rows([...stock(pets)].sort((a, b) => a.quantity - b.quantity));

/** Yields the number of pets and of units, by status and in total. */
export function* summary(pets: number): Generator<string> {
  for (const wanted of ['available', 'pending', 'sold', '']) {
    const own = [...stock(pets)].filter(({ status }) => wanted === '' || status === wanted);
    yield `${wanted} ${own.length} ${own.reduce((units, { quantity }) => units + quantity, 0)}`.trim();
  }
}

/** Statuses in other languages contain a letter that is not ASCII. */
const numbersAndStatuses =
  /-?[\d.]+(?:e[+-]?\d+)?|\b(?:available|pending|sold)\b|[a-z]*[\u0080-\uffff][a-z\u0080-\uffff]*/gi;

/** Returns the numbers and statuses of a line in any format; undefined for a heading, which has none. */
export function rowIn(line: string): string | undefined {
  return line.match(numbersAndStatuses)?.join(' ');
}

function* rows(pets: Iterable<Pet>, isWanted: (pet: Pet) => boolean = () => true): Generator<string> {
  for (const pet of pets) {
    if (isWanted(pet)) yield rowOf(pet);
  }
}

const rowOf = ({ petId, quantity, status }: Pet) => `${petId} ${quantity} ${status}`;
