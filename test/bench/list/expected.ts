import { type Pet, stock } from './stock.ts';

/** The rows that an output should have, in their order, each as its values with a space between. */
export type Expected = (pets: number) => Iterable<string>;

export const leastQuantity = 100;

export const everything: Expected = (pets) => rows(stock(pets));

export const everythingForeign: Expected = (pets) => rows(stock(pets, true));

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

function* rows(pets: Iterable<Pet>, isWanted: (pet: Pet) => boolean = () => true): Generator<string> {
  for (const pet of pets) {
    if (isWanted(pet)) yield rowOf(pet);
  }
}

const rowOf = ({ petId, quantity, status }: Pet) => `${petId} ${quantity} ${status}`;
