import { closeSync, existsSync, openSync, rmSync, writeSync } from 'node:fs';
import { platform } from 'node:os';
import { dirname, join } from 'node:path';
import { FailureError } from '../shared/errors.ts';
import { fileErrorReason } from '../shared/file-error.ts';
import { makePrivateFolder, readPrivateFile } from '../shared/private-files.ts';

/** Where the notes of a run are: a file in the state folder of the machine that writes it. */
export interface NotesPlace {
  readonly folder: string | undefined;
  /** The token of the run. */
  readonly token: string;
  /** This start of the machine. */
  readonly boot: string;
}

/** Only Linux has a name for a start of the machine that never outlasts it: what was not synced may be gone after a power cut. */
const countsOnBoot = platform() === 'linux';

function fileOf({ folder, token }: NotesPlace): string | undefined {
  // The token is read from a database that others may write to.
  return folder === undefined || !countsOnBoot || !/^[\w-]+$/.test(token)
    ? undefined
    : join(folder, `leaving-${token}`);
}

/**
 * The rows of a run that were about to leave, noted right before they did. What a process has written to a file outlives `kill -9`, so nothing is synced.
 * Beside a shared state, too, it is a file of this machine: a note that the database has taken costs a round trip for each row.
 */
export class LeavingNotes {
  readonly #place: NotesPlace;
  readonly #file: string | undefined;
  #descriptor: number | undefined;

  constructor(place: NotesPlace) {
    this.#place = place;
    this.#file = fileOf(place);
  }

  /** Notes that intents are about to be written in one call. A row alone is noted by its intent. */
  begin(call: string): void {
    if (this.#file === undefined) return;
    try {
      this.#descriptor ??= this.#open(this.#file);
      writeSync(this.#descriptor, `${call}\n`);
    } catch {
      // Without the call none of its rows is looked for.
      this.close();
    }
  }

  /** Notes that a row is about to leave. @throws FailureError if nobody would know of it */
  note(row: number): void {
    if (this.#descriptor === undefined) return;
    try {
      writeSync(this.#descriptor, `${row}\n`);
    } catch (cause) {
      this.#remove(cause);
    }
  }

  /** The outcomes of all rows are in the state. */
  end(): void {
    if (this.#descriptor !== undefined) this.#remove(undefined);
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  /** Notes of another start of the machine are worth nothing any more. */
  #open(file: string): number {
    const { boot } = this.#place;
    // Beside a shared state nothing else may have made it.
    makePrivateFolder(dirname(file));
    const goesOn = readLines(this.#place)?.[0] === boot;
    const descriptor = openSync(file, goesOn ? 'a' : 'w', 0o600);
    if (!goesOn) writeSync(descriptor, `${boot}\n`);
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

export function hasNotes(place: NotesPlace): boolean {
  const file = fileOf(place);
  return file !== undefined && existsSync(file);
}

/** Removes the notes of a run that is no longer in the history. */
export function removeNotes(place: NotesPlace): void {
  const file = fileOf(place);
  if (file !== undefined) rmSync(file, { force: true });
}

/**
 * Returns whether a row whose intent a call has written was never about to leave; undefined if there are no notes of this start of the machine. To be asked
 * once no process writes the run any more.
 */
export function unsentBy(place: NotesPlace): ((row: number, call: string) => boolean) | undefined {
  const [boot, ...lines] = readLines(place) ?? [];
  if (boot !== place.boot) return undefined;
  const calls = new Map<string, number>();
  const left = new Map<string, number>();
  for (const [index, line] of lines.entries()) (/^\d+$/.test(line) ? left : calls).set(line, index);
  return (row, call) => {
    const begun = calls.get(call);
    return begun !== undefined && (left.get(`${row}`) ?? -1) < begun;
  };
}

function readLines(place: NotesPlace): string[] | undefined {
  const file = fileOf(place);
  try {
    return file === undefined ? undefined : readPrivateFile(file)?.text.split('\n');
  } catch {
    return undefined;
  }
}
