/** One pet of the stock that is listed. The id is text, since half of them are no exact numbers of JavaScript. */
export interface Pet {
  readonly petId: string;
  readonly quantity: number;
  readonly status: string;
}

const statuses = ['available', 'available', 'pending', 'available', 'available', 'sold', 'available'] as const;

/** The first id that a double can't hold. From it on, every other one is such an id. */
const firstLarge = 2n ** 53n + 1n;

/** So many pets in the order of their ids, half of which are beyond 2^53; the same ones each time. */
export function* stock(pets: number): Generator<Pet> {
  const small = Math.floor(pets / 2);
  for (let index = 0; index < pets; index += 1) {
    const petId = index < small ? String(index + 1) : String(firstLarge + 2n * BigInt(index - small));
    // Knuth's multiplicative hash: quantities in no order.
    const quantity = ((Math.imul(index, 2_654_435_761) >>> 0) >>> 8) % 1000;
    yield { petId, quantity, status: statuses[index % statuses.length] ?? 'available' };
  }
}

/** The body that the service would answer GET /inventory with. */
export function bodyOf(pets: number): Buffer {
  const pieces: Buffer[] = [];
  let piece = '';
  for (const { petId, quantity, status } of stock(pets)) {
    piece += `${petId === '1' ? '[' : ','}{"petId":${petId},"quantity":${quantity},"status":"${status}"}`;
    if (piece.length > 2 ** 20) {
      pieces.push(Buffer.from(piece));
      piece = '';
    }
  }
  pieces.push(Buffer.from(`${piece}]`));
  return Buffer.concat(pieces);
}
