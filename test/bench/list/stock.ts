/** One pet of the stock that is listed. The id is text, since half of them are no exact numbers of JavaScript. */
export interface Pet {
  readonly petId: string;
  readonly quantity: number;
  readonly status: string;
}

const statuses = ['available', 'available', 'pending', 'available', 'available', 'sold', 'available'] as const;

/** The same in a language that needs more than ASCII. */
const foreign: Readonly<Record<string, string>> = {
  available: 'verfügbar',
  pending: 'zurückgelegt',
  sold: 'veräußert',
};

/** The first id that a double can't hold. From it on, every other one is such an id. */
const firstLarge = 2n ** 53n + 1n;

/**
 * So many pets in the order of their ids, half of which are beyond 2^53; the same ones each time.
 * @param isForeign whether the statuses are not ASCII
 */
export function* stock(pets: number, isForeign = false): Generator<Pet> {
  const small = Math.floor(pets / 2);
  for (let index = 0; index < pets; index += 1) {
    const petId = index < small ? String(index + 1) : String(firstLarge + 2n * BigInt(index - small));
    // Knuth's multiplicative hash: quantities in no order.
    const quantity = ((Math.imul(index, 2_654_435_761) >>> 0) >>> 8) % 1000;
    const status = statuses[index % statuses.length] ?? 'available';
    yield { petId, quantity, status: isForeign ? (foreign[status] ?? status) : status };
  }
}
