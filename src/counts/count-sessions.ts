import { type BarCodes, barCodesText } from '../inventory/bar-codes.ts';
import type { Clock } from '../shared/clock.ts';
import { ConflictError, NotFoundError, UsageError } from '../shared/errors.ts';
import type { Processes } from '../shared/processes.ts';
import { idAt } from '../state/run-ids.ts';
import type { SqliteConnection } from '../state/sqlite/connection.ts';
import { mergedOf } from './account.ts';
import { OpenCountSession } from './open-count-session.ts';
import {
  addScans,
  type CountSession,
  type CountSessionHead,
  DamagedCountSession,
  endSession,
  hasTables,
  makeTables,
  type SessionContent,
  sessionOf,
} from './session-tables.ts';

export interface SessionSystem {
  readonly clock: Clock;
  readonly processes: Processes;
  /** Returns a number in [0, 1). */
  random(): number;
  /** Prints a line about a damaged session. */
  warn(line: string): void;
}

export interface NewSession extends Omit<SessionContent, 'head'> {
  readonly head: Omit<CountSessionHead, 'session' | 'at'>;
}

const hint = 'petstock inventory count --list';

/**
 * How long after its last sign of life a process that can't be checked (see `#isHeld`) still holds a session, in
 * milliseconds. A sign of life in the near future counts, too, because the clock may have been set back.
 */
const aliveFor = 15_000;

/** The sessions of stock counts on this machine: tables in the local `state.db`. */
export class CountSessions {
  /** This process, as stored in the table. */
  readonly #holder: string;

  constructor(
    private readonly connection: SqliteConnection,
    private readonly system: SessionSystem,
  ) {
    this.#holder = JSON.stringify(system.processes.self);
    makeTables(connection);
  }

