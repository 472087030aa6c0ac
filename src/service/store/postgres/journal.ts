import { clearTimeout, setTimeout } from 'node:timers';
import { type Journal, type JournalEntry, KEPT, LocalJournal, type OpenEntry } from '../../journal.ts';
import type { Connections } from './connections.ts';

/** How long an entry waits for others, in milliseconds. */
const GATHERING_MS = 250;

/** So many wait at most for a database that does not answer; the oldest are forgotten. */
const MOST_WAITING = KEPT;

/**
 * The journal of all services on the database. An entry is written some time after its answer, with others, and never holds
 * one up. What fails is not tried again: a journal is for those who test clients.
 */
export class PostgresJournal implements Journal {
  readonly #connections: Connections;
  readonly #local: LocalJournal;
  #waiting: JournalEntry[] = [];
  #timer: ReturnType<typeof setTimeout> | null = null;
  #writing: Promise<void> = Promise.resolve();

  /** @param isKept whether entries go to the database at all */
  constructor(connections: Connections, isKept: boolean) {
    this.#connections = connections;
    this.#local = new LocalJournal(isKept ? (entry) => this.#gather({ ...entry }) : undefined);
  }

  open(time: number, method: string, path: string): OpenEntry {
    return this.#local.open(time, method, path);
  }

  entries(): readonly JournalEntry[] {
    return this.#local.entries();
  }

  async all(): Promise<readonly JournalEntry[]> {
    await this.flush();
    const rows = await this.#connections.read<{ readonly entry: JournalEntry }>(
      `SELECT entry FROM (
         SELECT entry, position FROM petstock_service.journal ORDER BY position DESC LIMIT ${KEPT}
       ) AS latest ORDER BY (entry->>'time')::bigint, position`,
    );
    return rows.map(({ entry }) => entry);
  }

  /** Writes what is waiting. Never fails. */
  flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const entries = this.#waiting.splice(0);
    if (entries.length > 0) this.#writing = this.#writing.then(() => this.#write(entries)).catch(() => {});
    return this.#writing;
  }

  #gather(entry: JournalEntry): void {
    this.#waiting.push(entry);
    if (this.#waiting.length > 2 * MOST_WAITING) this.#waiting.splice(0, MOST_WAITING);
    this.#timer ??= setTimeout(() => void this.flush(), GATHERING_MS).unref();
  }

  async #write(entries: readonly JournalEntry[]): Promise<void> {
    await this.#connections.change(
      `WITH put AS (
         INSERT INTO petstock_service.journal (entry)
         SELECT entry FROM unnest($1::jsonb[]) WITH ORDINALITY AS given (entry, at) ORDER BY at RETURNING position
       )
       DELETE FROM petstock_service.journal WHERE position <= (SELECT max(position) FROM put) - ${2 * KEPT}`,
      [
        entries.map((entry) =>
          JSON.stringify(entry, (_, value) => (typeof value === 'string' ? storable(value) : value)),
        ),
      ],
    );
  }
}

/** `jsonb` takes neither NUL nor half of a surrogate pair, which is where a text may have been cut: all entries of a batch would be lost. */
function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD').replace(/\p{Surrogate}/gu, '\uFFFD');
}
