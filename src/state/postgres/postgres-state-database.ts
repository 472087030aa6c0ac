import type { Clock } from '../../shared/clock.ts';
import type { Durability, StateDatabase, TransactionBody } from '../state-database.ts';
import { number, piecesOf, type ResultSets, type Statement, statement } from '../statements.ts';
import { type Ask, commit, type PostgresConnection, selectNow } from './connection.ts';
import { sharedBoot } from './limit-times.ts';

/**
 * Runs transactions in round trips: the first locks the service, reads the clock and loads rows; the last writes and
 * commits. A client that is suspended in between is disconnected by the server before others give up waiting for its
 * lock.
 */
export class PostgresStateDatabase implements StateDatabase {
  readonly name: string;
  readonly isInPlace = true;
  readonly time: PostgresConnection['time'];
  readonly #connection: PostgresConnection;
  readonly #clock: Clock;
  /**
   * How long a durable transaction waits for a database that can no longer be reached, in milliseconds; nothing is sent
   * meanwhile. Undefined for the default of 5 s.
   */
  readonly #maxWait: number | undefined;
  /** Names of services known to have a row in the table `services`. */
  readonly #services = new Set<string>();

  constructor(connection: PostgresConnection, clock: Clock, maxWait: number | undefined) {
    this.#connection = connection;
    this.time = connection.time;
    this.#clock = clock;
    this.#maxWait = maxWait;
    this.name = `The shared state at ${connection.shown}`;
  }

  get generation(): number {
    return this.#connection.generation;
  }

  get moment(): StateDatabase['moment'] {
    const now = this.time.earliest(this.#clock.monotonic());
    return { now, wall: now, boot: sharedBoot };
  }

  async transact<Result>(
    kind: Durability,
    service: string | undefined,
    work: TransactionBody<Result>,
  ): Promise<Result> {
    await this.#connection.align();
    return this.#connection.again(
      (ask) => this.#run(ask, kind, service, work),
      kind === 'durable' ? this.#maxWait : undefined,
    );
  }

  async query(...statements: readonly Statement[]): Promise<ResultSets> {
    const isNothing = statements.every((asked) => piecesOf(asked).length === 0);
    return isNothing ? statements.map(() => []) : this.#connection.query(statements);
  }

  /**
   * Vacuums, unless `isBrief` is set. An error, as for a role that may not do so, is ignored: the server also vacuums.
   */
  async reclaim({ isBrief = false } = {}): Promise<void> {
    if (isBrief) return;
    const tables = ['rows', 'runs'].map((table) => statement(`VACUUM petstock.${table}`));
    for (const table of tables)
      await this.#connection.query([table], { continues: true, noStatementTimeout: true }).catch(() => {});
  }

  async #run<Result>(
    ask: Ask,
    kind: Durability,
    service: string | undefined,
    work: TransactionBody<Result>,
  ): Promise<Result> {
    // The latest possible time, until the exact one is read: a lease must not end earlier than its owner believes.
    const monotonic = this.#clock.monotonic();
    const now = this.time.latest(monotonic);
    const at = { now, wall: (now + this.time.earliest(monotonic)) / 2, boot: sharedBoot, writes: [], allocated: 0 };
    const steps = work(at);
    let step = steps.next([]);
    const opening = this.#locking(service);
    const options = { isDurable: kind === 'durable', begins: true };
    if (step.done) {
      await ask([...opening, ...at.writes, commit], options);
    } else {
      // The time is read under the lock.
      const answers = await ask([...opening, selectNow, ...step.value], options);
      const [[time] = [], ...loaded] = answers.slice(opening.length);
      at.now = at.wall = number(time?.now) ?? now;
      for (step = steps.next(loaded); !step.done; step = steps.next(await ask(step.value, continues)));
      await ask([...at.writes, commit], continues);
    }
    if (service !== undefined) this.#services.add(service);
    return step.value;
  }

  /** Returns the statements that lock a service for its transactions, by its row. */
  #locking(service: string | undefined): Statement[] {
    if (service === undefined) return [];
    const insert = statement('INSERT INTO petstock.services (name) VALUES (?) ON CONFLICT (name) DO NOTHING', service);
    const lock = statement('SELECT id FROM petstock.services WHERE name = ? FOR UPDATE', service);
    return this.#services.has(service) ? [lock] : [insert, lock];
  }
}

const continues = { continues: true } as const;
