import type { Clock } from '../../src/shared/clock.ts';
import type { Answer, Query } from '../../src/state/postgres/connection.ts';
import { DatabaseClock } from '../../src/state/postgres/database-clock.ts';
import { type LimitsConnection, PostgresLimits } from '../../src/state/postgres/postgres-limits.ts';

/** The limits in a database as several machines reach them, each with a way of its own length. */
export class SharedTable {
  readonly #rows = new Map<string, { version: number; state: string }>();
  readonly #listeners: { heard(payload: string): void; readonly after: (run: () => void) => void }[] = [];
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
    this.#listeners.push({ heard: (payload) => limits.heard(payload), after });
    return limits;
  }

  #connect(clock: Clock, trip: number): LimitsConnection {
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
    const write = (values: readonly unknown[]) => this.#write(...(values as [string, number, string, string | null]));
    return {
      time,
      generation: 1,
      get heardAt() {
        return heardAt;
      },
      align: async () => {
        if (time.isDoubtful) await ask(() => undefined);
      },
      callOnce: (_name, ...values) => ask(() => this.#locked(() => write(values))),
      read: async (_text, version, scope) => ask(() => this.#row(String(scope), Number(version))),
      transaction: (work) =>
        this.#locked(async () => {
          const query: Query = (text, ...values) =>
            ask(() => (text.includes('write_limits') ? [{ answer: write(values) }] : this.#row(String(values[0]), 0)));
          return work(query);
        }),
      inWords: (error) => error,
    };
  }

  #locked<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    const turn = this.#lock.then(work);
    this.#lock = turn.catch(() => {});
    return turn;
  }

  #row(scope: string, known: number): Answer[] {
    const row = this.#rows.get(scope);
    if (row === undefined) return [];
    return [{ version: String(row.version), state: row.version === known ? null : row.state }];
  }

  #write(scope: string, version: number, state: string, notice: string | null): Answer {
    const latest = this.#rows.get(scope) ?? { version: 0, state: null };
    if (latest.version !== version) return { written: false, version: String(latest.version), state: latest.state };
    this.#rows.set(scope, { version: version + 1, state });
    if (notice !== null) for (const { heard, after } of this.#listeners) after(() => heard(notice));
    return { written: true };
  }
}
