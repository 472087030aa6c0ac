import type { Clock } from '../../src/shared/clock.ts';
import { DatabaseClock } from '../../src/state/postgres/database-clock.ts';
import { PostgresLimits } from '../../src/state/postgres/postgres-limits.ts';
import type { LimitsTable, StoredLimits } from '../../src/state/postgres/postgres-limits-table.ts';

/** The limits in a database as several machines reach them, each with a way of its own length. */
export class SharedTable {
  readonly #rows = new Map<string, { version: number; state: string }>();
  readonly #listeners: { heard(): void; readonly after: (run: () => void) => void }[] = [];
  readonly #now: () => number;
  #lock: Promise<unknown> = Promise.resolve();

  /** @param now by the clock of the database: milliseconds since the Unix epoch */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** @param trip milliseconds there and back */
  limits(clock: Clock, trip: number): PostgresLimits {
    const limits = new PostgresLimits(this.#connect(clock, trip), clock);
    const after = (run: () => void) => void clock.deadline(trip / 2.5, run);
    this.#listeners.push({ heard: () => limits.heard(), after });
    return limits;
  }

  #connect(clock: Clock, trip: number): LimitsTable {
    const time = new DatabaseClock(clock);
    let heardAt = Number.NEGATIVE_INFINITY;
    const ask = async <Result>(work: () => Result | Promise<Result>): Promise<Result> => {
      const sentAt = clock.monotonic();
      if (trip > 0) await clock.sleep(trip / 2);
      const result = await work();
      const now = this.#now();
      if (trip > 0) await clock.sleep(trip / 2);
      time.observe(now, sentAt, clock.monotonic());
      heardAt = sentAt;
      return result;
    };
    return {
      connection: {
        time,
        generation: 1,
        get heardAt() {
          return heardAt;
        },
        align: async () => {
          if (time.isDoubtful) await ask(() => undefined);
        },
        inWords: (error) => error,
      },
      read: async (scope, known) => ask(() => this.#row(scope, known)),
      write: (...values) => ask(() => this.#locked(() => this.#write(...values))),
      change: (scope, change, wakes) =>
        this.#locked(async () => {
          const stored = await ask(() => this.#row(scope, 0));
          const state = change(stored);
          await ask(() => this.#write(scope, stored.version, state, wakes));
          return { version: stored.version + 1, state };
        }),
      keepWritten: () => ask(() => undefined),
      list: async () => [...this.#rows].map(([scope, { state }]) => ({ scope, state })),
    };
  }

  #locked<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    const turn = this.#lock.then(work);
    this.#lock = turn.catch(() => {});
    return turn;
  }

  #row(scope: string, known: number): StoredLimits {
    const row = this.#rows.get(scope);
    if (row === undefined) return { version: 0, state: undefined };
    return { version: row.version, state: row.version === known ? undefined : row.state };
  }

  #write(scope: string, version: number, state: string, wakes: boolean): StoredLimits | undefined {
    const latest = this.#rows.get(scope);
    if ((latest?.version ?? 0) !== version) return this.#row(scope, 0);
    this.#rows.set(scope, { version: version + 1, state });
    if (wakes) for (const { heard, after } of this.#listeners) after(heard);
    return undefined;
  }
}
