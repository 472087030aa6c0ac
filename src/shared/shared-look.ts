import type { Clock } from './clock.ts';

/** A shared look that is older, in milliseconds, is repeated: the process may have been stopped since. */
const longestTurn = 1;

/**
 * Returns a look that all who ask in one turn of the event loop share, for what is asked right before a request leaves. Requests of one turn
 * leave one behind the other, and nothing is waited for in between: what another process writes down within that millisecond, it writes while
 * the first of them is on its way, and a look for each could miss it as well. What this process finds out meanwhile is no part of it.
 */
export function sharedLook<T>(clock: Pick<Clock, 'monotonic' | 'turn'>, look: () => T): () => T {
  let last: { readonly turn: object; readonly at: number; readonly seen: T } | undefined;
  return () => {
    const turn = clock.turn?.();
    const at = clock.monotonic();
    if (last !== undefined && last.turn === turn && at - last.at <= longestTurn) return last.seen;
    const seen = look();
    last = turn && { turn, at, seen };
    return seen;
  };
}
