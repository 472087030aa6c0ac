import type { Connection } from '../cli/invocation/connect.ts';
import type { Invocation } from '../cli/invocation/invocation.ts';
import type { BulkRow } from '../inventory/change.ts';
import { estimateText } from '../output/estimate-text.ts';
import { previewLines } from '../output/preview.ts';
import { type Estimate, estimate } from '../rate-limit/estimate.ts';
import { type KnownLimit, readKnownLimits } from '../rate-limit/known-limits.ts';

/** How long the limits that the service has told make so many requests take. */
export type Estimator = (requests: number) => Estimate;

/** How long what was read of the limits is used, in milliseconds: a progress bar asks ten times a second. */
const limitsAge = 1000;

export function createEstimator({ context }: Invocation, { scope }: Connection): Estimator {
  const { clock, folders } = context;
  let limits: readonly KnownLimit[] = [];
  let readAt = Number.NEGATIVE_INFINITY;
  return (requests) => {
    if (clock.monotonic() - readAt > limitsAge) {
      readAt = clock.monotonic();
      limits = readKnownLimits(folders.state).filter((limit) => limit.scope === scope);
    }
    return estimate(requests, limits, clock.now());
  };
}

/** Says on stderr what is about to be done, and what that takes under the limits. */
export async function showPreview(
  invocation: Invocation,
  rows: readonly BulkRow[],
  estimator: Estimator,
): Promise<void> {
  const changes = rows.filter(({ result }) => result === 'planned').length;
  const taken = estimator(changes);
  const text = changes === 0 ? undefined : estimateText(changes, taken, invocation.context.clock.now());
  await invocation.show((paint, width) => previewLines(rows, { paint, width, estimate: text }));
  if ((taken.day?.waiting ?? 0) > 0 && invocation.globals.maxWait === undefined) {
    await invocation.note(
      "It stops when the day's quota is spent, and can be gone on with then; --max-wait <seconds> waits.",
    );
  }
}
