const STEP = 0x6d2b79f5;

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + STEP) >>> 0;
    return mixed(state);
  };
}

/** The n-th of these numbers, from 1, without those before it: so several processes can draw from one sequence. */
export function randomAt(seed: number, n: bigint): number {
  return mixed(Number(BigInt.asUintN(32, BigInt(seed) + n * BigInt(STEP))));
}

function mixed(state: number): number {
  let bits = Math.imul(state ^ (state >>> 15), state | 1);
  bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
  return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
}
