import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomically } from '../shared/atomic-file.ts';
import { makePrivateFolder } from '../shared/private-files.ts';

/** Of so many files it is known that petstock wrote them; of older ones it is asked. */
const mostKept = 200;

/** SHA-256 of what was written, by path; the newest last. */
type Digests = Readonly<Record<string, string>>;

/**
 * Which files petstock wrote, and what was in them: `written-files.json` in the state folder. A file whose content is still the same
 * may be replaced without a question. Where this can't be kept, or two processes write it at once, a question too many is asked,
 * never one too few.
 */
export class WrittenFiles {
  readonly #folder: string;
  readonly #file: string;

  constructor(stateFolder: string) {
    this.#folder = stateFolder;
    this.#file = join(stateFolder, 'written-files.json');
  }

  /** Whether a file is as petstock wrote it. */
  async isUnchanged(path: string): Promise<boolean> {
    const digests = await this.#read();
    const written = digests[await realpath(path)];
    return written !== undefined && written === (await digestOf(path));
  }

  /** To be called once a file is written. */
  async remember(path: string): Promise<void> {
    try {
      const { [await realpath(path)]: _before, ...others } = await this.#read();
      const kept = [...Object.entries(others), [await realpath(path), await digestOf(path)]].slice(-mostKept);
      makePrivateFolder(this.#folder);
      const text = `${JSON.stringify(Object.fromEntries(kept))}\n`;
      await writeFileAtomically(this.#file, [text], { mode: 0o600, isPrivate: true });
    } catch {
      // The file itself is written. The next time it is asked before it is replaced.
    }
  }

  async #read(): Promise<Digests> {
    try {
      const digests: unknown = JSON.parse(await readFile(this.#file, 'utf8'));
      return typeof digests === 'object' && digests !== null ? (digests as Digests) : {};
    } catch {
      return {};
    }
  }
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  return hash.digest('hex');
}
