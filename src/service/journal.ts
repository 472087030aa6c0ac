export interface JournalEntry {
  /** When it arrived, by the service's clock: milliseconds since the Unix epoch. */
  readonly time: number;
  readonly method: string;
  /** `/v1/inventory/5`, `/v1/inventory/{petId}` for what is no id, and nothing of what is no path of the API. */
  readonly path: string;
  /** The body as far as it was read, cut at 1024 characters; null when none was read. */
  readonly body: string | null;
  /** The status that was sent; null while it is being answered, and when the answer was never sent. */
  readonly status: number | null;
}

const KEPT = 10_000;

export const CHARACTERS_KEPT = 1024;

export interface OpenEntry {
  body: string | null;
  status: number | null;
}

/** The last requests of one process, oldest first. Bounded: the oldest are dropped. */
export class Journal {
  readonly #entries: (JournalEntry & OpenEntry)[] = [];

  /** @param isKept whether any are kept */
  constructor(private readonly isKept: boolean) {}

  open(time: number, method: string, path: string): OpenEntry {
    const entry = { time, method, path, body: null, status: null };
    if (!this.isKept) return entry;
    this.#entries.push(entry);
    if (this.#entries.length >= 2 * KEPT) this.#entries.splice(0, this.#entries.length - KEPT);
    return entry;
  }

  entries(): readonly JournalEntry[] {
    return this.#entries.slice(-KEPT).map((entry) => ({ ...entry }));
  }
}
