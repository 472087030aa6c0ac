import { statSync } from 'node:fs';
import type { Clock } from '../../shared/clock.ts';
import type { Processes, ProcessIdentity } from '../../shared/processes.ts';
import { type PresenceOptions, StoredPresence } from '../processes-present.ts';
import { recordedResults } from '../recorded-results.ts';
import type { State, StateDescription } from '../state.ts';
import { StoredHistory } from '../stored-history.ts';
import { StoredPets } from '../stored-pets.ts';
import { schemaVersion } from '../tables.ts';
import type { Connection } from './connection.ts';

import { isDamage, originOf } from './sqlite-errors.ts';
import { SqliteLimits } from './sqlite-limits.ts';
import { SqliteStore } from './sqlite-store.ts';

export interface SqliteStateOptions extends PresenceOptions {
  readonly isStandIn?: boolean;
  /** How long runs are kept, in milliseconds; undefined: for ever. */
  readonly keepFor?: number | undefined;
  /** Takes a sentence for stderr. */
  warn(line: string): void;
}

export class SqliteState implements State {
  readonly limits: SqliteLimits;
  readonly pets: StoredPets;
  readonly history: StoredHistory;
  readonly presence: StoredPresence;
  readonly isStandIn: boolean;
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #keepFor: number | undefined;
  #isClosed = false;

  constructor(connection: Connection, options: SqliteStateOptions) {
    const { clock, processes, random, warn } = options;
    this.#connection = connection;
    this.#clock = clock;
    this.#keepFor = options.keepFor;
    this.isStandIn = options.isStandIn ?? false;
    const others = new Others(connection, processes, clock, () => this.presence.id);
    connection.whoIsPresent = () => others.describe();
    const isAnyStopped = () => others.areStopped;
    const store = new SqliteStore(connection, clock, isAnyStopped);
    this.presence = new StoredPresence(store, options);
    const context = { store, presence: this.presence, clock, random, warn };
    this.limits = new SqliteLimits(connection, { clock, isAnyStopped });
    this.pets = new StoredPets(context);
    this.history = new StoredHistory(context, processes.self.host);
  }

  /** Writes something, since a full disk shows itself only then. */
  probe(): void {
    this.#connection.quick(() => this.#connection.run('UPDATE sequence SET last = last'));
  }

  async describe(): Promise<StateDescription> {
    const { file } = this.#connection;
    const sums = this.#connection.get('SELECT count(*) AS runs, coalesce(sum(changes), 0) AS rows FROM runs');
    return {
      engine: 'sqlite',
      location: file,
      schema: schemaVersion,
      bytes: sizeOf(file) + sizeOf(`${file}-wal`),
      runs: Number(sums?.runs),
      rows: Number(sums?.rows),
    };
  }

  async check(): Promise<readonly string[]> {
    try {
      const findings = this.#connection.all('PRAGMA integrity_check').map((row) => String(row.integrity_check));
      return [...findings.filter((finding) => finding !== 'ok'), ...this.#wrongCounts()];
    } catch (error) {
      // Damage can be such that the check itself breaks off.
      const origin = originOf(error);
      if (!isDamage(origin)) throw error;
      return [(origin as Error).message];
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      await this.history.flush();
      if (this.#keepFor !== undefined) await this.history.removeOld(this.#clock.now() - this.#keepFor);
    } finally {
      await this.presence.end();
      this.release();
    }
  }

  /** Closes at once; what is buffered is lost. */
  release(): void {
    this.#connection.close();
  }

  #wrongCounts(): string[] {
    const sums = recordedResults.map((result) => `coalesce(sum(rows.result = '${result}'), 0) <> runs.${result}`);
    const wrong = this.#connection.all(
      `SELECT runs.run FROM runs LEFT JOIN rows ON rows.run = runs.id GROUP BY runs.id
       HAVING count(rows.row) <> runs.changes OR ${sums.join(' OR ')} ORDER BY runs.run`,
    );
    return wrong.map(({ run }) => `Run ${run} counts its rows wrongly`);
  }
}

/** Other processes that may have the lock of the file, for messages: one that is stopped has no lease any more. */
class Others {
  readonly #connection: Connection;
  readonly #processes: Processes;
  readonly #clock: Clock;
  readonly #self: () => string;

  constructor(connection: Connection, processes: Processes, clock: Clock, self: () => string) {
    this.#connection = connection;
    this.#processes = processes;
    this.#clock = clock;
    this.#self = self;
  }

  /** One phrase for each. */
  describe(): string[] {
    const now = this.#clock.monotonic();
    return this.#all().flatMap(({ identity, command, ends }) => {
      const isStopped = this.#processes.isStopped(identity);
      if (!isStopped && (ends <= now || this.#processes.isGone(identity))) return [];
      const stopped = isStopped ? ', which is stopped' : '';
      return [`process ${identity.pid} on ${identity.host} (petstock ${command})${stopped}`];
    });
  }

  /** Whether one of them is stopped, as by Ctrl-Z. */
  get areStopped(): boolean {
    return this.#all().some(({ identity }) => this.#processes.isStopped(identity));
  }

  #all(): { readonly identity: ProcessIdentity; readonly command: string; readonly ends: number }[] {
    const rows = this.#connection.all(
      'SELECT identity, command, boot, expires FROM presence WHERE id <> ?',
      this.#self(),
    );
    return rows.map(({ identity, command, boot, expires }) => ({
      identity: JSON.parse(String(identity)) as ProcessIdentity,
      command: String(command),
      ends: boot === this.#clock.boot() ? Number(expires) : Number.POSITIVE_INFINITY,
    }));
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
