import { closeSync, existsSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { platform } from 'node:os';
import { dirname, join } from 'node:path';
import { FailureError } from '../shared/errors.ts';
import { fileErrorReason } from '../shared/file-error.ts';
import { makePrivateFolder, readPrivateFile } from '../shared/private-files.ts';

/** Identifies the notes of a run: a file in the state folder of the machine that writes the run. */
export interface NotesLocation {
  readonly folder: string | undefined;
  readonly token: string;
  /** The id of the machine's current boot. */
  readonly boot: string;
}

/**
 * Whether notes are used. Only Linux provides an id that changes with every boot; on other systems, notes that a
 * power cut has truncated could be mistaken for complete ones.
 */
const usesNotes = platform() === 'linux';

const prefix = 'leaving-';

function fileOf({ folder, token }: NotesLocation): string | undefined {
  // The token is checked, because it comes from a database that others may write to.
  return folder === undefined || !usesNotes || !/^[\w-]+$/.test(token) ? undefined : join(folder, prefix + token);
}

/**
 * Notes each row of a run right before it is sent, on Linux, from the first call that intends several rows. Data
 * that was written to a file survives `kill -9`, so nothing is synced. The notes stay on this machine even with a
 * shared state: writing them to the database would cost a round trip per row.
 */
export class LeavingNotes {
  readonly #location: NotesLocation;
  readonly #file: string | undefined;
  #descriptor: number | undefined;

  constructor(location: NotesLocation) {
    this.#location = location;
    this.#file = fileOf(location);
  }

  /**
   * Notes that one call is about to write several intents. A single row needs no note: it is sent right after its
   * intent.
   */
  begin(call: string): void {
    if (this.#file === undefined) return;
    try {
      this.#descriptor ??= this.#open(this.#file);
      writeSync(this.#descriptor, `${call}\n`);
    } catch {
      // Without a note of the call, no row of the call is treated as unsent.
      this.close();
    }
  }

  /**
   * Notes that a row is about to be sent.
   * @throws FailureError if neither the note nor the removal of the file succeeds
   */
  note(row: number): void {
    if (this.#descriptor === undefined) return;
    try {
      writeSync(this.#descriptor, `${row}\n`);
    } catch (cause) {
      this.#remove(cause);
    }
  }

  /**
   * Removes the notes, also those of an earlier process of the run. Call this once the outcome of every intended row
   * is in the state.
   */
  end(): void {
    this.#remove(undefined);
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  /** Opens the file for appending. Empties a file of another boot first. */
  #open(file: string): number {
    const { boot } = this.#location;
    // With a shared state, the folder may not exist yet.
    makePrivateFolder(dirname(file));
    removeEarlier(this.#location);
    const isCurrent = readLines(this.#location)?.[0] === boot;
    const descriptor = openSync(file, isCurrent ? 'a' : 'w', 0o600);
    if (!isCurrent) writeSync(descriptor, `${boot}\n`);
    return descriptor;
  }

  #remove(cause: unknown): void {
    this.close();
    try {
      if (this.#file !== undefined) rmSync(this.#file, { force: true });
    } catch {
      if (cause === undefined) return;
      throw new FailureError(`${this.#file} can't be written: ${fileErrorReason(cause)}`, { cause });
    }
  }
}

export function hasNotes(location: NotesLocation): boolean {
  const file = fileOf(location);
  return file !== undefined && existsSync(file);
}

export function removeNotes(location: NotesLocation): void {
  const file = fileOf(location);
  if (file !== undefined) rmSync(file, { force: true });
}

/** Removes the notes of other boots, because they are no longer used. */
function removeEarlier({ folder = '', boot }: NotesLocation): void {
  for (const file of readdirSync(folder)) {
    if (!file.startsWith(prefix)) continue;
    const location = { folder, token: file.slice(prefix.length), boot };
    const [first] = readLines(location) ?? [];
    // Another process may have just created an empty file.
    if (first && first !== boot) removeNotes(location);
  }
}

/**
 * Returns a function that reports whether a row was certainly never sent after the given call wrote its intent;
 * undefined if there are no notes of this boot. Call this only while no process is writing the run.
 */
export function unsentBy(location: NotesLocation): ((row: number, call: string) => boolean) | undefined {
  const [boot, ...lines] = readLines(location) ?? [];
  if (boot !== location.boot) return undefined;
  const calls = new Map<string, number>();
  const left = new Map<string, number>();
  for (const [index, line] of lines.entries()) (/^\d+$/.test(line) ? left : calls).set(line, index);
  return (row, call) => {
    const begun = calls.get(call);
    return begun !== undefined && (left.get(`${row}`) ?? -1) < begun;
  };
}

function readLines(location: NotesLocation): string[] | undefined {
  const file = fileOf(location);
  try {
    return file === undefined ? undefined : readPrivateFile(file)?.text.split('\n');
  } catch {
    return undefined;
  }
}
