import { emptyState, type KeyState } from '../../rate-limit/key-state.ts';
import type { LimitRecord } from '../../rate-limit/limit-records.ts';
import type { Clock, Deadline } from '../../shared/clock.ts';
import { statement } from '../statements.ts';
import { type Change, StoredLimits } from '../stored-limits.ts';
import { type Ask, commit, type PostgresConnection } from './connection.ts';
import { inLocalTime, inSharedTime } from './limit-times.ts';
import { isLost, isSilence } from './postgres-errors.ts';
import type { PostgresStateDatabase } from './postgres-state-database.ts';

/** Once the database's last reply is older than this, in milliseconds, a notification may have been missed. */
const maxSilence = 2000;
/**
 * Interval in milliseconds between queries while this process may send requests, so that the last reply stays recent.
 */
const refreshEvery = 500;
/** Number of attempts that may lose against other writers before the row is locked. */
const maxAttempts = 3;

/**
 * Notifies other processes at the commit, before `keepWritten` waits for a disk or a standby. The notification carries
 * no data.
 */
const wake = statement("SELECT pg_notify('petstock', '')");
/** A statement that writes something; once it is durable, everything written before is, too. */
const message = statement("SELECT pg_logical_emit_message(true, 'petstock', '')");

/**
 * The limits of keys shared by all machines. A write applies only to the version that it was computed from, so no
 * transaction stays open while this process computes. The row is locked only if other processes keep writing first, or
 * if the reply to a commit was lost.
 *
 * A process that writes a gate notifies all others in the same transaction. Any client can send a notification, so it
 * carries no information: nothing is sent until the row has been read again.
 */
export class PostgresLimits extends StoredLimits {
  readonly #connection: PostgresConnection;
  readonly #clock: Clock;
  /** When the state of each key was read: the generation of the wire, and the number of notifications until then. */
  readonly #asked = new Map<string, { readonly generation: number; readonly notices: number }>();
  /** The name of this process in the requests in flight; undefined before it has asked for a permit. */
  #self: string | undefined;
  #notices = 0;
  #refreshing: Promise<void> | undefined;
  #deadline: Deadline | undefined;
  #isClosed = false;

  constructor(connection: PostgresConnection, database: PostgresStateDatabase, clock: Clock) {
    super(database);
    this.#connection = connection;
    this.#clock = clock;
  }

  override async fold(scope: string, records: readonly LimitRecord[]): Promise<KeyState> {
    for (const record of records) if (record.type === 'intent') this.#self = record.by;
    const state = await super.fold(scope, records);
    this.#refreshLater();
    return state;
  }

  /**
   * Returns the state. If it may be outdated (another process has sent a notification, or the database has not replied
   * for too long), it shows no requests in flight, so that none may be sent.
   */
  peek(scope: string): KeyState {
    const known = this.known.get(scope);
    if (known === undefined) return emptyState();
    const local = this.local(known.state);
    return this.#isFresh(scope) ? local : { ...local, inFlight: new Map() };
  }

  async read(scope: string): Promise<KeyState> {
    const notices = this.#notices;
    const [[row] = []] = await this.#connection.query([this.reading(scope)]);
    return this.local(this.#note(scope, notices, this.take(scope, row)));
  }

  life(): string | undefined {
    return this.#connection.epoch;
  }

  isCurrent(scope: string): boolean {
    return this.#isFresh(scope) && !this.known.get(scope)?.isDamaged;
  }

  /** Marks all known limits as outdated, and reads those in use: another process may have set or cleared a gate. */
  invalidate(): void {
    this.#notices += 1;
    this.#refreshNow();
  }

  close(): void {
    this.#isClosed = true;
    this.#deadline?.clear();
  }

  protected override shared(record: LimitRecord): LimitRecord {
    return inSharedTime(record, this.#connection.time);
  }

  protected override local(state: KeyState): KeyState {
    return inLocalTime(state, this.#connection.time, this.#clock);
  }

  protected async write(scope: string, hasGate: boolean, change: Change): Promise<KeyState> {
    const connection = this.#connection;
    // Without a known version the write would fail if the key was ever used.
    await (this.known.get(scope) === undefined ? this.read(scope) : connection.align());
    const ending = hasGate ? [wake, commit] : [commit];
    let isRepeated = false;
    return connection.again(async (ask) => {
      // On a second attempt, it is not known whether the first one was committed. So the row is read, and records that
      // are already in it are not folded again.
      const mayHaveLanded = isRepeated;
      isRepeated = true;
      for (let attempt = 1; ; attempt += 1) {
        const notices = this.#notices;
        const isLocked = mayHaveLanded || attempt > maxAttempts;
        if (isLocked) {
          const { sql, values } = this.reading(scope);
          const [[row] = []] = await ask([{ sql: `${sql} FOR UPDATE`, values }], { begins: true });
          this.take(scope, row);
        }
        const { next, writing } = this.next(scope, (known) => change(known, mayHaveLanded));
        // Reads the whole row, because a version that another process has written may have the same number.
        const rest = [writing, this.reading(scope, 0), ...ending];
        const [[written] = [], [found] = []] = await ask(rest, isLocked ? { continues: true } : { begins: true });
        // If a crash lost the row, the upsert inserts it with a new first version, so the version comes from the reply.
        const known = written
          ? this.keep(scope, { ...next, version: Number(written.version) })
          : this.take(scope, found);
        this.#note(scope, notices, known);
        if (!written) continue;
        if (hasGate) await keepWritten(ask);
        return known;
      }
    });
  }

  #note(scope: string, notices: number, state: KeyState): KeyState {
    this.#asked.set(scope, { notices, generation: this.#connection.generation });
    return state;
  }

  #isFresh(scope: string): boolean {
    const asked = this.#asked.get(scope);
    const { heardAt, generation } = this.#connection;
    const isHeard = asked?.generation === generation && asked.notices === this.#notices;
    return isHeard && this.#clock.monotonic() - heardAt <= maxSilence;
  }

  /** The keys with requests of this process in flight. */
  get #used(): string[] {
    const isOurs = (scope: string) =>
      [...(this.known.get(scope)?.state.inFlight.values() ?? [])].some(({ by }) => by === this.#self);
    return [...this.#asked.keys()].filter(isOurs);
  }

  /** Schedules the next query while this process has requests in flight. */
  #refreshLater(): void {
    if (this.#deadline !== undefined || this.#isClosed || this.#used.length === 0) return;
    this.#deadline = this.#clock.deadline(refreshEvery, () => {
      this.#deadline = undefined;
      this.#refreshNow();
    });
  }

  /**
   * Queries the limits now. Ignores errors, because the next admission reports them, and nothing is sent until then.
   */
  #refreshNow(): void {
    this.#refreshing ??= this.#refreshAll()
      .then(() => this.#refreshLater())
      .catch(() => {})
      .finally(() => {
        this.#refreshing = undefined;
      });
  }

  /** Reads the limits of the keys in use, and again if a notification arrives meanwhile. */
  async #refreshAll(): Promise<void> {
    for (let seen = -1; seen !== this.#notices; ) {
      seen = this.#notices;
      for (const scope of this.#used) await this.read(scope);
    }
  }
}

/**
 * Waits until everything written is on disk, and on the standby that commits wait for, but no longer than the time
 * limit of a reply. Holds no lock meanwhile.
 * @throws the error of a lost connection: a crash may have lost the write
 */
async function keepWritten(ask: Ask): Promise<void> {
  try {
    await ask([message], { isDurable: true });
  } catch (error) {
    // A standby that does not confirm the write is no reason to end the command.
    if (isLost(error) && !isSilence(error)) throw error;
  }
}
