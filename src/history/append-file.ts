import { close, fdatasync, write } from 'node:fs';
import { promisify } from 'node:util';

interface Group {
  text: string;
  durable: boolean;
  readonly written: Promise<void>;
  resolve(): void;
  reject(reason: unknown): void;
}

const sync = promisify(fdatasync);
const closeFile = promisify(close);

/**
 * A file that is appended to in groups: while one write and its sync are under way, what comes is gathered for the next
 * one. So the order in the file is the order of the calls, and many records that come together cost one sync.
 */
export class AppendFile {
  readonly #descriptor: number;
  readonly #failureOf: (cause: unknown) => Error;
  #next: Group | undefined;
  #writing: Promise<void> | undefined;
  /** After a failed write nothing is written any more, so that a torn record stays the last of this process. */
  #failure: Error | undefined;

  /** @param failureOf puts the failure of a write into words */
  constructor(descriptor: number, failureOf: (cause: unknown) => Error) {
    this.#descriptor = descriptor;
    this.#failureOf = failureOf;
  }

  /**
   * Resolves once the text is written, and, if it is to be durable, on disk. A rejection that nobody waits for is no
   * unhandled one: every later call is rejected with it too.
   */
  append(text: string, durable: boolean): Promise<void> {
    this.#next ??= newGroup();
    this.#next.text += text;
    this.#next.durable ||= durable;
    const { written } = this.#next;
    this.#writing ??= this.#writeGroups();
    return written;
  }

  /** Resolves once all is written and the file is closed. Later calls are rejected. */
  async close(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
    this.#failure ??= this.#failureOf(new Error('it is closed'));
    await closeFile(this.#descriptor).catch((cause) => {
      throw this.#failureOf(cause);
    });
  }

  async #writeGroups(): Promise<void> {
    // What is called in the same turn goes into one group.
    await Promise.resolve();
    for (let group = this.#take(); group !== undefined; group = this.#take()) {
      try {
        if (this.#failure !== undefined) throw this.#failure;
        await this.#write(group);
        group.resolve();
      } catch (cause) {
        this.#failure ??= this.#failureOf(cause);
        group.reject(this.#failure);
      }
    }
    this.#writing = undefined;
  }

  #take(): Group | undefined {
    const group = this.#next;
    this.#next = undefined;
    return group;
  }

  async #write({ text, durable }: Group): Promise<void> {
    let bytes = Buffer.from(text);
    while (bytes.length > 0) bytes = bytes.subarray(await writeSome(this.#descriptor, bytes));
    if (durable) await sync(this.#descriptor);
  }
}

/** @returns how many bytes were written: on a disk that is nearly full not all of them */
function writeSome(descriptor: number, bytes: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    write(descriptor, bytes, 0, bytes.length, null, (error, written) => (error ? reject(error) : resolve(written)));
  });
}

function newGroup(): Group {
  const settling: Pick<Group, 'resolve' | 'reject'> = { resolve: () => {}, reject: () => {} };
  const written = new Promise<void>((resolve, reject) => Object.assign(settling, { resolve, reject }));
  written.catch(() => {});
  return { text: '', durable: false, written, ...settling };
}
