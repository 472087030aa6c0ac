import pg, { type Submittable } from 'pg';
import type { LimitsStore } from '../../src/rate-limit/limits-store.ts';
import type { Clock } from '../../src/shared/clock.ts';
import { type DatabaseAddress, parseDatabaseUrl } from '../../src/shared/database-url.ts';
import { configOf, type DatabaseServer } from '../../src/state/postgres/client-config.ts';
import { PostgresConnection, selectNow } from '../../src/state/postgres/connection.ts';
import { Pipeline, type Protocol } from '../../src/state/postgres/pipeline.ts';
import { PostgresLimits } from '../../src/state/postgres/postgres-limits.ts';
import { PostgresStore } from '../../src/state/postgres/postgres-store.ts';
import { makeTables } from '../../src/state/postgres/schema.ts';
import { type OpenWire, openWire, type Wire } from '../../src/state/postgres/wire.ts';
import { type Answers, type Statement, statement } from '../../src/state/statements.ts';
import { createTestClock } from '../support/clock.ts';
import { newDatabase } from '../support/postgres.ts';
import type { Timeline } from './virtual-clock.ts';

/** A client that says nothing inside a transaction is ended after so long, in milliseconds: petstock sets it so. */
const longestIdle = 2000;

/** For what the tests themselves ask of it, in milliseconds. */
const longest = 60_000;

