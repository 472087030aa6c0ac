import type { RunRecord } from '../../inventory/run-records.ts';
import type { RunAccess } from './run-access.ts';

interface Increment {
  readonly petId: bigint;
  readonly delta?: number | undefined;
}

/** A run that a resume would continue. */
export interface OpenRun {
  readonly run: RunRecord;
  /** How many of the pets it would still change. */
  readonly pets: number;
  /** Whether its deltas are the same ones, of the same pets. */
  readonly isSame: boolean;
}

/** Returns the newest open run with deltas of the same pets, which a resume would add to these. */
export async function openRunOf(
  { connection: { serviceName, state } }: RunAccess,
  rows: readonly Increment[],
): Promise<OpenRun | undefined> {
  const deltas = new Map(rows.flatMap(({ petId, delta }) => (delta ? [[petId, delta]] : [])));
  if (deltas.size === 0) return undefined;
  for await (const run of state.history.runs({ state: 'incomplete' })) {
    if (run.serviceName !== serviceName) continue;
    let [pets, same, others] = [0, 0, 0];
    for await (const { petId, delta, result } of state.history.rows(run.run)) {
      if (delta !== undefined && deltas.get(petId) === delta) same += 1;
      else others += 1;
      const isOwed = delta !== undefined && (result === 'pending' || result === 'unknown');
      if (isOwed && deltas.has(petId)) pets += 1;
    }
    if (pets > 0) return { run, pets, isSame: same === deltas.size && others === 0 };
  }
  return undefined;
}
