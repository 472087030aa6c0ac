import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { WrongResult } from '../support/rounds.ts';
import { foreignStock, type Pet, stock } from './stock.ts';

/** The rows that an output should have, in their order, each as its values with a space between. */
export type Expected = (pets: number) => Iterable<string>;

export const leastQuantity = 100;

export const everything: Expected = (pets) => rows(stock(pets));

export function* first(pets: number): Generator<string> {
  const [row = ''] = everything(pets);
  yield row;
}

export const everythingForeign: Expected = (pets) => rows(foreignStock(pets));

export const filtered: Expected = (pets) =>
  rows(stock(pets), ({ status, quantity }) => status === 'available' && quantity >= leastQuantity);

export function* fields(pets: number): Generator<string> {
  for (const { petId, quantity } of stock(pets)) yield `${quantity} ${petId}`;
}

/** By quantity; those that are equal keep their order. */
export function* sorted(pets: number): Generator<string> {
  const byQuantity: string[][] = [];
  for (const pet of stock(pets)) {
    byQuantity[pet.quantity] ??= [];
    byQuantity[pet.quantity]?.push(rowOf(pet));
  }
  for (const same of byQuantity) yield* same ?? [];
}

/** Pets and units by status, and in all. */
export function* summary(pets: number): Generator<string> {
  const tallies = new Map(['available', 'pending', 'sold', ''].map((status) => [status, { pets: 0, units: 0 }]));
  for (const { status, quantity } of stock(pets)) {
    for (const name of [status, '']) {
      const tally = tallies.get(name);
      if (tally === undefined) continue;
      tally.pets += 1;
      tally.units += quantity;
    }
  }
  for (const [status, tally] of tallies) yield `${status} ${tally.pets} ${tally.units}`.trim();
}

/** A word with a letter that is not ASCII is a status, too. */
const numbersAndStatuses =
  /-?[\d.]+(?:e[+-]?\d+)?|\b(?:available|pending|sold)\b|[a-z]*[\u0080-\uffff][a-z\u0080-\uffff]*/gi;

/**
 * Whether an output has exactly the rows that it should have, in their order: every digit of every id. Whatever the
 * format, the numbers and statuses of a line are its row; a line without any is a head.
 *
 * @throws WrongResult if it does not
 */
export async function requireExact(path: string, expected: Expected, pets: number): Promise<void> {
  const [wanted, found] = [new Digest(), new Digest()];
  for (const row of expected(pets)) wanted.add(row);
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    const values = line.match(numbersAndStatuses);
    if (values !== null) found.add(values.join(' '));
  }
  if (found.rows !== wanted.rows) throw new WrongResult(`${found.rows} rows, not ${wanted.rows}`);
  if (found.hash() !== wanted.hash()) throw new WrongResult('wrong ids');
}

/** How many rows, and a hash over all of them in their order. */
class Digest {
  rows = 0;
  readonly #hash = createHash('sha256');
  #gathered = '';

  add(row: string): void {
    this.rows += 1;
    this.#gathered += `${row}\n`;
    if (this.#gathered.length > 2 ** 16) this.#flush();
  }

  /** Once, at the end. */
  hash(): string {
    this.#flush();
    return this.#hash.digest('hex');
  }

  #flush(): void {
    this.#hash.update(this.#gathered);
    this.#gathered = '';
  }
}

function* rows(pets: Iterable<Pet>, isWanted: (pet: Pet) => boolean = () => true): Generator<string> {
  for (const pet of pets) {
    if (isWanted(pet)) yield rowOf(pet);
  }
}

const rowOf = ({ petId, quantity, status }: Pet) => `${petId} ${quantity} ${status}`;
