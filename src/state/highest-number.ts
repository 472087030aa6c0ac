import { createHash } from 'node:crypto';
import { closeSync, constants, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateFolder, readPrivateFile } from '../shared/private-files.ts';
import { number, type Row, text } from './statements.ts';

/** Minimum by which the sequence numbers of an older copy are raised, so that no number is allocated twice. */
export const margin = 1_000_000;

/**
 * Notes the highest sequence number that each state is known to have on disk, in the file `highest-<name of the state>`
 * of the state folder. A lower number in the state shows that an older copy was restored. The file only has to outlive
 * a process and the database file, so nothing is synced. The file `current-<hash of the location>` contains the name of
 * the state that was last written at a location. An earlier state that returns there lacks the writes made meanwhile,
 * so it counts as an older copy, too.
 */
export class HighestNumber {
  readonly #folder: string | undefined;
  readonly #place: string;
  readonly #noted = new Map<string, number>();
  /** The name of the state that this process last noted as the current one. */
  #current: string | undefined;

  /**
   * @param folder the state folder; if undefined, nothing is stored
   * @param place where the state is: a path, or the address of a database
   */
  constructor(folder: string | undefined, place: string) {
    this.#folder = folder;
    this.#place = createHash('sha256').update(place).digest('base64url').slice(0, 22);
  }

  /** Returns the highest number that any process of this machine has noted for a state; 0 if none is known. */
  of(state: string): number {
    const file = this.#fileOf(state);
    const own = this.#noted.get(state) ?? 0;
    try {
      const noted = file === undefined ? undefined : readPrivateFile(file)?.text;
      return /^\d{16}\n$/.test(noted ?? '') ? Math.max(own, Number(noted)) : own;
    } catch {
      // A note that can't be read is treated as missing.
      return own;
    }
  }

  /** Notes a number that is on disk in the state. Ignores failures, because the note is only a second safeguard. */
  note({ state, drawn }: DrawnIn): void {
    if (this.#fileOf(state) === undefined || drawn <= (this.#noted.get(state) ?? 0)) return;
    try {
      makePrivateFolder(this.#folder ?? '');
      this.#replacePrevious(state);
      this.#write(state, Math.max(drawn, this.of(state)));
    } catch {}
  }

  #write(state: string, highest: number): void {
    const file = this.#fileOf(state);
    if (file === undefined) return;
    this.#noted.set(state, highest);
    const descriptor = openSync(file, constants.O_WRONLY | constants.O_CREAT, 0o600);
    try {
      // The length is fixed and the write is a single call, so a killed process leaves the file whole.
      writeSync(descriptor, `${highest}`.padStart(16, '0').concat('\n'), 0);
    } finally {
      closeSync(descriptor);
    }
  }

  /**
   * If another state was written at this location before, notes a number for that state that it has not reached, so
   * that it counts as an older copy if it returns.
   */
  #replacePrevious(state: string): void {
    if (this.#current === state) return;
    this.#current = state;
    const file = join(this.#folder ?? '', `current-${this.#place}`);
    const previous = readPrivateFile(file)?.text.trim();
    if (previous === state) return;
    writeFileSync(file, `${state}\n`, { mode: 0o600 });
    if (previous !== undefined) this.#write(previous, this.of(previous) + margin);
  }

  #fileOf(state: string): string | undefined {
    // The name comes from a database that others may write to.
    return this.#folder !== undefined && /^[\w-]{1,64}$/.test(state)
      ? join(this.#folder, `highest-${state}`)
      : undefined;
  }
}

/**
 * A state's name, and the highest sequence number that it has allocated, without the numbers that were skipped by
 * raising it.
 */
export interface DrawnIn {
  readonly state: string;
  readonly drawn: number;
}

/** @param meta the row of `selectLast` */
export function drawnIn(meta: Row | undefined): DrawnIn {
  return { state: text(meta?.state) ?? '', drawn: (number(meta?.last) ?? 0) - (number(meta?.raised) ?? 0) };
}
