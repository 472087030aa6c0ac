import type { LimitsStore } from '../../src/rate-limit/limits-store.ts';
import type { Clock } from '../../src/shared/clock.ts';
import { type DatabaseAddress, parseDatabaseUrl } from '../../src/shared/database-url.ts';
import { PostgresConnection, selectNow } from '../../src/state/postgres/connection.ts';
import { PostgresLimits } from '../../src/state/postgres/postgres-limits.ts';
import { limitsTable } from '../../src/state/postgres/postgres-limits-table.ts';
import { migrate } from '../../src/state/postgres/schema.ts';
import { type OpenWire, openWire, type Wire } from '../../src/state/postgres/wire.ts';
import { type Answers, type Statement, statement } from '../../src/state/store.ts';
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
  readonly wire: Wire;
  /** What was read since the last write, by what was asked: it would be the same once more. */
  readonly read: Map<string, Answers>;
  /** Called with each notice. */
  onNotice(): void;
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
  #simulation: Simulation | undefined;

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

  /** Ends the simulation before. @param now by the clock of the database: milliseconds since the Unix epoch */
  async begin(now: () => number): Promise<void> {
    await this.#simulation?.end();
    await this.#own.ask(['petstock.limits', 'kept'].map(empty), longest);
    this.#simulation = new Simulation(this.#lines, this.#own, now);
  }

  /** The server is killed, and runs again: what no commit has waited for is gone. */
  async crash(timeline: Timeline): Promise<void> {
    await timeline.standStill(async () => this.#simulation?.crash());
  }

  /** Connects a process. */
  async limits(client: DatabaseClient): Promise<LimitsStore> {
    const simulation = this.#simulation;
    const connection = await this.#connect(client.clock, async (server, onNotice) => {
      if (simulation === undefined) throw new Error('no simulation has begun');
      const line = await client.timeline.standStill(async () => simulation.unused ?? this.#newLine(server));
      return simulation.serve(line, client, onNotice);
    });
    const limits = new PostgresLimits(limitsTable(connection), client.clock);
    connection.onNotice = () => limits.heard();
    return limits;
  }

  async close(): Promise<void> {
    await this.#simulation?.end();
    for (const { wire } of this.#lines) await wire.close();
    await this.#own.close();
  }

  #connect(clock: Clock, open: OpenWire): Promise<PostgresConnection> {
    const prepare = (ask: Parameters<typeof migrate>[0]) => migrate(ask, this.#address.shown);
    return PostgresConnection.open({ address: this.#address, clock, openWire: open, prepare });
  }

  async #newLine(server: Parameters<OpenWire>[0]): Promise<Line> {
    const wire = await openWire(server, () => line.onNotice());
    const line: Line = { wire, read: new Map(), onNotice: () => {} };
    this.#lines.push(line);
    return line;
  }
}

/** A transaction that goes on for several round trips. */
interface Transaction {
  readonly line: Line;
  readonly over: Promise<void>;
  end(): void;
}

class Simulation {
  readonly now: () => number;
  /** All that are open. */
  readonly #lines: readonly Line[];
  readonly #own: Wire;
  readonly #used = new Set<Line>();
  /** Called with a notice, which each process hears in its own time. */
  readonly #listeners: (() => void)[] = [];
  /** Nobody else writes meanwhile. */
  #transaction: Transaction | undefined;
  #turn: Promise<void> = Promise.resolve();
  #isOver = false;

  constructor(lines: readonly Line[], own: Wire, now: () => number) {
    this.#lines = lines;
    this.#own = own;
    this.now = now;
  }

  /** A connection that no process has. */
  get unused(): Line | undefined {
    return this.#lines.find((line) => !(line.wire.isOver || this.#used.has(line)));
  }

  /** Returns a connection as its process sees it. */
  serve(line: Line, { clock, timeline, trip }: DatabaseClient, onNotice: () => void): Wire {
    this.#used.add(line);
    this.#listeners.push(() => void clock.deadline(trip / 2.5, onNotice));
    let stillHere = () => {};
    const ask: Wire['ask'] = async (statements, within) => {
      // What was sent arrives, whatever becomes of its sender.
      if (trip > 0) await new Promise<void>((resolve) => void timeline.schedule(timeline.passed + trip / 2, resolve));
      stillHere();
      await this.#lock(line, statements);
      try {
        return await timeline.standStill(() => this.#inTurn(() => this.#run(line, statements, within)));
      } finally {
        if (/^(COMMIT|ROLLBACK)$/.test(statements.at(-1)?.sql ?? '')) this.#unlock(line);
        else if (this.#transaction?.line === line) {
          stillHere = timeline.schedule(timeline.passed + longestIdle, () => this.#hangUp(line));
        }
        if (trip > 0) await clock.sleep(trip / 2);
      }
    };
    return {
      ask,
      get isOver() {
        return line.wire.isOver;
      },
      close: async () => {},
      destroy: () => this.#hangUp(line),
    };
  }

  /** Nothing of its processes happens any more. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#turn;
    if (this.#transaction !== undefined) this.#hangUp(this.#transaction.line);
  }

  crash(): Promise<unknown> {
    return this.#inTurn(() => {
      for (const line of this.#used) this.#hangUp(line);
      const restored = statement('INSERT INTO petstock.limits TABLE kept');
      return this.#own.ask([...['petstock.epoch', 'petstock.limits'].map(empty), restored], longest);
    });
  }

  /** Waits for the transaction of another process. */
  async #lock(line: Line, statements: readonly Statement[]): Promise<void> {
    if (!statements.some(({ sql }) => sql.startsWith('BEGIN'))) return;
    while (this.#transaction !== undefined && this.#transaction.line !== line) await this.#transaction.over;
    this.#unlock(line);
    let end = () => {};
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#transaction = { line, over, end };
  }

  #unlock(line: Line): void {
    if (this.#transaction?.line !== line) return;
    this.#transaction.end();
    this.#transaction = undefined;
  }

  #hangUp(line: Line): void {
    line.wire.destroy();
    this.#unlock(line);
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#turn = this.#turn.then(() => (this.#isOver ? undefined : work().then(resolve, reject)));
    });
  }

  async #run(line: Line, statements: readonly Statement[], within: number): Promise<Answers> {
    if (line.wire.isOver) throw new Error('Connection terminated');
    const answers = await this.#answers(line, statements, within);
    if (statements.some(({ sql }) => sql.includes('pg_logical_emit_message'))) {
      await this.#own.ask([empty('kept'), statement('INSERT INTO kept TABLE petstock.limits')], longest);
    }
    return answers.map((rows, index) => (statements[index] === selectNow ? [{ now: String(this.now()) }] : rows));
  }

  async #answers(line: Line, statements: readonly Statement[], within: number): Promise<Answers> {
    if (!statements.every(({ sql }) => onlyReads.test(sql))) {
      for (const { read } of this.#lines) read.clear();
      return this.#tellAll(statements, () => line.wire.ask(statements, within));
    }
    const asked = String(statements.at(-1)?.values);
    const answers = line.read.get(asked) ?? (await line.wire.ask(statements, within));
    line.read.set(asked, answers);
    return answers;
  }

  /** Whoever listens has been told when it returns. */
  async #tellAll(statements: readonly Statement[], ask: () => Promise<Answers>): Promise<Answers> {
    if (!statements.some(({ sql }) => sql.includes('pg_notify'))) return ask();
    const told = this.#lines.filter(({ wire }) => !wire.isOver).map(nextNotice);
    const answers = await ask();
    await Promise.all(told);
    for (const tell of this.#listeners) tell();
    return answers;
  }
}

function empty(table: string): Statement {
  return statement(`TRUNCATE ${table}`);
}

function nextNotice(line: Line): Promise<void> {
  return new Promise((resolve) => {
    line.onNotice = resolve;
  });
}
