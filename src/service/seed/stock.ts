import type { InventoryItem, PetStatus } from '../store/store.ts';
import { seededRandom } from './random.ts';

/**
 * Ids that a client which reads numbers as doubles gets wrong, most telling first: the smallest that a double cannot
 * hold, the largest int64, and the neighbour that the first one is taken for.
 */
const LARGE_IDS = [9_007_199_254_740_993n, 9_223_372_036_854_775_807n, 9_007_199_254_740_992n];

interface Profile {
  readonly status: PetStatus;
  readonly atLeast: number;
  readonly atMost: number;
}

/** What a shelf looks like. Every seed goes through all of it in turn, so that any stock has each of these. */
const PROFILES: readonly Profile[] = [
  { status: 'available', atLeast: 8, atMost: 40 },
  { status: 'available', atLeast: 1, atMost: 3 },
  { status: 'available', atLeast: 5, atMost: 20 },
  { status: 'pending', atLeast: 1, atMost: 6 },
  { status: 'available', atLeast: 12, atMost: 60 },
  { status: 'sold', atLeast: 0, atMost: 0 },
  { status: 'available', atLeast: 0, atMost: 0 },
];

/** The stock that a new store opens with: `pets` of them in the order of their ids, the same for the same seed. */
export function* openingStock(pets: number, seed: number): Generator<InventoryItem> {
  const random = seededRandom(seed);
  const between = (low: number, high: number) => low + Math.floor(random() * (high - low + 1));
  let turn = between(0, PROFILES.length - 1);
  for (const petId of openingIds(pets)) {
    const profile = PROFILES[turn++ % PROFILES.length];
    if (profile === undefined) continue;
    yield { petId, quantity: BigInt(between(profile.atLeast, profile.atMost)), status: profile.status };
  }
}

/** 1, 2, 3, … and last the large ones; a single pet has the id 1. */
function* openingIds(pets: number): Generator<bigint> {
  const large = LARGE_IDS.slice(0, Math.max(0, Math.min(LARGE_IDS.length, pets - 1)));
  for (let id = 1n; id <= pets - large.length; id++) yield id;
  yield* large.sort((one, other) => (one < other ? -1 : 1));
}
