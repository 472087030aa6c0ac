import { LockTimeout, type Session } from './postgres-session.ts';
import { statement } from './statements.ts';

/** The first number of an advisory lock: what it locks; `psst` in ASCII, and so on. The second is the service or the run. */
export const locks = {
  transaction: 0x70737374,
  turn: 0x70737375,
  next: 0x70737376,
  line: 0x70737377,
  run: 0x70737378,
} as const;

/**
 * The database ends a session that is silent for so long, in milliseconds, and with it the turn of a stopped process.
 * While it waits for an answer, a session is not silent.
 */
const maxSilence = 5000;
/** How often a process that has the turn has to be heard, in milliseconds. */
export const beat = 2000;
/** How often a bulk run looks whether the turn is free, in milliseconds. */
export const bulkPause = 20;

const listen = statement(`SELECT set_config('idle_session_timeout', '${maxSilence}', false)`);
const unlisten = statement("SELECT set_config('idle_session_timeout', '0', false)");

type Holding = 'nothing' | 'line' | 'next' | 'turn';

/**
 * A process in the order of those that want the turn of a service. A single change waits for `next`, and keeps it until
 * it has the turn; bulk runs line up at a lock of their own, and take the turn only while no single change waits. The
 * database keeps the order of those that wait for one lock. A wait ends after a second, to be begun again, because it
 * keeps the only connection.
 */
export class Place {
  /** The session that the locks belong to. */
  session: Session | undefined;
  #has: Holding = 'nothing';
  readonly #isBulk: boolean;
  readonly #service: number;

  constructor(service: number, isBulk: boolean) {
    this.#service = service;
    this.#isBulk = isBulk;
  }

  get hasTurn(): boolean {
    return this.#has === 'turn';
  }

  /** Whether the next attempt to advance does not wait by itself. */
  get isPolling(): boolean {
    return this.#has === 'line';
  }

  /** Takes what is free, or waits for up to a second. */
  async advance(session: Session): Promise<void> {
    const isFirst = this.session === undefined;
    if (session !== this.session) this.#has = 'nothing';
    this.session = session;
    try {
      const [[found] = []] = await session.ask([statement(isFirst ? this.#first : this.#waiting), listen]);
      this.#has = String(found?.has) as Holding;
    } catch (error) {
      if (!(error instanceof LockTimeout)) throw error;
    }
    if (this.hasTurn && this.#isBulk) void session.ask([this.#unlock('line')]).catch(() => {});
  }

  /** Gives back what it has. */
  async leave(): Promise<void> {
    if (this.session === undefined || this.session.isOver) return;
    const kept = this.#has;
    this.#has = 'nothing';
    await this.session.ask([...(kept === 'nothing' ? [] : [this.#unlock(kept)]), unlisten]);
  }

  get #first(): string {
    if (!this.#isBulk) return `SELECT ${this.#tryTurn('next')} AS has`;
    return `SELECT CASE WHEN pg_try_advisory_lock${this.#of('line')} THEN ${this.#tryTurn('line')} ELSE 'nothing' END AS has`;
  }

  get #waiting(): string {
    if (this.#has === 'line') return `SELECT ${this.#tryTurn('line')} AS has`;
    if (this.#has === 'nothing') {
      const lock = this.#isBulk ? 'line' : 'next';
      return `SELECT '${lock}' AS has FROM pg_advisory_lock${this.#of(lock)}`;
    }
    return `SELECT CASE WHEN pg_advisory_unlock${this.#of('next')} THEN 'turn' END AS has FROM pg_advisory_lock${this.#of('turn')}`;
  }

  /**
   * Takes the turn if it is free and no single change waits.
   * @param keeps what is kept otherwise: a single change keeps `next` if it got that far
   */
  #tryTurn(keeps: 'line' | 'next'): string {
    const [next, turn] = [this.#of('next'), this.#of('turn')];
    const otherwise = keeps === 'next' ? "'next'" : `CASE WHEN pg_advisory_unlock${next} THEN 'line' END`;
    return `CASE WHEN pg_try_advisory_lock${next}
      THEN CASE WHEN pg_try_advisory_lock${turn} THEN CASE WHEN pg_advisory_unlock${next} THEN 'turn' END ELSE ${otherwise} END
      ELSE '${keeps === 'next' ? 'nothing' : 'line'}' END`;
  }

  #unlock(lock: keyof typeof locks) {
    return statement(`SELECT pg_advisory_unlock${this.#of(lock)}`);
  }

  #of(lock: keyof typeof locks): string {
    return `(${locks[lock]}, ${this.#service})`;
  }
}
