import { errorOfResponse } from '../api/failures.ts';
import { type BulkReport, type BulkRow, countRows, isIdle, isUnclear, type RowError } from '../inventory/change.ts';
import { counted, grouped } from '../inventory/items.ts';
import { unreadableStock } from '../inventory/plan.ts';
import {
  ConflictError,
  FailureError,
  InterruptedError,
  NotFoundError,
  PartialError,
  PetstockError,
  RateLimitedError,
  statusSentence,
  UnavailableError,
  UsageError,
} from '../shared/errors.ts';
import { petstock, type Target, targetWords } from '../shared/hint.ts';
import { capitalized, sentence, uncapitalized } from '../shared/parsed.ts';
import { rowErrorOf } from './classify-failure.ts';
import { noSuchPet, outOfRange } from './rows.ts';
import type { Execution } from './write-context.ts';

export interface RunErrorContext {
  readonly report: BulkReport;
  /** Undefined in a dry run, and if no row was to be written. */
  readonly execution: Execution | undefined;
  /** The error that ended the run early, or because of which the history may lack outcomes; undefined if none did. */
  readonly cause: unknown;
  /** The store and environment that hints name. */
  readonly target: Target;
  /**
   * Whether this command is for a single pet: messages are then about that pet, and the run can be resumed only
   * if its outcome is unknown.
   */
  readonly isSingle?: boolean;
  /** Whether the run is resumed: requests of its earlier processes are not known here. */
  readonly isResumed?: boolean;
}

/**
 * Returns the error that the run ends with; undefined if every row succeeded.
 *
 * - If the run was interrupted: InterruptedError (exit code 130), whatever was written.
 * - If all rows were written, but the run ended with an error: PartialError (8) if resuming the run may complete the
 * history, otherwise FailureError (1).
 * - If some rows were written and others were not, the service wrote something else, or it is not known whether a row
 * was written: PartialError.
 * - If nothing was written, as far as the stock shows: the error that stopped the run, or that of the first failed row,
 * or ConflictError (7) if there were only conflicts.
 */
export function runErrorOf(end: RunErrorContext): PetstockError | undefined {
  const { report, execution, cause } = end;
  const { applied, failed, conflict, notAttempted, unknown, differs } = countRows(report.rows);
  const missing = failed + conflict + notAttempted + unknown + differs;
  if (missing === 0 && cause === undefined) return undefined;
  const hint = hintOf(end);
  if (cause instanceof InterruptedError) {
    return new InterruptedError(`Interrupted. ${capitalized(writtenText(end))}`, { hint, cause });
  }
  const why = cause === undefined ? '' : `: ${(cause as Error).message}`;
  if (missing === 0) return allWrittenError(end, why);
  if (applied + unknown + differs + countUnclear(report.rows) > 0) {
    const retryAfterSeconds = cause instanceof PetstockError ? cause.retryAfterSeconds : undefined;
    const lines = serviceMessageLines(end);
    return new PartialError(partialText(end, why), { hint, cause, retryAfterSeconds, lines, ...answerOf(cause) });
  }
  const first = cause ?? execution?.rejection;
  if (end.isSingle && first instanceof PetstockError) return singleError(end, first);
  if (first !== undefined) {
    const [reason, nothing] = [(first as Error).message, nothingText(end)];
    const message = first instanceof RateLimitedError ? `${sentence(reason)} ${nothing}` : `${nothing}: ${reason}`;
    if (first instanceof PetstockError) return first.with({ message, hint });
    return new FailureError(message, { hint, cause: first });
  }
  return unsentError(end, hint);
}

/**
 * Returns a clause for a run in which no row counts as written. A request without a response may still be carried out,
 * whatever the stock was when it was read.
 */
function nothingText({ execution, isResumed }: RunErrorContext): string {
  if (execution?.hasUnanswered) return 'No change has reached the stock so far';
  return isResumed ? 'Nothing more was written' : 'Nothing was written';
}

/** Returns the error of a single write. Adds `nothingText`, unless a response rejected the only request. */
function singleError(end: RunErrorContext, first: PetstockError): PetstockError {
  const isOfState = (first instanceof FailureError || first instanceof ConflictError) && first.status === undefined;
  const isClear = !(first instanceof UnavailableError || first instanceof RateLimitedError || isOfState);
  if (isClear && end.execution?.hasUnanswered === false) return first;
  return first.with({ message: `${sentence(first.message)} ${nothingText(end)}` });
}

