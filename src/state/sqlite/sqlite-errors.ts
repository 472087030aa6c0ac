import { FailureError, type PetstockError, UnavailableError } from '../../shared/errors.ts';
import { shellWord } from '../../shared/shell-word.ts';
import { otherFolderHint } from '../other-folder.ts';

/** Primary result codes: https://sqlite.org/rescode.html */
const codes = { busy: 5, locked: 6, readOnly: 8, io: 10, corrupt: 11, full: 13, cantOpen: 14, notADatabase: 26 };

/** @photostructure/sqlite leaves the code out of what it throws while it reads rows: these are SQLite's own words for it. */
const codesByMessage: ReadonlyMap<string, number> = new Map([
  ['database is locked', codes.busy],
  ['database table is locked', codes.locked],
  ['attempt to write a readonly database', codes.readOnly],
  ['disk I/O error', codes.io],
  ['database disk image is malformed', codes.corrupt],
  ['database or disk is full', codes.full],
  ['unable to open database file', codes.cantOpen],
  ['file is not a database', codes.notADatabase],
]);

/** An extended code of `io`. */
const shortRead = 522;

/** @returns the primary result code of an error of SQLite's own; undefined for any other error */
function codeOf(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: unknown };
  if (code !== 'ERR_SQLITE_ERROR') return undefined;
  return typeof errcode === 'number' ? errcode & 0xff : codesByMessage.get(error.message);
}

/** @returns what an error of ours was made from, where it was made from an error of SQLite */
export function originOf(error: unknown): unknown {
  return error instanceof FailureError && codeOf(error.cause) !== undefined ? error.cause : error;
}

export function isBusy(error: unknown): boolean {
  const code = codeOf(error);
  return code === codes.busy || code === codes.locked;
}

/** Whether the content of the file makes no sense, or ends too early. */
export function isDamage(error: unknown): boolean {
  const code = codeOf(error);
  return (
    code === codes.corrupt || code === codes.notADatabase || (error as { errcode?: unknown }).errcode === shortRead
  );
}

/** Whether the file can't be opened or written: a full disk, a read-only one, the rights. */
export function isUnusable(error: unknown): boolean {
  const code = codeOf(error);
  return code === codes.readOnly || code === codes.io || code === codes.full || code === codes.cantOpen;
}

/**
 * What SQLite throws, in words.
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
  if (codeOf(error) === undefined) return error;
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
