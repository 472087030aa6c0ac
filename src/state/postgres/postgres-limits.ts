import { emptyState, type KeyState } from '../../rate-limit/key-state.ts';
import type { LimitRecord } from '../../rate-limit/records.ts';
import type { Clock, Deadline } from '../../shared/clock.ts';
import { statement } from '../statements.ts';
import { type Change, StoredLimits } from '../stored-limits.ts';
import { type Ask, commit, type PostgresConnection } from './connection.ts';
import { inLocalTime, inSharedTime } from './limit-times.ts';
import { isLost, isSilence } from './postgres-errors.ts';
import type { PostgresStateDatabase } from './postgres-state-database.ts';

/** News from others is relied on for so long after the database was last heard of, in milliseconds. */
const maxSilence = 2000;
/** How often it is asked while requests of ours may leave, so that it is heard of. */
const refreshEvery = 500;
/** After so many writes of others in between, the row is locked. */
const maxAttempts = 3;

/** Others are told before a disk or a standby is waited for. What they are told is only that there is something to look at. */
const wake = statement("SELECT pg_notify('petstock', '')");
/** Commits behind everything that was written before. */
const message = statement("SELECT pg_logical_emit_message(true, 'petstock', '')");

/**
 * The limits of all machines. What is written is written only onto what it was worked out from, so no transaction is open while
 * this process thinks; only if others are faster time after time, the row is locked.
 *
 * Whoever writes a gate wakes all others with NOTIFY in the same transaction. Anybody who may connect can send one, so it says nothing: nothing
 * leaves until the row has been read again.
 */
export class PostgresLimits extends StoredLimits {
  readonly #connection: PostgresConnection;
  readonly #clock: Clock;
  /** When each state was asked for: by which wire, and how many notices had come. */
  readonly #asked = new Map<string, { readonly generation: number; readonly notices: number }>();
  /** This process, as it calls itself in requests. */
  #self: string | undefined;
  /** How many notices have come. */
  #notices = 0;
  #looking: Promise<void> | undefined;
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
    this.#lookLater();
    return state;
  }

  /** Where the database was not heard of for too long nothing is known to be in flight, and so nothing may leave. */
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
    return this.#connection.life;
  }

  isCurrent(scope: string): boolean {
    return this.#isFresh(scope) && !this.known.get(scope)?.isDamaged;
  }

  /** Somebody may have raised a gate, or forgotten one: what is known is doubtful until it has been read again. */
  heard(): void {
    this.#notices += 1;
    this.#lookAgain();
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
    // A write onto nothing would only find out that others have used the key.
    await (this.known.get(scope) === undefined ? this.read(scope) : connection.align());
    const ending = hasGate ? [wake, commit] : [commit];
    let isRepeated = false;
    return connection.again(async (ask) => {
      // What became of the first run is not known: it is looked at, and what is in it is not folded again.
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
        // All of it: the version that another process has written meanwhile may have the number of ours.
        const rest = [writing, this.reading(scope, 0), ...ending];
        const [[written] = [], [found] = []] = await ask(rest, isLocked ? { goesOn: true } : { begins: true });
        // A row that a crash has taken is made anew, with a version of its own.
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

  /** Keys with requests of ours that may leave. */
  get #used(): string[] {
    const isOurs = (scope: string) =>
      [...(this.known.get(scope)?.state.inFlight.values() ?? [])].some(({ by }) => by === this.#self);
    return [...this.#asked.keys()].filter(isOurs);
  }

  /** As long as requests of ours may leave, the database is asked now and then. */
  #lookLater(): void {
    if (this.#deadline !== undefined || this.#isClosed || this.#used.length === 0) return;
    this.#deadline = this.#clock.deadline(refreshEvery, () => {
      this.#deadline = undefined;
      this.#lookAgain();
    });
  }

  /** A database that can't be asked is noticed by the next admission, which reports it. Nothing leaves until then. */
  #lookAgain(): void {
    this.#looking ??= this.#lookAll()
      .then(() => this.#lookLater())
      .catch(() => {})
      .finally(() => {
        this.#looking = undefined;
      });
  }

  /** Until no notice came meanwhile. */
  async #lookAll(): Promise<void> {
    for (let seen = -1; seen !== this.#notices; ) {
      seen = this.#notices;
      for (const scope of this.#used) await this.read(scope);
    }
  }
}

/**
 * Resolves when all that was written is on the disk, and on the standby that commits wait for. It holds no lock meanwhile.
 * @throws the error of a connection that was lost: a crash may have taken what was written
 */
async function keepWritten(ask: Ask): Promise<void> {
  try {
    await ask([message], { isDurable: true });
  } catch (error) {
    // A standby that is away is no reason to end a command that only reads.
    if (isLost(error) && !isSilence(error)) throw error;
  }
}
