import type { InventoryItem, Order, PetStatus, Stock } from './item.ts';

const STEP = 0x6d2b79f5;

/** Returns a generator of random numbers in [0, 1). The same seed gives the same numbers (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + STEP) >>> 0;
    return mixed(state);
  };
}

/** Returns the n-th number of `seededRandom`, from 1, without generating the earlier ones. */
export function randomAt(seed: number, n: bigint): number {
  return mixed(Number(BigInt.asUintN(32, BigInt(seed) + n * BigInt(STEP))));
}

function mixed(state: number): number {
  let bits = Math.imul(state ^ (state >>> 15), state | 1);
  bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
  return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
}

/**
 * With `large`, up to three ids are 2^53 or larger, but never that of the first pet. With `small`, all ids are below
 * 2^53, for tools that read numbers as doubles.
 */
export type Ids = 'large' | 'small';

export interface Seed {
  /** Number of pets; default 24. */
  readonly pets?: number | undefined;
  /** The same seed gives the same stock; default 1. */
  readonly seed?: number | undefined;
  /** Default: `large`. */
  readonly ids?: Ids | undefined;
}

const DEFAULT_PETS = 24;

/**
 * Ids that a client confuses if it reads numbers as doubles, most instructive first: the smallest that a double can't
 * hold, the largest int64, and the neighbour that the first one is rounded to.
 */
const LARGE_IDS = [9_007_199_254_740_993n, 9_223_372_036_854_775_807n, 9_007_199_254_740_992n];

interface Profile {
  readonly status: PetStatus;
  readonly atLeast: number;
  readonly atMost: number;
}

/** The kinds of entries. Every seed cycles through all of them, so that every stock with enough pets has each kind. */
const PROFILES: readonly Profile[] = [
  { status: 'available', atLeast: 8, atMost: 40 },
  { status: 'available', atLeast: 1, atMost: 3 },
  { status: 'available', atLeast: 5, atMost: 20 },
  { status: 'pending', atLeast: 1, atMost: 6 },
  { status: 'available', atLeast: 12, atMost: 60 },
  { status: 'sold', atLeast: 0, atMost: 0 },
  { status: 'available', atLeast: 0, atMost: 0 },
];

/** Returns the initial stock of a new database, ordered by id; the same for the same seed. */
export function seededStock({ pets = DEFAULT_PETS, seed = 1, ids = 'large' }: Seed = {}): Stock {
  return { items: { [Symbol.iterator]: () => seededItems(pets, seed, ids) }, orders: seededOrders(pets) };
}

const ORDERS = 3;

/** Returns an order for each of the first pets. */
function seededOrders(pets: number): readonly Order[] {
  return Array.from({ length: Math.min(ORDERS, pets) }, (_, at) => {
    return { orderId: BigInt(at + 1), petId: BigInt(at + 1), quantity: 1n };
  });
}

function* seededItems(pets: number, seed: number, ids: Ids): Generator<InventoryItem> {
  const random = seededRandom(seed);
  const between = (low: number, high: number) => low + Math.floor(random() * (high - low + 1));
  let turn = between(0, PROFILES.length - 1);
  for (const petId of openingIds(pets, ids)) {
    const profile = PROFILES[turn++ % PROFILES.length];
    if (profile === undefined) continue;
    yield { petId, quantity: BigInt(between(profile.atLeast, profile.atMost)), status: profile.status };
  }
}

/** Yields 1, 2, 3, … and finally the large ids; a single pet has the id 1. */
function* openingIds(pets: number, ids: Ids): Generator<bigint> {
  const large = ids === 'small' ? [] : LARGE_IDS.slice(0, Math.max(0, Math.min(LARGE_IDS.length, pets - 1)));
  for (let id = 1n; id <= pets - large.length; id++) yield id;
  yield* large.sort((one, other) => (one < other ? -1 : 1));
}
