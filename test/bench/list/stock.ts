/** A pet of the stock. Its id is text, since half of the ids are not exact as JavaScript numbers. */
export interface Pet {
  readonly petId: string;
  readonly quantity: number;
  readonly status: string;
}

const statuses = ['available', 'available', 'pending', 'available', 'available', 'sold', 'available'] as const;

/** The first id that is not exact as a JavaScript number. From here on, only every other id is exact. */
const firstLarge = 2n ** 53n + 1n;

/** Knuth's multiplicative hash. */
const hash = (index: number) => Math.imul(index, 2_654_435_761) >>> 0;

/** Yields this many pets in the order of their ids, half of which are beyond 2^53. They are always the same. */
export function* stock(pets: number): Generator<Pet> {
  const small = Math.floor(pets / 2);
  for (let index = 0; index < pets; index += 1) {
    const petId = index < small ? String(index + 1) : String(firstLarge + 2n * BigInt(index - small));
    const quantity = (hash(index) >>> 8) % 1000;
    yield { petId, quantity, status: statuses[index % statuses.length] ?? 'available' };
  }
}

/** Yields the stock with statuses that contain letters beyond ASCII. */
export function* foreignStock(pets: number): Generator<Pet> {
  const foreign = new Map(Object.entries({ available: 'verfügbar', pending: 'zurückgelegt', sold: 'veräußert' }));
  for (const pet of stock(pets)) yield { ...pet, status: foreign.get(pet.status) ?? pet.status };
}

/** Yields the stock with one more unit of every `step`-th pet. */
export function* changedStock(pets: number, step: number): Generator<Pet> {
  let index = 0;
  for (const pet of stock(pets)) yield index++ % step === 0 ? { ...pet, quantity: pet.quantity + 1 } : pet;
}

/** Returns the stock with one more unit of every tenth pet, in random order. */
export function shuffledStock(pets: number): Pet[] {
  const lines = [...changedStock(pets, 10)].map((pet, index) => ({ pet, key: hash(hash(index) >>> 7) }));
  return lines.sort((a, b) => a.key - b.key).map(({ pet }) => pet);
}

export function jsonOf({ petId, quantity, status }: Pet): string {
  return `{"petId":${petId},"quantity":${quantity},"status":"${status}"}`;
}
