import type { Clock } from './clock.ts';

/** A shared look that is older, in milliseconds, is repeated: the process may have been stopped since. */
const longestTurn = 1;

/**
 * Returns a look that all who ask in one turn of the event loop share, for what is asked right before a request leaves. Requests of one turn
 * leave one behind the other, and nothing is waited for in between: what another process writes down within that millisecond, it writes while
 * the first of them is on its way, and a look for each could miss it as well.
 * @param written counts what this process has written there: it looks again after that
 */
export function sharedLook<T>(
  clock: Pick<Clock, 'monotonic' | 'turn'>,
  look: () => T,
  written: () => number = () => 0,
): () => T {
  let last: { readonly turn: object; readonly at: number; readonly writes: number; readonly seen: T } | undefined;
  return () => {
    const [turn, at, writes] = [clock.turn?.(), clock.monotonic(), written()];
    if (last?.turn === turn && last?.writes === writes && at - last.at <= longestTurn) return last.seen;
    const seen = look();
    last = turn && { turn, at, writes, seen };
    return seen;
  };
}
