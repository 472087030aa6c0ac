import { FailureError, UnavailableError } from '../../shared/errors.ts';
import { sqliteCodeOf, sqliteCodes } from '../../shared/sqlite-engine.ts';
import { shellWord } from '../../shared/where.ts';
import { otherFolderHint } from '../store.ts';

/** An extended code of `io`. */
const shortRead = 522;

const damaged: readonly unknown[] = [sqliteCodes.corrupt, sqliteCodes.notADatabase];
const unusable: readonly unknown[] = [sqliteCodes.readOnly, sqliteCodes.io, sqliteCodes.full, sqliteCodes.cantOpen];

/** The content of the file makes no sense, or ends too early. */
export class DamagedState extends FailureError {
  constructor(file: string, why: string, cause?: unknown) {
    super(`The state in ${file} is damaged (${why})`, {
      hint: `mv ${shellWord(file)} ${shellWord(`${file}.damaged`)}`,
      cause,
    });
  }
}

export function isBusy(error: unknown): boolean {
  const code = sqliteCodeOf(error);
  return code === sqliteCodes.busy || code === sqliteCodes.locked;
}

/** Returns the error of SQLite itself if the file can't be opened or written: a full disk, a read-only one, the rights. */
export function unusableBy(error: unknown): Error | undefined {
  if (error instanceof DamagedState) return undefined;
  const { cause } = error as Error;
  return [error, cause].find((one): one is Error => unusable.includes(sqliteCodeOf(one)));
}

/**
 * Returns an error of SQLite in words.
 * @param present one phrase for each process that is present
 */
export function inWords(error: unknown, file: string, present: () => readonly string[]): unknown {
  const code = sqliteCodeOf(error);
  if (code === undefined) return error;
  const { message, errcode } = error as Error & { readonly errcode?: unknown };
  if (isBusy(error)) {
    const others = present();
    const who = others.length === 0 ? 'another process' : `one of these processes: ${others.join('; ')}`;
    const hint = 'petstock state info';
    return new UnavailableError(`The state in ${file} has been locked for too long by ${who}`, { hint, cause: error });
  }
  if (damaged.includes(code) || errcode === shortRead) return new DamagedState(file, message, error);
  return new FailureError(`The state in ${file} can't be read or written (${message})`, {
    hint: otherFolderHint,
    cause: error,
  });
}
