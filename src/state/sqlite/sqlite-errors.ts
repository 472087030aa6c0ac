import { FailureError, type PetstockError, UnavailableError } from '../../shared/errors.ts';
import { sqliteCodeOf, sqliteCodes } from '../../shared/sqlite-engine.ts';
import { shellWord } from '../../shared/where.ts';
import { otherFolderHint } from '../other-folder.ts';

/** An extended code of `io`. */
const shortRead = 522;

/** @returns what an error of ours was made from, where it was made from an error of SQLite */
export function originOf(error: unknown): unknown {
  return error instanceof FailureError && sqliteCodeOf(error.cause) !== undefined ? error.cause : error;
}

export function isBusy(error: unknown): boolean {
  const code = sqliteCodeOf(error);
  return code === sqliteCodes.busy || code === sqliteCodes.locked;
}

/** Whether the content of the file makes no sense, or ends too early. */
export function isDamage(error: unknown): boolean {
  const code = sqliteCodeOf(error);
  return (
    code === sqliteCodes.corrupt ||
    code === sqliteCodes.notADatabase ||
    (error as { errcode?: unknown }).errcode === shortRead
  );
}

/** Whether the file can't be opened or written: a full disk, a read-only one, the rights. */
export function isUnusable(error: unknown): boolean {
  const code = sqliteCodeOf(error);
  return (
    code === sqliteCodes.readOnly ||
    code === sqliteCodes.io ||
    code === sqliteCodes.full ||
    code === sqliteCodes.cantOpen
  );
}

/**
 * Returns an error of SQLite in words.
 * @param present one phrase for each process that is present
 */
export function inWords(error: unknown, file: string, present: () => readonly string[]): unknown {
  if (isBusy(error)) return busyError(error, file, present());
  if (isDamage(error)) {
    return new FailureError(`The state in ${file} is damaged (${(error as Error).message})`, {
      hint: `mv ${shellWord(file)} ${shellWord(`${file}.damaged`)}`,
      cause: error,
    });
  }
  if (sqliteCodeOf(error) === undefined) return error;
  return new FailureError(`The state in ${file} can't be read or written (${(error as Error).message})`, {
    hint: otherFolderHint,
    cause: error,
  });
}

function busyError(cause: unknown, file: string, present: readonly string[]): PetstockError {
  const who = present.length === 0 ? 'another process' : `one of these processes: ${present.join('; ')}`;
  return new UnavailableError(`The state in ${file} has been locked for too long by ${who}`, {
    hint: 'petstock state info',
    cause,
  });
}
