export interface JournalEntry {
  /** When the request arrived, by the service's clock: milliseconds since the Unix epoch. */
  readonly time: number;
  readonly method: string;
  /** See `loggablePath`. */
  readonly path: string;
  /** The body; null if none was read completely, or if it was not UTF-8. */
  readonly body: string | null;
  /** The status that was sent; null while the request is pending, and if no response was sent. */
  readonly status: number | null;
}

const KEPT = 10_000;

export interface OpenEntry {
  body: string | null;
  status: number | null;
}

/** The latest 10,000 requests to one service, oldest first. */
export class Journal {
  readonly #entries: (JournalEntry & OpenEntry)[] = [];

  /** @param isKept whether requests are recorded */
  constructor(private readonly isKept: boolean) {}

  open(request: () => Pick<JournalEntry, 'time' | 'method' | 'path'>): OpenEntry {
    if (!this.isKept) return { body: null, status: null };
    const entry = { ...request(), body: null, status: null };
    this.#entries.push(entry);
    if (this.#entries.length >= 2 * KEPT) this.#entries.splice(0, this.#entries.length - KEPT);
    return entry;
  }

  entries(): readonly JournalEntry[] {
    return this.#entries.slice(-KEPT).map((entry) => ({ ...entry }));
  }
}