/** Limits, the time, and the settings that come before. */
const onlyReads = /^SELECT (version,|\(extract|pg_catalog\.set_config)/;

/** A connection to the database, which serves one process after the other. */
interface Line {
  readonly wire: Pick<Wire, 'ask' | 'close'>;
  /** Whose it is. */
  session: Session | undefined;
  /** Called with each notice. */
  onNotice(): void;
}

/** What a process has of a line: over when the line serves others again. */
interface Session {
  readonly line: Line;
  /** What was read since the last write, by what was asked: it would be the same once more. */
  readonly read: Map<string, Answers>;
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
  readonly #lines: Line[] = [];
  /** Of nobody's. */
  readonly #own: Wire;

  private constructor(address: DatabaseAddress, own: Wire) {
    this.#address = address;
    this.#own = own;
  }

  static async open(): Promise<SimulatedDatabase> {
    const address = parseDatabaseUrl(await newDatabase());
    if (!address.ok) throw new Error(address.fault);
    const [server] = address.value.hosts;
    if (server === undefined) throw new Error('the database has no host');
    const own = await openWire({ ...address.value, ...server }, () => {});
    const database = new SimulatedDatabase(address.value, own);
    // Makes the tables.
    await (await database.#connect(createTestClock(), openWire)).close();
    await own.ask([statement('CREATE TABLE kept AS TABLE petstock.limits')], longest);
    return database;
  }

  /** Begins one of any number at a time, each with names of its own for the keys. @param now by the clock of the database: milliseconds since the Unix epoch */
  begin(now: () => number): Simulation {
    return new Simulation(this.#own, now, false);
  }

  /** Begins one in which the database may crash, with nothing in it: no other may go on meanwhile. */
  async beginCrashing(now: () => number): Promise<Simulation> {
    await this.#own.ask(['petstock.limits', 'kept'].map(emptied), longest);
    return new Simulation(this.#own, now, true);
  }

  /** Connects a process. */
  async limits(simulation: Simulation, client: DatabaseClient): Promise<LimitsStore> {
    const connection = await this.#connect(client.clock, async (server, onNotice) => {
      const line = this.#lines.find(isFree) ?? (await client.timeline.standStill(() => newLine(server)));
      if (!this.#lines.includes(line)) this.#lines.push(line);
      return simulation.serve(line, client, onNotice);
    });
    const limits = new PostgresLimits(connection, new PostgresStore(connection, client.clock, undefined), client.clock);
    connection.onNotice = () => limits.heard();
    return limits;
  }

  async close(): Promise<void> {
    for (const { wire } of this.#lines) await wire.close();
    await this.#own.close();
  }

  #connect(clock: Clock, open: OpenWire): Promise<PostgresConnection> {
    const prepare = (ask: Parameters<typeof makeTables>[0]) => makeTables(ask, this.#address.shown);
    return PostgresConnection.open({ address: this.#address, clock, openWire: open, prepare });
  }
}

async function newLine(server: DatabaseServer): Promise<Line> {
  const wire = await openPreparing(server, () => line.onNotice());
  const line: Line = { wire, session: undefined, onNotice: () => {} };
  return line;
}

/** A transaction that goes on for several round trips. */
interface Transaction {
  readonly session: Session;
  readonly over: Promise<void>;
  end(): void;
}

/** What one simulation sees of it. */
export class Simulation {
  readonly #own: Wire;
  readonly #now: () => number;
  readonly #mayCrash: boolean;
  readonly #sessions = new Set<Session>();
  /** Called with a notice, which each process hears in its own time. */
  readonly #listeners = new Map<Session, () => void>();
  /** Nobody else writes meanwhile. */
  #transaction: Transaction | undefined;
  #turn: Promise<void> = Promise.resolve();
  #isOver = false;

  constructor(own: Wire, now: () => number, mayCrash: boolean) {
    this.#own = own;
    this.#now = now;
    this.#mayCrash = mayCrash;
  }

  /** Returns a connection as its process sees it. */
  serve(line: Line, { clock, timeline, trip }: DatabaseClient, onNotice: () => void): Wire {
    // Of a killed process that connects after the end nobody would take its line again.
    if (this.#isOver) throw new Error('the simulation is over');
    const session: Session = { line, read: new Map(), isOver: false };
    line.session = session;
    this.#sessions.add(session);
    this.#listeners.set(session, () => void clock.deadline(trip / 2.5, onNotice));
    let stillHere = () => {};
    const ask: Wire['ask'] = async (statements, within) => {
      // What was sent arrives, whatever becomes of its sender.
      if (trip > 0) await new Promise<void>((resolve) => void timeline.schedule(timeline.passed + trip / 2, resolve));
      stillHere();
      await this.#lock(session, statements);
      try {
        return await timeline.standStill(() => this.#inTurn(() => this.#run(session, statements, within)));
      } finally {
        if (/^(COMMIT|ROLLBACK)$/.test(statements.at(-1)?.sql ?? '')) this.#unlock(session);
        else if (this.#transaction?.session === session) {
          stillHere = timeline.schedule(timeline.passed + longestIdle, () => this.#hangUp(session));
        }
        if (trip > 0) await clock.sleep(trip / 2);
      }
    };
    return {
      ask,
      get isOver() {
        return session.isOver;
      },
      close: async () => {},
      destroy: () => this.#hangUp(session),
    };
  }

  /** Nothing of its processes happens any more. */
  async end(): Promise<void> {
    this.#isOver = true;
    for (const session of this.#sessions) this.#hangUp(session);
    await this.#turn;
  }

  /** The server is killed, and runs again: what no commit has waited for is gone. */
  async crash(timeline: Timeline): Promise<void> {
    await timeline.standStill(() =>
      this.#inTurn(async () => {
        if (this.#transaction !== undefined) await rollBack(this.#transaction.session.line);
        for (const session of this.#sessions) this.#end(session);
        const restored = statement('INSERT INTO petstock.limits TABLE kept');
        await this.#own.ask([...['petstock.epoch', 'petstock.limits'].map(emptied), restored], longest);
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
    if (this.#transaction?.session === session) this.#turn = this.#turn.then(() => rollBack(session.line));
    this.#end(session);
  }

  /** The process has to connect again. */
  #end(session: Session): void {
    session.isOver = true;
    if (session.line.session === session) session.line.session = undefined;
    this.#sessions.delete(session);
    this.#listeners.delete(session);
    this.#unlock(session);
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#turn = this.#turn.then(() => (this.#isOver ? undefined : work().then(resolve, reject)));
    });
  }

  async #run(session: Session, statements: readonly Statement[], within: number): Promise<Answers> {
    if (session.isOver) throw new Error('Connection terminated');
    const answers = await this.#answers(session, statements, within);
    if (this.#mayCrash && statements.some(({ sql }) => sql.includes('pg_logical_emit_message'))) {
      await this.#own.ask([emptied('kept'), statement('INSERT INTO kept TABLE petstock.limits')], longest);
    }
    return answers.map((rows, index) => (statements[index] === selectNow ? [{ now: String(this.#now()) }] : rows));
  }

  async #answers(
    { line: { wire }, read }: Session,
    statements: readonly Statement[],
    within: number,
  ): Promise<Answers> {
    if (!statements.every(({ sql }) => onlyReads.test(sql))) {
      for (const session of this.#sessions) session.read.clear();
      return this.#tellAll(statements, () => wire.ask(statements, within));
    }
    const asked = String(statements.at(-1)?.values);
    const answers = read.get(asked) ?? (await wire.ask(statements, within));
    read.set(asked, answers);
    return answers;
  }

  /** Whoever listens has been told when it returns. */
  async #tellAll(statements: readonly Statement[], ask: () => Promise<Answers>): Promise<Answers> {
    if (!statements.some(({ sql }) => sql.includes('pg_notify'))) return ask();
    const told = [...this.#listeners].map(([{ line }, tell]) => nextNotice(line).then(tell));
    const answers = await ask();
    await Promise.all(told);
    return answers;
  }
}

function isFree({ session }: Line): boolean {
  return session === undefined;
}

/** Not TRUNCATE, which makes a new file. */
function emptied(table: string): Statement {
  return statement(`DELETE FROM ${table}`);
}

async function rollBack({ wire }: Line): Promise<void> {
  await wire.ask([statement('ROLLBACK')], longest);
}

function nextNotice(line: Line): Promise<void> {
  return new Promise((resolve) => {
    line.onNotice = resolve;
  });
}

/** As `openWire`, but what was parsed once is kept by the server: parsing took most of the time of a simulation. */
async function openPreparing(server: DatabaseServer, onNotice: () => void): Promise<Line['wire']> {
  const client = new pg.Client(configOf(server, false));
  client.on('notification', onNotice);
  await client.connect();
  const names = new Map<string, string>();
  return {
    ask: (statements) =>
      new Promise((resolve, reject) => {
        const pipeline = new Pipeline(statements, (error, rows = []) =>
          error === null ? resolve(rows) : reject(error),
        );
        const submit = (protocol: Protocol) => Pipeline.prototype.submit.call(pipeline, preparing(protocol, names));
        client.query(Object.assign(pipeline, { submit }) as unknown as Submittable);
      }),
    close: () => client.end(),
  };
}

/** @param names of what the server has parsed, by its text */
function preparing(protocol: Protocol, names: Map<string, string>): Protocol {
  const { stream } = protocol;
  let name = '';
  return {
    stream,
    parse: ({ text, types }) => {
      const known = names.get(text);
      name = known ?? `statement ${names.size}`;
      if (known === undefined) protocol.parse({ text, name, types });
      names.set(text, name);
    },
    describe: ({ type }) => protocol.describe({ type, name }),
    bind: (message) => protocol.bind({ ...message, statement: name }),
    execute: (message) => protocol.execute(message),
    sync: () => protocol.sync(),
    on: (event, listener) => protocol.on(event, listener),
  };
}
