import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateFolder, readPrivateFile } from '../shared/private-files.ts';
import { number, type Row, text } from './statements.ts';

/**
 * The highest number that each state is known to have drawn durably, in a file beside it: `highest-<name of the state>` in the state folder. By that an older
 * copy is recognized that was put in the place of a state. The file only has to outlive a process and the database file, so nothing is synced.
 */
export class HighestNumber {
  readonly #folder: string | undefined;
  readonly #noted = new Map<string, number>();

  /** @param folder undefined: nothing is kept */
  constructor(folder: string | undefined) {
    this.#folder = folder;
  }

  /** Returns the highest number that any process of this machine has noted of a state; 0 if none is known. */
  of(state: string): number {
    const file = this.#fileOf(state);
    const own = this.#noted.get(state) ?? 0;
    try {
      const noted = file === undefined ? undefined : readPrivateFile(file)?.text;
      return /^\d{16}\n$/.test(noted ?? '') ? Math.max(own, Number(noted)) : own;
    } catch {
      // A note that can't be read says nothing.
      return own;
    }
  }

  /** Notes a number that is on the disk in the state. Failures are ignored: the note is a second line of defence. */
  note({ state, drawn }: DrawnIn): void {
    const file = this.#fileOf(state);
    if (file === undefined || drawn <= (this.#noted.get(state) ?? 0)) return;
    try {
      makePrivateFolder(this.#folder ?? '');
      const highest = Math.max(drawn, this.of(state));
      this.#noted.set(state, highest);
      const descriptor = openSync(file, constants.O_WRONLY | constants.O_CREAT, 0o600);
      try {
        // Always as long, in one piece: a process that is killed leaves it whole.
        writeSync(descriptor, `${highest}`.padStart(16, '0').concat('\n'), 0);
      } finally {
        closeSync(descriptor);
      }
    } catch {}
  }

  #fileOf(state: string): string | undefined {
    // The name is read from a database that others may write to.
    return this.#folder !== undefined && /^[\w-]{1,64}$/.test(state)
      ? join(this.#folder, `highest-${state}`)
      : undefined;
  }
}

/** A state by its name, and the highest number that it has drawn. */
export interface DrawnIn {
  readonly state: string;
  readonly drawn: number;
}

/** @param meta row of `selectLast` */
export function drawnIn(meta: Row | undefined): DrawnIn {
  return { state: text(meta?.state) ?? '', drawn: (number(meta?.last) ?? 0) - (number(meta?.raised) ?? 0) };
}

/** Reports whether a state is older than what was. @param meta row of `selectLast` */
export function isOlder(meta: Row | undefined, highest: HighestNumber): boolean {
  const { state, drawn } = drawnIn(meta);
  return drawn < highest.of(state);
}
