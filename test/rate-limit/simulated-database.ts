import type { KeyLimits } from '../../src/rate-limit/key-limits.ts';
import type { Clock } from '../../src/shared/clock.ts';
import { type DatabaseAddress, parseDatabaseUrl } from '../../src/shared/database-url.ts';
import { PostgresConnection, selectNow } from '../../src/state/postgres/connection.ts';
import { PostgresLimits } from '../../src/state/postgres/postgres-limits.ts';
import { PostgresStateDatabase } from '../../src/state/postgres/postgres-state-database.ts';
import { makeTables } from '../../src/state/postgres/schema.ts';
import { type OpenWire, openWire, type Wire } from '../../src/state/postgres/wire.ts';
import { type ResultSets, type Statement, statement } from '../../src/state/statements.ts';
import { createTestClock } from '../support/clock.ts';
import { newDatabase } from '../support/postgres.ts';
import type { Timeline } from './virtual-clock.ts';

/** Milliseconds after which a client that is idle in a transaction is disconnected, as petstock sets it. */
const maxIdle = 2000;

/** Timeout of the tests' own statements, in milliseconds. */
const longest = 60_000;

interface Session {
  readonly wire: Wire;
  /** Delivers a notice to the process, after the latency of its connection. */
  readonly tell: () => void;
  onNotice(): void;
  isOver: boolean;
}

export interface DatabaseClient {
  readonly clock: Clock;
  readonly timeline: Timeline;
  /** Milliseconds of a round trip. */
  readonly trip: number;
}

/** A PostgreSQL server whose clients live in virtual time, which stands still while their pipelines run, one by one. */
export class SimulatedDatabase {
  readonly #address: DatabaseAddress;
  readonly #own: Wire;

  private constructor(address: DatabaseAddress, own: Wire) {
    this.#address = address;
    this.#own = own;
  }

  static async open(): Promise<SimulatedDatabase> {
    const address = parseDatabaseUrl(await newDatabase());
    if (!address.ok) throw new Error(address.problem);
    const [server] = address.value.hosts;
    if (server === undefined) throw new Error('the database has no host');
    const own = await openWire({ ...address.value, ...server }, () => {});
    const database = new SimulatedDatabase(address.value, own);
    // Creates the tables.
    await (await database.#connect(createTestClock(), openWire)).close();
    await own.query([statement('CREATE TABLE kept AS TABLE petstock.limits')], longest);
    return database;
  }

  /**
   * Begins a simulation. Many may run at once, under different names of keys; but if the database may crash, only one,
   * with empty tables.
   * @param now the database's clock: milliseconds since the Unix epoch
   */
  async begin(now: () => number, mayCrash: boolean): Promise<Simulation> {
    if (mayCrash) await this.#own.query(['petstock.limits', 'kept'].map(emptied), longest);
    return new Simulation(this.#own, now, mayCrash);
  }

  /** Connects a process, and returns its limits. */
  async limits(simulation: Simulation, client: DatabaseClient): Promise<KeyLimits> {
    const connection = await this.#connect(client.clock, async (server, onNotice) => {
      const session: Session = await client.timeline.standStill(async () => {
        const wire = await openWire(server, () => session.onNotice());
        const tell = () => void client.clock.deadline(client.trip / 2.5, onNotice);
        return { wire, tell, onNotice: () => {}, isOver: false };
      });
      return simulation.serve(session, client);
    });
    const limits = new PostgresLimits(
      connection,
      new PostgresStateDatabase(connection, client.clock, undefined),
      client.clock,
    );
    connection.onNotice = () => limits.invalidate();
    return limits;
  }

  close(): Promise<void> {
    return this.#own.close();
  }

