import { type BulkReport, countRows, type RowError } from '../inventory/change.ts';
import { grouped } from '../inventory/grouped.ts';
import {
  ConflictError,
  type ErrorDetails,
  FailureError,
  InterruptedError,
  NotFoundError,
  PartialError,
  PetstockError,
  RejectedError,
} from '../shared/errors.ts';
import { rowErrorOf } from './classify-failure.ts';
import type { Progression } from './row-write.ts';

/**
 * The failure that a bulk run ends with; undefined where every row is as it should be.
 *
 * - interrupted: 130, whatever was written by then
 * - some rows written and some not: 8
 * - none written: what stopped the run, or the first row that failed, or 7 where there were conflicts alone
 *
 * The hint says how to go on.
 */
export function endingOf(report: BulkReport, progression: Progression | undefined): PetstockError | undefined {
  const { applied, failed, conflict, notAttempted } = countRows(report.rows);
  const cause = progression?.stoppedBy;
  const missing = failed + conflict + notAttempted;
  if (missing === 0 && cause === undefined) return undefined;
  const hint = hintOf(report, progression, notAttempted);
  const details = { hint, cause };
  const written = `${grouped(applied)} of ${grouped(applied + missing)} changes ${applied === 1 ? 'was' : 'were'} written`;
  if (cause instanceof InterruptedError) return new InterruptedError(`Interrupted; ${written}`, details);
  if (missing === 0) return new FailureError(`All changes were written, but: ${rowErrorOf(cause).message}`, { cause });
  const why = cause === undefined ? '' : `: ${rowErrorOf(cause).message}`;
  if (applied > 0) {
    const retryAfterSeconds = cause instanceof PetstockError ? cause.retryAfterSeconds : undefined;
    return new PartialError(`${written}; ${lacking(report)}${why}`, { ...details, retryAfterSeconds });
  }
  const first = cause ?? progression?.firstFailure;
  if (first !== undefined) return told(first, `Nothing was written${why || `: ${rowErrorOf(first).message}`}`, hint);
  const failure = report.rows.find(({ result }) => result === 'failed')?.error;
  if (failure !== undefined) return recorded(failure, `Nothing was written: ${failure.message}`, hint);
  return new ConflictError(`Nothing was written: ${lacking(report)}, since the stock is not what was expected`, {
    hint,
  });
}

/** `2 failed, 1 is a conflict, 3 were not attempted` */
function lacking(report: BulkReport): string {
  const { failed, conflict, notAttempted } = countRows(report.rows);
  const parts: string[] = [];
  if (failed > 0) parts.push(`${grouped(failed)} failed`);
  if (conflict > 0) parts.push(conflict === 1 ? '1 is a conflict' : `${grouped(conflict)} are conflicts`);
  if (notAttempted > 0) parts.push(`${grouped(notAttempted)} ${notAttempted === 1 ? 'was' : 'were'} not attempted`);
  return parts.join(', ');
}

function hintOf(
  { run, env, rows }: BulkReport,
  progression: Progression | undefined,
  notAttempted: number,
): string | undefined {
  if (run === null) return undefined;
  const goesOn = notAttempted > 0 || (progression?.open.size ?? 0) > 0;
  if (goesOn) return `petstock inventory apply --resume ${run} --env ${env}`;
  const isRecorded = rows.some(({ result, before }) => result !== 'applied' && before !== undefined);
  return isRecorded ? `petstock history show ${run}` : `petstock inventory list --env ${env}`;
}

/** A failure that the plan or the history tells: there is no error of this process for it. */
function recorded({ code, status }: RowError, message: string, hint: string | undefined): PetstockError {
  if (code === 'pet_not_found' || status === 404) return new NotFoundError(message, { status, hint });
  if (status !== undefined && status < 500) return new RejectedError(message, { status, hint });
  return new FailureError(message, { status, hint });
}

/** The same failure, with words about the run. */
function told(error: unknown, message: string, hint: string | undefined): PetstockError {
  if (!(error instanceof PetstockError)) return new FailureError(message, { hint, cause: error });
  const Kind = error.constructor as new (message: string, details: ErrorDetails) => PetstockError;
  return new Kind(message, { ...error, hint, cause: error });
}
