/** One request as the service saw it. */
export interface JournalEntry {
  /** When it arrived, by the service's clock: milliseconds since the Unix epoch. */
  readonly time: number;
  readonly method: string;
  /** The request target without its query, cut at 1024 characters. */
  readonly path: string;
  /** The body as far as it was read, cut at 1024 characters; null when none was read. */
  readonly body: string | null;
  /** The status that was sent; null while it is being answered, and when the answer was never sent. */
  readonly status: number | null;
}

/** How many requests are remembered. */
export const KEPT = 10_000;

const CHARACTERS_KEPT = 1024;

type Unfinished = { -readonly [Field in keyof JournalEntry]: JournalEntry[Field] };

/** An entry that is still being filled in. */
export interface OpenEntry {
  /** As in JournalEntry. */
  readonly status: number | null;
  read(body: string): void;
  answered(status: number): void;
  /** No more comes: the answer has been sent, or the connection has ended. */
  over(): void;
}

/** The last requests, oldest first. Bounded: the oldest are forgotten. */
export interface Journal {
  open(time: number, method: string, path: string): OpenEntry;
  /** Those that this process has seen. */
  entries(): readonly JournalEntry[];
  /** Those that all services on this store have seen. */
  all(): Promise<readonly JournalEntry[]>;
}

/** The journal of one process. @param over called with each entry that is complete */
export class LocalJournal implements Journal {
  readonly #entries: Unfinished[] = [];
  readonly #over: ((entry: JournalEntry) => void) | undefined;

  constructor(over?: (entry: JournalEntry) => void) {
    this.#over = over;
  }

  open(time: number, method: string, path: string): OpenEntry {
    const entry: Unfinished = { time, method, path: beginningOf(loggedPath(path)), body: null, status: null };
    this.#entries.push(entry);
    if (this.#entries.length >= 2 * KEPT) this.#entries.splice(0, this.#entries.length - KEPT);
    return {
      get status() {
        return entry.status;
      },
      read: (body) => {
        entry.body = beginningOf(body);
      },
      answered: (status) => {
        entry.status = status;
      },
      over: () => this.#over?.(entry),
    };
  }

  entries(): readonly JournalEntry[] {
    return this.#entries.slice(-KEPT).map((entry) => ({ ...entry }));
  }

  all(): Promise<readonly JournalEntry[]> {
    return Promise.resolve(this.entries());
  }
}

/** A copy: a slice would keep all of the text in memory. */
function beginningOf(text: string): string {
  if (text.length <= CHARACTERS_KEPT) return text;
  return Buffer.from(text.slice(0, CHARACTERS_KEPT), 'utf16le').toString('utf16le');
}

/** A request target for logs and journals: without its query, and without a key that is where it does not belong. */
export function loggedPath(target: string): string {
  return target.replace(/[?#].*$/s, '').replace(/psk_[^/]*/g, 'psk_…');
}
