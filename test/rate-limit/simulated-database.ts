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

/** Milliseconds after which a client that is silent inside a transaction is disconnected, as petstock sets it. */
const maxIdle = 2000;

/** Time-out of the statements of the tests themselves, in milliseconds. */
const longest = 60_000;

/** A connection of a process to the database. */
interface Session {
  readonly wire: Wire;
  /** Called with each notice that its process is to hear, in its own time. */
  readonly tell: () => void;
  /** Called with each notice. */
  onNotice(): void;
  isOver: boolean;
}

/** A process of a simulation. */
export interface DatabaseClient {
  readonly clock: Clock;
  readonly timeline: Timeline;
  /** Milliseconds there and back. */
  readonly trip: number;
}

/**
 * The PostgreSQL of the tests, whose clients live in virtual time: it runs their statements as they are, one pipeline after the
 * other in the order in which they arrive, and that time stands still meanwhile.
 */
export class SimulatedDatabase {
  readonly #address: DatabaseAddress;
  /** A connection that no process of a simulation uses. */
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
    // Makes the tables.
    await (await database.#connect(createTestClock(), openWire)).close();
    await own.query([statement('CREATE TABLE kept AS TABLE petstock.limits')], longest);
    return database;
  }

  /**
   * Begins one of any number at a time, each with names of its own for the keys. One in which the database may crash has it to
   * itself, with nothing in it.
   * @param now by the clock of the database: milliseconds since the Unix epoch
   */
  async begin(now: () => number, mayCrash: boolean): Promise<Simulation> {
    if (mayCrash) await this.#own.query(['petstock.limits', 'kept'].map(emptied), longest);
    return new Simulation(this.#own, now, mayCrash);
  }

  /** Connects a process. */
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

/** A transaction of several round trips. */
interface Transaction {
  readonly session: Session;
  readonly over: Promise<void>;
  end(): void;
}

/** One simulation's view of the database. */
export class Simulation {
  readonly #own: Wire;
  readonly #now: () => number;
  readonly #mayCrash: boolean;
  readonly #opened: Session[] = [];
  readonly #sessions = new Set<Session>();
  readonly #listeners = new Set<Session>();
  /** While it is set, no other process writes. */
  #transaction: Transaction | undefined;
  #turn: Promise<void> = Promise.resolve();
  #isOver = false;

  constructor(own: Wire, now: () => number, mayCrash: boolean) {
    this.#own = own;
    this.#now = now;
    this.#mayCrash = mayCrash;
  }

  /** Returns a connection as its process sees it. */
  serve(session: Session, { clock, timeline, trip }: DatabaseClient): Wire {
    this.#opened.push(session);
    this.#sessions.add(session);
    let stillHere = () => {};
    const query: Wire['query'] = async (statements) => {
      // A request that was sent arrives, whatever happens to its sender.
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

  /** Stops all of its processes. */
  async end(): Promise<void> {
    this.#isOver = true;
    for (const session of this.#sessions) this.#hangUp(session);
    await this.#turn;
    await Promise.all(this.#opened.map(({ wire }) => wire.close()));
  }

  /** Kills and restarts the server: changes that no commit has waited for are lost. */
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

  /** Waits for the transaction of another process. */
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

  /** The server ends what the process has begun, before anything else is asked of it. */
  #hangUp(session: Session): void {
    if (this.#transaction?.session === session) this.#turn = this.#turn.then(() => rollBack(session));
    this.#end(session);
  }

  /** The process has to connect again. */
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

  /** Listeners have been notified when it returns. */
  async #tellAll(statements: readonly Statement[], ask: () => Promise<ResultSets>): Promise<ResultSets> {
    if (!statements.some(({ sql }) => sql.includes('pg_notify'))) return ask();
    const told = [...this.#listeners].map((session) => nextNotice(session).then(session.tell));
    const answers = await ask();
    await Promise.all(told);
    return answers;
  }
}

/** Not TRUNCATE, which makes a new file. */
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
