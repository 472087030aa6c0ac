import type { BulkRow } from '../../inventory/change.ts';
import type { RecordedRow, RunRecord } from '../../inventory/run-records.ts';
import type { RunAccess } from './run-access.ts';

/** An incomplete run that shares pets with new deltas. */
export interface OpenRun {
  readonly run: RunRecord;
  /** Number of pets with a new delta that a resume of the run would still change. */
  readonly pets: number;
  /** Number of pets with a new delta that the run changes or has changed. */
  readonly shared: number;
  /** Whether the run has exactly the same deltas for the same pets. */
  readonly isSame: boolean;
}

/**
 * Returns the incomplete run of this service with exactly the deltas of these rows; otherwise the newest incomplete run
 * with deltas for some of their pets; undefined if there is neither.
 */
export async function openRunOf(
  { connection: { service, history } }: RunAccess,
  rows: readonly Pick<BulkRow, 'petId' | 'delta'>[],
): Promise<OpenRun | undefined> {
  const deltas = new Map(rows.flatMap(({ petId, delta }) => (delta ? [[petId, delta]] : [])));
  if (deltas.size === 0) return undefined;
  let newest: OpenRun | undefined;
  for await (const run of history.runs({ state: 'incomplete' })) {
    if (run.service !== service) continue;
    const open = { run, ...(await sharedWith(deltas, history.rows(run.run))) };
    if (open.shared === 0) continue;
    if (open.isSame) return open;
    newest ??= open;
  }
  return newest;
}

async function sharedWith(deltas: ReadonlyMap<bigint, number>, rows: AsyncIterable<RecordedRow>) {
  let [pets, shared, same, others] = [0, 0, 0, 0];
  for await (const { petId, delta, result } of rows) {
    if (delta !== undefined && deltas.get(petId) === delta) same += 1;
    else others += 1;
    if (delta === undefined || !deltas.has(petId)) continue;
    if (result === 'pending' || result === 'unknown') pets += 1;
    if (result !== 'failed' && result !== 'conflict') shared += 1;
  }
  return { pets, shared, isSame: same === deltas.size && others === 0 };
}