/** Returns the error that the run of this plan would end with, as far as is known now; undefined if there is none. */
export function dryRunErrorOf(end: RunErrorContext): PetstockError | undefined {
  const { report, target } = end;
  const planned = report.rows.filter(({ result }) => result === 'planned').length;
  const error = runErrorOf(end);
  if (error === undefined || planned === 0) return error;
  const would = `${counted(planned, 'change')} would be written`;
  const message = `${[would, ...lackingText(report, true)].join('; ')}. Nothing was written: this is a dry run`;
  return new PartialError(message, { hint: petstock`inventory list ${targetWords(target)}` });
}

/**
 * Returns the error of a run whose rows were all written. If the state can't be reached now, resuming the run later
 * completes the history.
 */
function allWrittenError(end: RunErrorContext, why: string): PetstockError {
  const { report, cause, target } = end;
  const all = end.isSingle ? capitalized(writtenText(end)) : 'All changes were written';
  const done = countRows(report.rows).applied === 0 ? 'No change was necessary' : all;
  if (report.run === null || !(cause instanceof UnavailableError)) {
    return new FailureError(`${done}, but then an error occurred${why}`, { cause });
  }
  const hint = petstock`inventory apply --resume ${report.run} ${targetWords(target)}`;
  return new PartialError(`${done}, but the history may be incomplete${why}`, { hint, cause });
}

/** Returns the error of a run that wrote nothing and that no error ended. Only its rows explain why. */
function unsentError(end: RunErrorContext, hint: string | undefined): PetstockError {
  const { rows } = end.report;
  const nothing = nothingText(end);
  const failure = rows.find(({ result }) => result === 'failed')?.error;
  if (failure !== undefined) return recordedError(failure, `${nothing}: ${failure.message}`, hint);
  const conflicts = rows.filter(({ result }) => result === 'conflict');
  const [only] = conflicts;
  if (end.isSingle && only?.error !== undefined) return conflictOfPet(only, only.error, end);
  const detail =
    conflicts.length === 1 && only?.error !== undefined ? `pet ${only.petId}: ${only.error.message}` : undefined;
  return new ConflictError(`${nothing}: ${detail ?? lackingText(end.report, true).join()}`, { hint });
}

/** Returns the error of a single change that the stock did not allow, in words about its pet. */
function conflictOfPet({ petId, expected }: BulkRow, { code, message }: RowError, { target }: RunErrorContext) {
  const words = `${capitalized(message)}. Nothing was written`;
  const options = targetWords(target);
  if (code === noSuchPet) return new NotFoundError(`There is no pet ${petId}. Nothing was written`);
  if (code === outOfRange) return new UsageError(words);
  if (code === unreadableStock) return new FailureError(words, { hint: petstock`api GET /inventory ${options}` });
  const isOther = message.startsWith('the stock is ') && expected !== undefined;
  return new ConflictError(isOther ? words.replace('The stock is', `The stock of pet ${petId} is`) : words, {
    hint: petstock`inventory get ${petId} ${options}`,
  });
}

/**
 * Returns a text like `3 of 4 changes were written; it is not known whether 1 was written`, or about the pet of the only
 * change.
 */
function writtenText(end: RunErrorContext): string {
  const changed = changedRows(end);
  const { applied, unknown, differs } = countRows(changed);
  const unsure = unknown + countUnclear(changed);
  if (applied + unsure + differs === 0) return uncapitalized(nothingText(end));
  const [only] = changed;
  if (only !== undefined && changed.length === 1) {
    const { petId, after, quantity, result } = only;
    if (result === 'differs') return `the service set the stock of pet ${petId} to ${quantity}, not to ${after}`;
    return `${result === 'applied' ? '' : 'it is not known whether '}the stock of pet ${petId} was set to ${after}`;
  }
  const parts: string[] = [];
  if (applied > 0 || unsure === 0) {
    parts.push(`${grouped(applied)} of ${counted(changed.length, 'change')} ${was(applied)} written`);
  }
  if (unsure > 0) {
    const changes = applied > 0 ? grouped(unsure) : counted(unsure, 'change');
    parts.push(`it is not known whether ${changes} ${was(unsure)} written`);
  }
  if (differs > 0) parts.push(`${grouped(differs)} ${was(differs)} written with another quantity`);
  return parts.join('; ');
}

function changedRows({ report }: RunErrorContext): readonly BulkRow[] {
  return report.rows.filter((row) => !isIdle(row));
}

function was(count: number): string {
  return count === 1 ? 'was' : 'were';
}

/** Counts rows that ended as a conflict after an unanswered request. */
function countUnclear(rows: readonly BulkRow[]): number {
  return rows.filter(isUnclear).length;
}

