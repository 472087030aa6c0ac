/** One pet of the stock that is listed. The id is text, since half of them are no exact numbers of JavaScript. */
export interface Pet {
  readonly petId: string;
  readonly quantity: number;
  readonly status: string;
}

const statuses = ['available', 'available', 'pending', 'available', 'available', 'sold', 'available'] as const;

/** The first id that a double can't hold. From it on, every other one is such an id. */
const firstLarge = 2n ** 53n + 1n;

/** Knuth's multiplicative hash. */
const hash = (index: number) => Math.imul(index, 2_654_435_761) >>> 0;

/** So many pets in the order of their ids, half of which are beyond 2^53; the same ones each time. */
export function* stock(pets: number): Generator<Pet> {
  const small = Math.floor(pets / 2);
  for (let index = 0; index < pets; index += 1) {
    const petId = index < small ? String(index + 1) : String(firstLarge + 2n * BigInt(index - small));
    // Quantities in no order.
    const quantity = (hash(index) >>> 8) % 1000;
    yield { petId, quantity, status: statuses[index % statuses.length] ?? 'available' };
  }
}

/** The same in a language that needs more than ASCII. */
export function* foreignStock(pets: number): Generator<Pet> {
  const foreign = new Map(Object.entries({ available: 'verfügbar', pending: 'zurückgelegt', sold: 'veräußert' }));
  for (const pet of stock(pets)) yield { ...pet, status: foreign.get(pet.status) ?? pet.status };
}

/** With one more of every `step`-th pet. */
export function* changedStock(pets: number, step: number): Generator<Pet> {
  let index = 0;
  for (const pet of stock(pets)) yield index++ % step === 0 ? { ...pet, quantity: pet.quantity + 1 } : pet;
}

/** With one more of every tenth, in no order. */
export function shuffledStock(pets: number): Pet[] {
  const lines = [...changedStock(pets, 10)].map((pet, index) => ({ pet, key: hash(hash(index) >>> 7) }));
  return lines.sort((a, b) => a.key - b.key).map(({ pet }) => pet);
}

export function jsonOf({ petId, quantity, status }: Pet): string {
  return `{"petId":${petId},"quantity":${quantity},"status":"${status}"}`;
}
