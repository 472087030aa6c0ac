import type { BulkRows } from '../../inventory/change.ts';
import { countWhere } from '../../inventory/change.ts';
import { previewLines } from '../../output/preview.ts';
import { estimateText } from '../../output/rate-limit-text.ts';
import { type Estimate, estimate } from '../../rate-limit/estimate.ts';
import { knownLimits } from '../../rate-limit/known-limits.ts';
import type { Connection } from '../invocation/connect.ts';
import type { Invocation } from '../invocation/invocation.ts';

/** How long so many requests take, by the limits that the service has stated and the round trip that was measured. */
export type Estimator = (requests: number) => Estimate & { readonly working: number | undefined };

export function createEstimator({ context }: Invocation, { scope, state }: Connection, concurrency: number): Estimator {
  return (requests) => {
    const known = state.limits.peek(scope);
    const working = known.roundTrip > 0 ? (Math.ceil(requests / concurrency) * known.roundTrip) / 1000 : undefined;
    return { ...estimate(requests, knownLimits([{ scope, state: known }]), context.clock.now()), working };
  };
}

/**
 * Says on stderr what is about to be done, and what that takes under the limits.
 * @param asks a question follows: then it is shown with `--quiet` too
 */
export async function showPreview(
  invocation: Invocation,
  rows: BulkRows,
  estimator: Estimator,
  asks: boolean,
): Promise<void> {
  const changes = countWhere(rows, ({ result }) => result === 'planned');
  const taken = estimator(changes);
  const text = changes === 0 ? undefined : estimateText(changes, taken, invocation.context.clock.now());
  await invocation.messages.show((paint, width) => previewLines(rows, { paint, width, estimate: text }), {
    always: asks,
  });
  if ((taken.day?.waiting ?? 0) > 0 && invocation.globals.maxWait === undefined) {
    await invocation.messages.note(
      "It stops when the day's quota is spent, and can be resumed then; --max-wait <seconds> waits.",
    );
  }
}