function partialText(end: RunErrorContext, why: string): string {
  const { cause, execution } = end;
  const written = writtenText(end);
  const [only, ...others] = changedRows(end);
  if (only === undefined || others.length > 0) return `${[written, ...lackingText(end.report)].join('; ')}${why}`;
  const { petId, result, error } = only;
  if (result !== 'unknown') {
    return capitalized(written) + (result === 'differs' || error === undefined ? '' : why || `: ${error.message}`);
  }
  // The run ended either with the row's own error, or because the stock could not be read after it.
  const isOther = error !== undefined && !isErrorOf(error, cause);
  const said = serviceMessageLines(end).length > 0 ? '' : `: ${error?.message}`;
  const unread = cause === undefined ? '' : `. The stock could not be read back${isOther ? why : ''}`;
  const seen = execution?.quantities?.get(petId);
  const found = seen === undefined ? unread : `. When it was read back, it was ${seen}`;
  return `${capitalized(written)}${isOther ? said : why}${found}`;
}

/**
 * Returns the service's message about the only changed row, if that row is unknown. It is shown on a line of its own,
 * because within a sentence it could not be distinguished from petstock's text. The list is empty if the message is
 * petstock's own, or if the same error ended the run.
 */
function serviceMessageLines(end: RunErrorContext): string[] {
  const { cause } = end;
  const [only, ...others] = changedRows(end);
  const { status, message } = only?.error ?? {};
  if (only?.result !== 'unknown' || others.length > 0 || status === undefined || message === undefined) return [];
  return message === statusSentence(status) || isErrorOf({ message }, cause) ? [] : [message];
}

/** Reports whether a row failed with the error that ended the run. */
function isErrorOf({ message }: Pick<RowError, 'message'>, cause: unknown): boolean {
  return cause !== undefined && rowErrorOf(cause).message === message;
}

/**
 * Returns a list with a text like `2 failed, 1 is a conflict, 3 were not attempted`; empty if there is nothing to say.
 * @param hasNoun whether the text begins like `2 rows failed`
 */
function lackingText(report: BulkReport, hasNoun = false): string[] {
  const { failed, conflict, notAttempted } = countRows(report.rows);
  const parts: string[] = [];
  const number = (count: number) => (hasNoun && parts.length === 0 ? counted(count, 'row') : grouped(count));
  if (failed > 0) parts.push(`${number(failed)} failed`);
  if (conflict > 0) parts.push(`${number(conflict)} ${conflict === 1 ? 'is a conflict' : 'are conflicts'}`);
  if (notAttempted > 0) parts.push(`${number(notAttempted)} ${was(notAttempted)} not attempted`);
  return parts.length === 0 ? [] : [parts.join(', ')];
}

function hintOf({ report: { run, rows }, execution, target, isSingle }: RunErrorContext): string | undefined {
  const options = targetWords(target);
  if (run === null) return petstock`inventory list ${options}`;
  const { failed, notAttempted, unknown, conflict, differs } = countRows(rows);
  const isResumable = notAttempted > 0 || unknown > 0 || (!isSingle && (execution?.unwritten.size ?? 0) > 0);
  if (isSingle && !isResumable && conflict + differs === 0) {
    return failed > 0 && execution?.hasUnanswered
      ? petstock`inventory get ${rows[0]?.petId ?? []} ${options}`
      : undefined;
  }
  if (isResumable) return petstock`inventory apply --resume ${run} ${options}`;
  return execution === undefined && rows.every(({ before }) => before === undefined)
    ? petstock`inventory list ${options}`
    : petstock`history show ${run}`;
}

function answerOf(cause: unknown): Pick<PetstockError, 'status' | 'serviceError'> {
  return cause instanceof PetstockError ? { status: cause.status, serviceError: cause.serviceError } : {};
}

/** The error classes of rows that failed without a response, by code. */
const unansweredErrors = new Map<string, typeof UnavailableError | typeof InterruptedError>([
  ['unavailable', UnavailableError],
  ['untrusted_certificate', UnavailableError],
  ['interrupted', InterruptedError],
]);

function recordedError({ code, status }: RowError, message: string, hint: string | undefined): PetstockError {
  const answered = code === 'pet_not_found' ? 404 : status;
  if (answered === undefined) return new (unansweredErrors.get(code) ?? FailureError)(message, { hint });
  // The history does not store which key a 401 has rejected.
  return errorOfResponse(answered, '').with({ status, message, hint, keySource: '' });
}