  /**
   * Returns the sessions, newest first; warns about damaged ones.
   * @param all whether to include finished sessions
   */
  list(all: boolean): readonly CountSession[] {
    const { sound, damaged } = readAll(this.connection, all ? '' : 'WHERE ended IS NULL');
    for (const { message } of damaged) this.system.warn(message);
    return sound.map((row) => this.#facts(row));
  }

  /**
   * Returns a session by its whole id, or by the last four characters.
   * @throws UsageError if the text is not an id, NotFoundError if there is no such session, DamagedCountSession if the
   * session can't be read
   */
  find(text: string): CountSession {
    if (!/^(?:\d{8}(?:\d\d)?T\d{6}Z-)?[0-9a-z]{4}$/i.test(text)) {
      throw new UsageError(`${JSON.stringify(text.slice(0, 40))} is not the id of a session, such as k3x9`, { hint });
    }
    const sql = 'SELECT * FROM counts WHERE substr(session, -4) = ?';
    const rows = this.connection.all(sql, text.slice(-4).toLowerCase());
    const row = rows.find(({ session }) => text.length === 4 || session === text);
    if (row === undefined) throw new NotFoundError(`There is no session ${text}`, { hint });
    return this.#facts(sessionOf(this.connection, row));
  }

  /** Begins and takes a session. The session is on disk when this method returns. */
  begin(content: NewSession): OpenCountSession {
    return this.connection.durable(() => this.#insert(content));
  }

  /**
   * Takes a session, so that no other process can count it until the session is closed or this process has exited.
   * @param codes the new codes of the session
   * @throws ConflictError if another process is counting the session, or has finished it meanwhile
   */
  take({ head, codes }: SessionContent): OpenCountSession {
    return this.connection.durable(() => {
      const found = this.#requireFree(head.session);
      const sql = 'UPDATE counts SET holder = ?, touched = ?, codes = ? WHERE session = ?';
      this.connection.run(sql, this.#holder, this.#now(), barCodesText(codes), head.session);
      return this.#open({ ...found, codes });
    });
  }

  /**
   * Merges several sessions into a new one in one transaction: the new session begins with the sum of their counts, and
   * the sources are finished.
   * @param codes undefined to use those of the sources
   * @param about properties of the new session
   * @throws ConflictError if another process is counting one of the sources, or has finished it meanwhile
   */
  merge(
    sources: readonly CountSession[],
    codes: BarCodes | undefined,
    about: Pick<CountSessionHead, 'label' | 'user'> = {},
  ): OpenCountSession {
    return this.connection.durable(() => {
      const found = sources.map(({ head }) => this.#requireFree(head.session));
      const merged = mergedOf(found, codes);
      const into = this.#insert({ ...merged, head: { ...merged.head, ...about } });
      const end = { how: 'merged', into: into.head.session } as const;
      for (const { head } of found) endSession(this.connection, head.session, end);
      return into;
    });
  }

  /** @throws ConflictError if another process is counting the session, or has finished it meanwhile */
  discard({ head }: Pick<CountSession, 'head'>): void {
    this.connection.durable(() => {
      this.#requireFree(head.session);
      endSession(this.connection, head.session, { how: 'discarded' });
    });
  }

  /** Removes a finished or damaged session by its whole id. */
  remove(session: string): void {
    this.connection.durable(() => {
      this.connection.run('DELETE FROM count_scans WHERE session = ?', session);
      this.connection.run('DELETE FROM counts WHERE session = ?', session);
    });
  }

  #insert({ head: about, codes, scans }: NewSession): OpenCountSession {
    const at = this.#now();
    const head = { ...about, session: this.#newId(at), at };
    const sql = 'INSERT INTO counts (session, at, head, codes, holder, touched) VALUES (?, ?, ?, ?, ?, ?)';
    const text = JSON.stringify(head);
    this.connection.run(sql, head.session, at, text, barCodesText(codes), this.#holder, at);
    addScans(this.connection, head.session, scans);
    return this.#open({ head, codes, scans });
  }

  #open(session: SessionContent): OpenCountSession {
    const { clock } = this.system;
    return new OpenCountSession(session, { connection: this.connection, clock, holder: this.#holder });
  }

  #requireFree(session: string): CountSession {
    const row = this.connection.get('SELECT * FROM counts WHERE session = ?', session);
    const facts = row && this.#facts(sessionOf(this.connection, row));
    const name = session.slice(-4);
    if (facts === undefined || facts.end !== undefined) {
      throw new ConflictError(`Session ${name} was finished or removed by another process`, { hint });
    }
    const { holder } = facts;
    if (holder === undefined) return facts;
    throw new ConflictError(`Session ${name} is being counted by process ${holder.pid} on ${holder.host}`, { hint });
  }

  #facts(session: CountSession): CountSession {
    return { ...session, holder: this.#isHeld(session) ? session.holder : undefined };
  }

  /**
   * Reports whether a process other than this one holds a session. A process on another host, in another container, or
   * from before a restart can't be checked. It holds the session as long as it shows signs of life.
   */
  #isHeld({ holder, touched }: CountSession): boolean {
    const { processes, clock } = this.system;
    const { self } = processes;
    if (holder === undefined || JSON.stringify(holder) === this.#holder || processes.isGone(holder)) return false;
    const isBeside = holder.host === self.host && holder.namespace === self.namespace && holder.boot === self.boot;
    return isBeside || Math.abs(clock.now() - touched) < aliveFor;
  }

  /** Returns an id whose last four characters no other session has. */
  #newId(at: number): string {
    for (let number = Math.floor(this.system.random() * 36 ** 4); ; number += 1) {
      const id = idAt(at, number);
      const taken = this.connection.get('SELECT 1 FROM counts WHERE substr(session, -4) = ?', id.slice(-4));
      if (taken === undefined) return id;
    }
  }

  #now(): number {
    return Math.round(this.system.clock.now());
  }
}

/** Returns the unreadable sessions of a state. Creates nothing. */
export function damagedSessions(connection: SqliteConnection): readonly DamagedCountSession[] {
  return hasTables(connection) ? readAll(connection, '').damaged : [];
}

function readAll(connection: SqliteConnection, which: string) {
  const sound: CountSession[] = [];
  const damaged: DamagedCountSession[] = [];
  for (const row of connection.all(`SELECT * FROM counts ${which} ORDER BY at DESC, session DESC`)) {
    try {
      sound.push(sessionOf(connection, row));
    } catch (error) {
      if (!(error instanceof DamagedCountSession)) throw error;
      damaged.push(error);
    }
  }
  return { sound, damaged };
}
