import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { decodeRecord, type LedgerRecord } from './records.ts';

export interface LedgerEntry {
  readonly line: string;
  readonly record: LedgerRecord;
}

/** A client of the library has no end that anybody tells: its file is closed when nothing refers to it any more. */
const forgotten = new FinalizationRegistry<number>((descriptor) => closeSync(descriptor));

/** One generation of a ledger, open for appending and for reading on from where the last read ended. */
export class OpenLedgerFile {
  readonly generation: number;
  readonly #descriptor: number;
  /** Up to where it has been read. */
  #position = 0;
  #isRemoved = false;

  constructor(path: string, generation: number) {
    this.generation = generation;
    this.#descriptor = openSync(path, 'a+', 0o600);
    forgotten.register(this, this.#descriptor, this);
  }

  /** Bytes that have been read. */
  get size(): number {
    return this.#position;
  }

  /** Whether it was found without a name at the last reading. */
  get isRemoved(): boolean {
    return this.#isRemoved;
  }

  /** One write, so that it comes whole and at the end, whoever else appends. */
  append(line: string): void {
    writeSync(this.#descriptor, `\n${line}`, null, 'latin1');
  }

  /** What has been appended since the last call. A line that is torn is left out. */
  newEntries(): LedgerEntry[] {
    const { size, nlink } = fstatSync(this.#descriptor);
    this.#isRemoved = nlink === 0;
    const length = size - this.#position;
    if (length <= 0) return [];
    const bytes = Buffer.allocUnsafe(length);
    const read = readSync(this.#descriptor, bytes, 0, length, this.#position);
    const lines = bytes.toString('latin1', 0, read).split('\n');
    const entries = lines.map((line) => ({ line, record: decodeRecord(line) }));
    // The last line may be on its way still: it is read again until it is whole, or until another one follows it.
    const last = entries.at(-1);
    const incomplete = last !== undefined && last.record === undefined ? last.line.length : 0;
    this.#position += read - incomplete;
    return entries.filter((entry): entry is LedgerEntry => entry.record !== undefined);
  }

  close(): void {
    forgotten.unregister(this);
    closeSync(this.#descriptor);
  }
}
