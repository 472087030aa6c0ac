import { ConflictError, FailureError } from '../shared/errors.ts';
import { petstock } from '../shared/hint.ts';
import type { StateDatabase } from './state-database.ts';

export function stillRunning(run: string, by: string): ConflictError {
  return new ConflictError(`Run ${run} is still running in ${by}. Nothing was sent`, {
    hint: petstock`history show ${run}`,
  });
}

export function wasDiscarded(run: string): ConflictError {
  return new ConflictError(`Run ${run} was discarded. Nothing was sent`, { hint: petstock`history show ${run}` });
}

export function takenOver(run: string, by: string): ConflictError {
  return new ConflictError(`Run ${run} was taken over by ${by}. This command sends nothing more`, {
    hint: petstock`history show ${run}`,
  });
}

/** @param run the id of the run; undefined if it has none yet */
export function stateReplaced({ name }: StateDatabase, run: string | undefined): FailureError {
  const what = `${name} was removed or replaced during ${run === undefined ? 'the run' : `run ${run}`}`;
  return new FailureError(`${what}. Nothing more is sent, and the history of the run may be incomplete`);
}

export function writesLost({ name }: StateDatabase, run: string): FailureError {
  return new FailureError(
    `${name} has lost confirmed writes, perhaps because it failed over to an outdated server or was restored from a copy. Nothing more is sent. The history of run ${run} may be incomplete`,
    { hint: 'petstock state info' },
  );
}
