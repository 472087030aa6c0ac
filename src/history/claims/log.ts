import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs';

/**
 * - `open`, `close`: a process has the log open; it has closed it
 * - `claim`: it is about to write a pet; `done`: that is over; `withdraw`: it has let it be
 * - `seal`: nobody had the log open at that byte: it goes on in the next generation
 */
export type ClaimRecord =
  | { readonly type: 'open' | 'close'; readonly by: string }
  | { readonly type: 'claim' | 'done' | 'withdraw'; readonly by: string; readonly petId: string }
  | { readonly type: 'seal'; readonly by: string; readonly at: number };

const typeOfLetter = {
  o: 'open',
  x: 'close',
  c: 'claim',
  d: 'done',
  w: 'withdraw',
  s: 'seal',
} as const satisfies Readonly<Record<string, ClaimRecord['type']>>;
const letterOf = { open: 'o', close: 'x', claim: 'c', done: 'd', withdraw: 'w', seal: 's' } as const;

/** The semicolon tells that a record has come whole. */
const recordPattern = /\n([oxcdws]) ([\w.-]+)(?: (-?\d+))?;(?=\n|$)/g;
const longestRecord = 256;

export function encodeClaim(record: ClaimRecord): string {
  const value = record.type === 'seal' ? ` ${record.at}` : 'petId' in record ? ` ${record.petId}` : '';
  return `\n${letterOf[record.type]} ${record.by}${value};`;
}

/**
 * One generation of a log, open for appending and for reading on from where the last read ended. Each record is one
 * `O_APPEND` write that begins with a line feed, so that a torn one is skipped and the order of the file is everybody's.
 */
export class ClaimsLog {
  readonly generation: number;
  /** It was empty when it was opened. */
  readonly isNew: boolean;
  readonly #descriptor: number;
  readonly #buffer = Buffer.allocUnsafe(64 * 1024);
  #position = 0;

  /** @throws where it can't be opened for appending; it is made where it is missing */
  constructor(path: string, generation: number) {
    this.generation = generation;
    this.#descriptor = openSync(path, 'a+', 0o600);
    this.isNew = fstatSync(this.#descriptor).size === 0;
  }

  /** Bytes up to the end of the last record that has been read. */
  get position(): number {
    return this.#position;
  }

  /** When it was last written, in milliseconds of the file system's clock. */
  get writtenAt(): number {
    return fstatSync(this.#descriptor).mtimeMs;
  }

  /** Somebody has removed its name: others can't find it. */
  get isRemoved(): boolean {
    return fstatSync(this.#descriptor).nlink === 0;
  }

  /** All of them in one write, so that nobody's come between them. */
  append(records: readonly ClaimRecord[]): void {
    const lines = records.map(encodeClaim).join('');
    if (writeSync(this.#descriptor, lines, null, 'latin1') < lines.length) throw new Error('the disk is full');
  }

  /**
   * Tells the records that have been appended since the last call, in their order, until one of them is a seal that holds.
   * A seal holds where nothing came between what its writer had read and the seal itself: all readers see that alike.
   * @returns whether there was such a seal
   */
  read(tell: (record: ClaimRecord) => void): boolean {
    for (;;) {
      const length = readSync(this.#descriptor, this.#buffer, 0, this.#buffer.length, this.#position);
      const text = this.#buffer.toString('latin1', 0, length);
      const start = this.#position;
      for (const match of text.matchAll(recordPattern)) {
        const record = decode(match);
        this.#position = start + match.index + match[0].length;
        if (record?.type === 'seal' && record.at === start + match.index) return true;
        if (record !== undefined) tell(record);
      }
      if (length < this.#buffer.length) return false;
      // So much without a record is garbage, of which the end may begin one.
      if (this.#position === start) this.#position += length - longestRecord;
    }
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

function decode([, letter, by = '', value]: RegExpExecArray): ClaimRecord | undefined {
  const type = typeOfLetter[letter as keyof typeof typeOfLetter];
  if (type === 'open' || type === 'close') return { type, by };
  if (value === undefined) return undefined;
  return type === 'seal' ? { type, by, at: Number(value) } : { type, by, petId: value };
}
