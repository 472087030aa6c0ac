import { createHash } from 'node:crypto';
import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunHead } from '../inventory/run-records.ts';
import { makePrivateFolder, readPrivateFile } from '../shared/private-files.ts';
import { uniqueName } from './state-database.ts';

/** Number of contents to keep. The file is cut back to this number once it holds twice as many. */
const maxKept = 5000;

type Content = Pick<RunHead, 'serviceName' | 'contentHash' | 'hasDeltas' | 'undoes'>;

/**
 * Remembers the files of deltas, the counts and the undos for which this machine has begun a run, each with the name of
 * the state that recorded it. The file lies beside the state, so it survives if an older copy of the state is restored.
 * Like `HighestNumber`, it is only a second safeguard, so nothing is synced, and failures are ignored.
 */
export class BegunContents {
  readonly #folder: string | undefined;

  /** @param folder the state folder; if undefined, nothing is remembered */
  constructor(folder: string | undefined) {
    this.#folder = folder;
  }

  /**
   * Returns the name of the state in which the content was last begun; undefined if it is not known to have been begun.
   */
  stateOf(head: Content | undefined): string | undefined {
    const name = nameOf(head);
    if (name === undefined) return undefined;
    return this.#lines()
      .findLast((line) => line.startsWith(`${name} `))
      ?.slice(name.length + 1);
  }

  /** Remembers that a content was begun in a state. Ignores content that may safely be repeated. */
  note(head: Content | undefined, state: string): void {
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

/**
 * Returns the name under which a content is remembered; undefined if it may safely be written again, because it sets
 * quantities only. A count or an undo must not be repeated, just like a file of deltas.
 */
function nameOf(head: Content | undefined): string | undefined {
  const content = head?.contentHash ?? (head?.undoes && `undo ${head.undoes}`);
  if (head === undefined || content === undefined || head.hasDeltas === false) return undefined;
  return createHash('sha256').update(`${head.serviceName}\n${content}`).digest('base64url');
}
