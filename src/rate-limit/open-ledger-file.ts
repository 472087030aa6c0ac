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
  #buffer = Buffer.allocUnsafe(16 * 1024);
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

  /** Looks whether it still has its name. */
  checkRemoved(): void {
    this.#isRemoved = fstatSync(this.#descriptor).nlink === 0;
  }

  /**
   * What has been appended since the last call. A line that is torn is left out.
   * @param own what we have appended ourselves: it need not be decoded
   */
  newEntries(own?: LedgerEntry): LedgerEntry[] {
    const text = this.#readOn();
    if (text === '') return [];
    const entries = text.split('\n').map((line) => (line === own?.line ? own : { line, record: decodeRecord(line) }));
    // The last line may be on its way still: it is read again until it is whole, or until another one follows it.
    const last = entries.at(-1);
    const incomplete = last !== undefined && last.record === undefined ? last.line.length : 0;
    this.#position += text.length - incomplete;
    return entries.filter((entry): entry is LedgerEntry => entry.record !== undefined);
  }

  /** All that stands behind what was read; a byte is a character. */
  #readOn(): string {
    for (;;) {
      const length = readSync(this.#descriptor, this.#buffer, 0, this.#buffer.length, this.#position);
      if (length < this.#buffer.length) return this.#buffer.toString('latin1', 0, length);
      this.#buffer = Buffer.allocUnsafe(this.#buffer.length * 4);
    }
  }

  close(): void {
    forgotten.unregister(this);
    closeSync(this.#descriptor);
  }
}
