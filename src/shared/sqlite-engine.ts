import { createRequire } from 'node:module';
import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import type * as Sqlite from '@photostructure/sqlite';

/** The path of the bundled package, relative to the program; set by the build. */
declare const SQLITE: string | undefined;

/**
 * Returns SQLite from Node, or, before Node 22.18, from the bundled package; both export the same names. A process must
 * open a file with only one of them, because two copies of SQLite don't see each other's locks.
 * @throws if neither is available
 */
export function sqlite(): typeof Sqlite {
  if (hasOwnEngine()) return ownEngine();
  return createRequire(import.meta.filename)(typeof SQLITE === 'string' ? SQLITE : '@photostructure/sqlite');
}

/** Reports whether Node's own SQLite module has all functions that are needed here: since Node 22.18. */
export function hasOwnEngine(version = process.versions.node): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 22 || (major === 22 && minor >= 18);
}

/**
 * Loads Node's module, and suppresses the warning of Node 22 that it is experimental. All other warnings are passed on.
 */
function ownEngine(): typeof Sqlite {
  const emit = process.emitWarning;
  process.emitWarning = ((warning: string | Error, ...rest: never[]) => {
    if (!/sqlite is an experimental/i.test(String(warning))) emit.call(process, warning, ...rest);
  }) as typeof emit;
  try {
    return process.getBuiltinModule('node:sqlite' as 'node:fs') as unknown as typeof Sqlite;
  } finally {
    process.emitWarning = emit;
  }
}

/**
 * Takes the lock that a file represents, until the lock is closed. The system releases it if the process dies.
 * @param timeout how long to block while another process has the lock, in milliseconds
 * @throws an error of SQLite: `busy` if another process has the lock
 */
export function takeLock(file: string, timeout = 0): { close(): void } {
  const { DatabaseSync } = sqlite();
  const lock = new DatabaseSync(file, { timeout });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    throw error;
  }
}

/**
 * Like `takeLock`, but does not block the process while it waits.
 * @param maxWait the maximum wait in milliseconds, a multiple of 5
 */
export function awaitLock(file: string, maxWait: number): Promise<{ close(): void }> {
  return retryBusy(() => takeLock(file), Array<number>(maxWait / 5).fill(5), setTimeout, isBusy);
}

/** Reports whether an error means that another process, or another connection of this process, holds the lock. */
export function isBusy(error: unknown): boolean {
  const code = sqliteCodeOf(error);
  return code === sqliteCodes.busy || code === sqliteCodes.locked;
}

/** Primary result codes: https://sqlite.org/rescode.html */
export const sqliteCodes = {
  busy: 5,
  locked: 6,
  readOnly: 8,
  io: 10,
  corrupt: 11,
  full: 13,
  cantOpen: 14,
  notADatabase: 26,
} as const;

/** @photostructure/sqlite omits the code of errors that occur while reading rows; these are SQLite's own messages. */
const codesByMessage: ReadonlyMap<string, number> = new Map([
  ['database is locked', sqliteCodes.busy],
  ['database table is locked', sqliteCodes.locked],
  ['attempt to write a readonly database', sqliteCodes.readOnly],
  ['disk I/O error', sqliteCodes.io],
  ['database disk image is malformed', sqliteCodes.corrupt],
  ['database or disk is full', sqliteCodes.full],
  ['unable to open database file', sqliteCodes.cantOpen],
  ['file is not a database', sqliteCodes.notADatabase],
]);

export function isSqliteError(error: unknown): error is Error & { readonly errcode?: unknown } {
  return error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR';
}

/** Returns the primary result code of an error of SQLite; undefined for any other error. */
export function sqliteCodeOf(error: unknown): number | undefined {
  if (!isSqliteError(error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : codesByMessage.get(error.message);
}

/**
 * Runs `work`, and again after each pause while another process holds the lock.
 * @param pauses the lengths of the pauses in milliseconds
 * @param isBusy whether another attempt may help
 * @throws the last error
 */
export async function retryBusy<Result>(
  work: () => Result,
  pauses: readonly number[],
  sleep: (ms: number) => Promise<unknown>,
  isBusy: (error: unknown) => boolean,
): Promise<Result> {
  for (const pause of pauses) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error)) throw error;
    }
    await sleep(pause);
  }
  return work();
}
