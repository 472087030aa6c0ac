import { createHash } from 'node:crypto';
import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunHead } from '../inventory/run-records.ts';
import { makePrivateFolder, readPrivateFile } from '../shared/private-files.ts';
import { uniqueName } from './state-database.ts';

/** So many contents are kept: twice as many at most. */
const maxKept = 5000;

/**
 * The files of increments and the counts of which this machine has begun a run, each with the name of the state that has it: a file beside the state, which
 * outlives an older copy of that. Like the highest number it is a second line of defence, so nothing is synced, and failures are ignored.
 */
export class BegunContents {
  readonly #folder: string | undefined;

  /** @param folder undefined: nothing is kept */
  constructor(folder: string | undefined) {
    this.#folder = folder;
  }

  /** Returns the name of the state in which a content was begun last; undefined if it is not known to have been. */
  stateOf(head: RunHead | undefined): string | undefined {
    const name = nameOf(head);
    if (name === undefined) return undefined;
    return this.#lines()
      .findLast((line) => line.startsWith(`${name} `))
      ?.slice(name.length + 1);
  }

  /** Notes that a content is begun in a state. Of one that may be repeated nothing is noted. */
  note(head: RunHead | undefined, state: string): void {
    const name = nameOf(head);
    if (name === undefined || this.#folder === undefined) return;
    try {
      makePrivateFolder(this.#folder);
      const lines = this.#lines();
      if (lines.length > 2 * maxKept) {
        const next = `${this.#file}.${uniqueName()}`;
        writeFileSync(next, `${lines.slice(-maxKept).join('\n')}\n`, { mode: 0o600, flag: 'wx' });
        renameSync(next, this.#file);
      }
      appendFileSync(this.#file, `${name} ${state}\n`, { mode: 0o600 });
    } catch {}
  }

  get #file(): string {
    return join(this.#folder ?? '', 'begun-contents');
  }

  #lines(): string[] {
    try {
      const text = this.#folder === undefined ? undefined : readPrivateFile(this.#file)?.text;
      return (text ?? '').split('\n').filter((line) => line !== '');
    } catch {
      return [];
    }
  }
}

/** Rows with a quantity may be written again. A count has none that is still true later. */
function nameOf(head: RunHead | undefined): string | undefined {
  if (head?.contentHash === undefined || head.hasDeltas === false) return undefined;
  return createHash('sha256').update(`${head.serviceName}\n${head.contentHash}`).digest('base64url');
}