  #connect(clock: Clock, open: OpenWire): Promise<PostgresConnection> {
    const prepare = (ask: Parameters<typeof makeTables>[0]) => makeTables(ask, this.#address.shown);
    return PostgresConnection.open({ address: this.#address, clock, openWire: open, prepare });
  }
}

/** A transaction, which may take several round trips. */
interface Transaction {
  readonly session: Session;
  readonly over: Promise<void>;
  end(): void;
}

/** The part of the database that one simulation uses. */
export class Simulation {
  readonly #own: Wire;
  readonly #now: () => number;
  readonly #mayCrash: boolean;
  readonly #opened: Session[] = [];
  readonly #sessions = new Set<Session>();
  readonly #listeners = new Set<Session>();
  /** The open transaction. Other processes wait for its end before they begin one. */
  #transaction: Transaction | undefined;
  #turn: Promise<void> = Promise.resolve();
  #isOver = false;

  constructor(own: Wire, now: () => number, mayCrash: boolean) {
    this.#own = own;
    this.#now = now;
    this.#mayCrash = mayCrash;
  }

  /** Returns a connection whose messages take the process's latency. */
  serve(session: Session, { clock, timeline, trip }: DatabaseClient): Wire {
    this.#opened.push(session);
    this.#sessions.add(session);
    let stillHere = () => {};
    const query: Wire['query'] = async (statements) => {
      // A request that was sent arrives even if its process is killed.
      if (trip > 0) await new Promise<void>((resolve) => void timeline.schedule(timeline.passed + trip / 2, resolve));
      stillHere();
      await this.#lock(session, statements);
      try {
        return await timeline.standStill(() => this.#inTurn(() => this.#run(session, statements)));
      } finally {
        if (/^(COMMIT|ROLLBACK)$/.test(statements.at(-1)?.sql ?? '')) this.#unlock(session);
        else if (this.#transaction?.session === session) {
          stillHere = timeline.schedule(timeline.passed + maxIdle, () => this.#hangUp(session));
        }
        if (trip > 0) await clock.sleep(trip / 2);
      }
    };
    return {
      query,
      get isOver() {
        return session.isOver;
      },
      close: async () => {},
      destroy: () => this.#hangUp(session),
    };
  }

  /** Disconnects all processes of the simulation. */
  async end(): Promise<void> {
    this.#isOver = true;
    for (const session of this.#sessions) this.#hangUp(session);
    await this.#turn;
    await Promise.all(this.#opened.map(({ wire }) => wire.close()));
  }

  /** Crashes and restarts the server: changes since the last durable commit are lost. */
  async crash(timeline: Timeline): Promise<void> {
    await timeline.standStill(() =>
      this.#inTurn(async () => {
        if (this.#transaction !== undefined) await rollBack(this.#transaction.session);
        for (const session of this.#sessions) this.#end(session);
        const restored = statement('INSERT INTO petstock.limits TABLE kept');
        await this.#own.query([...['petstock.epoch', 'petstock.limits'].map(emptied), restored], longest);
      }),
    );
  }

  /** Begins a transaction, once that of another process has ended. */
  async #lock(session: Session, statements: readonly Statement[]): Promise<void> {
    if (!statements.some(({ sql }) => sql.startsWith('BEGIN'))) return;
    while (this.#transaction !== undefined && this.#transaction.session !== session) await this.#transaction.over;
    this.#unlock(session);
    let end = () => {};
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#transaction = { session, over, end };
  }

  #unlock(session: Session): void {
    if (this.#transaction?.session !== session) return;
    this.#transaction.end();
    this.#transaction = undefined;
  }

  /** Disconnects a process. Its transaction is rolled back before the next statement runs. */
  #hangUp(session: Session): void {
    if (this.#transaction?.session === session) this.#turn = this.#turn.then(() => rollBack(session));
    this.#end(session);
  }

  /** Ends a session, so that its process has to connect again. */
  #end(session: Session): void {
    session.isOver = true;
    this.#sessions.delete(session);
    this.#listeners.delete(session);
    this.#unlock(session);
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#turn = this.#turn.then(() => (this.#isOver ? undefined : work().then(resolve, reject)));
    });
  }

  async #run(session: Session, statements: readonly Statement[]): Promise<ResultSets> {
    if (session.isOver) throw new Error('Connection terminated');
    const answers = await this.#tellAll(statements, () => session.wire.query(statements, longest));
    if (statements.some(({ sql }) => sql.startsWith('LISTEN'))) this.#listeners.add(session);
    if (this.#mayCrash && statements.some(({ sql }) => sql.includes('pg_logical_emit_message'))) {
      await this.#own.query([emptied('kept'), statement('INSERT INTO kept TABLE petstock.limits')], longest);
    }
    return answers.map((rows, index) => (statements[index] === selectNow ? [{ now: String(this.#now()) }] : rows));
  }

  /** Runs statements, and resolves once the listeners were notified. */
  async #tellAll(statements: readonly Statement[], ask: () => Promise<ResultSets>): Promise<ResultSets> {
    if (!statements.some(({ sql }) => sql.includes('pg_notify'))) return ask();
    const told = [...this.#listeners].map((session) => nextNotice(session).then(session.tell));
    const answers = await ask();
    await Promise.all(told);
    return answers;
  }
}

/** Returns a DELETE, because TRUNCATE would make a new file. */
function emptied(table: string): Statement {
  return statement(`DELETE FROM ${table}`);
}

async function rollBack({ wire }: Session): Promise<void> {
  await wire.query([statement('ROLLBACK')], longest);
}

function nextNotice(session: Session): Promise<void> {
  return new Promise((resolve) => {
    session.onNotice = resolve;
  });
}
