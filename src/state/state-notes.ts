import { createHash } from 'node:crypto';
import { appendFileSync, closeSync, constants, openSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { RunHead } from '../inventory/run-records.ts';
import { makePrivateFolder, readPrivateFile } from '../shared/private-files.ts';
import { uniqueName } from './state-database.ts';
import { number, type Row, text } from './statements.ts';

/** Minimum by which the sequence numbers of an older copy are raised, so that no number is allocated twice. */
export const margin = 1_000_000;
/** Number of contents to keep. Their file is cut back to this number once it holds more than twice as many. */
const maxContents = 5000;
const contentsFile = 'begun-contents';

/** The properties by which a repeated run is recognized, and its file for messages. */
export type RunContent = Pick<RunHead, 'serviceName' | 'contentHash' | 'hasDeltas' | 'undoes' | 'file'>;

/**
 * Notes in the state folder that show that the state was replaced by an older copy or by another state. They only have
 * to outlive a process and the database file, so nothing is synced. They are a second safeguard: a note that can't be
 * read counts as missing, and failures to write are ignored.
 *
 * - `highest-<name of the state>`: the highest sequence number that the state is known to have on disk
 * - `current-<hash of the location>`: the name of the state that was last written at a location. An earlier state that
 *   returns there lacks the writes made meanwhile, so it counts as an older copy, too
 * - `begun-contents`: the files of deltas, the counts and the undos for which this machine has begun a run, each with
 *   the name of the state that recorded it
 */
export class StateNotes {
  readonly #folder: string | undefined;
  readonly #location: string;
  readonly #noted = new Map<string, number>();
  /** The name of the state that this process last noted as the current one. */
  #current: string | undefined;

  /**
   * @param folder the state folder; if undefined, nothing is stored
   * @param location the name of the database, which contains its path or address. Only `noteHighest` needs it
   */
  constructor(folder: string | undefined, location = '') {
    this.#folder = folder;
    this.#location = createHash('sha256').update(location).digest('base64url').slice(0, 22);
  }

  /** Returns the highest number that any process of this machine has noted for a state; 0 if none is known. */
  highestOf(state: string): number {
    const own = this.#noted.get(state) ?? 0;
    const noted = isFileName(state) ? this.#read(`highest-${state}`) : '';
    return /^\d{16}\n$/.test(noted) ? Math.max(own, Number(noted)) : own;
  }

  /** Notes the highest sequence number that the state has on disk, and that this state is the current one. */
  noteHighest({ state, drawn }: DrawnIn): void {
    if (!isFileName(state) || drawn <= (this.#noted.get(state) ?? 0)) return;
    this.#write((folder) => {
      this.#replacePrevious(folder, state);
      this.#writeHighest(folder, state, Math.max(drawn, this.highestOf(state)));
    });
  }

  /**
   * Returns the name of the state in which the content was last begun; undefined if it is not known to have been begun.
   */
  stateOf(content: RunContent): string | undefined {
    const name = nameOf(content);
    if (name === undefined) return undefined;
    return this.#contents()
      .findLast((line) => line.startsWith(`${name} `))
      ?.slice(name.length + 1);
  }

  /** Notes that a content was begun in a state. Ignores runs for which `nameOf` has no name. */
  noteBegun(content: RunContent, state: string): void {
    const name = nameOf(content);
    if (name === undefined) return;
    this.#write((folder) => {
      const file = join(folder, contentsFile);
      const lines = this.#contents();
      if (lines.length > 2 * maxContents) {
        const next = `${file}.${uniqueName()}`;
        writeFileSync(next, `${lines.slice(-maxContents).join('\n')}\n`, { mode: 0o600, flag: 'wx' });
        renameSync(next, file);
      }
      appendFileSync(file, `${name} ${state}\n`, { mode: 0o600 });
    });
  }

  #contents(): string[] {
    return this.#read(contentsFile)
      .split('\n')
      .filter((line) => line !== '');
  }

  /** Notes the state as the current one of this location, and marks the one that it replaced as an older copy. */
  #replacePrevious(folder: string, state: string): void {
    if (this.#current === state) return;
    this.#current = state;
    const file = `current-${this.#location}`;
    const previous = readPrivateFile(join(folder, file))?.text.trim();
    if (previous === state) return;
    writeFileSync(join(folder, file), `${state}\n`, { mode: 0o600 });
    if (previous !== undefined) this.#writeHighest(folder, previous, this.highestOf(previous) + margin);
  }

  #writeHighest(folder: string, state: string, highest: number): void {
    if (!isFileName(state)) return;
    this.#noted.set(state, highest);
    const descriptor = openSync(join(folder, `highest-${state}`), constants.O_WRONLY | constants.O_CREAT, 0o600);
    try {
      // The length is fixed and the write is a single call, so a killed process leaves the file whole.
      writeSync(descriptor, `${highest}`.padStart(16, '0').concat('\n'), 0);
    } finally {
      closeSync(descriptor);
    }
  }

  /** Returns the content of a file; '' if it is missing or can't be read. */
  #read(file: string): string {
    try {
      return (this.#folder !== undefined && readPrivateFile(join(this.#folder, file))?.text) || '';
    } catch {
      return '';
    }
  }

  #write(work: (folder: string) => void): void {
    if (this.#folder === undefined) return;
    try {
      makePrivateFolder(this.#folder);
      work(this.#folder);
    } catch {}
  }
}

/** Reports whether a state's name can be part of a file name. Others may write to the database with the name. */
const isFileName = (state: string) => /^[\w-]{1,64}$/.test(state);

/**
 * Returns the name under which a file of deltas, a count or an undo is noted; undefined for a file that sets quantities
 * only, because it may safely be repeated, and for a run without a file.
 */
function nameOf({ serviceName, contentHash, hasDeltas, undoes }: RunContent): string | undefined {
  const content = contentHash ?? (undoes && `undo ${undoes}`);
  if (content === undefined || hasDeltas === false) return undefined;
  return createHash('sha256').update(`${serviceName}\n${content}`).digest('base64url');
}

/**
 * A state's name, and the highest sequence number that it has allocated, without the numbers that were skipped by
 * raising it.
 */
export interface DrawnIn {
  readonly state: string;
  readonly drawn: number;
}

/** Returns the name and the number from the row of `selectLast`. */
export function drawnIn(meta: Row | undefined): DrawnIn {
  return { state: text(meta?.state) ?? '', drawn: (number(meta?.last) ?? 0) - (number(meta?.raised) ?? 0) };
}
