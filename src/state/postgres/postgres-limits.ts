import { fold } from '../../rate-limit/fold.ts';
import { decodeState, emptyState, encodeState, forget, type KeyState } from '../../rate-limit/key-state.ts';
import type { KnownKey, LimitsStore } from '../../rate-limit/limits-store.ts';
import { asksToWait } from '../../rate-limit/observation.ts';
import type { LimitRecord } from '../../rate-limit/records.ts';
import type { Clock, Deadline } from '../../shared/clock.ts';
import { type Row, type Statement, statement, text } from '../store.ts';
import type { Ask, AskOptions, PostgresConnection } from './connection.ts';
import { inLocalTime, inSharedTime } from './limit-times.ts';
import { isLost, isSilence } from './postgres-errors.ts';

/** News from others is relied on for so long after the database was last heard of, in milliseconds. */
const longestSilence = 2000;
/** How often it is asked while requests of ours may leave, so that it is heard of. */
const refreshEvery = 500;
/** After so many writes of others in between, the row is locked. */
const maxAttempts = 3;

/** A state by the clock of the database. */
interface Known {
  /** 0: the key has no row yet. */
  readonly version: number;
  readonly state: KeyState;
  /** The wire by which it was read. */
  readonly generation: number;
  /** How many notices had come when it was asked for. */
  readonly notices: number;
}

/** Versions begin at the microsecond: a crash may lose the row, and none that was read of it may come again. */
const insert =
  'INSERT INTO petstock.limits (scope, version, state) VALUES (?, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, ?) ON CONFLICT (scope) DO NOTHING RETURNING version';
const update =
  'UPDATE petstock.limits SET version = version + 1, state = ? WHERE scope = ? AND version = ? RETURNING version';
const select =
  'SELECT version, CASE version WHEN ? THEN NULL ELSE state END AS state FROM petstock.limits WHERE scope = ?';
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
export class PostgresLimits implements LimitsStore {
  readonly #connection: PostgresConnection;
  readonly #clock: Clock;
  readonly #known = new Map<string, Known>();
  /** Keys with requests of ours that may leave. */
  readonly #admitted = new Map<string, Set<string>>();
  /** How many notices have come. */
  #notices = 0;
  #looking: Promise<unknown> | undefined;
  #deadline: Deadline | undefined;
  #isClosed = false;

  constructor(connection: PostgresConnection, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  async fold(scope: string, records: readonly LimitRecord[]): Promise<KeyState> {
    // A key that others may have used is read first: a write onto nothing would only find that out.
    if (this.#known.has(scope)) await this.#connection.align();
    else await this.#latest(scope);
    const shared = records.map((record) => inSharedTime(record, this.#connection.time));
    const wakes = shared.some((record) => record.type === 'answer' && asksToWait(record));
    const state = await this.#change(scope, wakes, (known, isRepeated) => {
      for (const record of shared) if (!isRepeated || !hasLanded(known, record)) fold(known, record);
    });
    this.#noteAdmitted(scope, records, state);
    return this.#local(state);
  }

  /** Where the database was not heard of for too long nothing is known to be in flight, and so nothing may leave. */
  peek(scope: string): KeyState {
    const known = this.#known.get(scope);
    if (known === undefined) return emptyState();
    const local = this.#local(known.state);
    return this.#isFresh(known) ? local : { ...local, inFlight: new Map() };
  }

  async look(scope: string): Promise<KeyState> {
    return this.#local(await this.#latest(scope));
  }

  async list(): Promise<readonly KnownKey[]> {
    const [rows = []] = await this.#connection.ask([
      statement('SELECT scope, state FROM petstock.limits ORDER BY scope'),
    ]);
    return rows.map(({ scope, state }) => ({ scope: String(scope), state: this.#local(decode(state)) }));
  }

  async clear(scope: string): Promise<void> {
    await this.#change(scope, true, forget);
  }

  /** Somebody may have raised a gate, or forgotten one: what is known is doubtful until it has been read again. */
  heard(): void {
    this.#notices += 1;
    const used = [...this.#admitted].filter(([, ids]) => ids.size > 0);
    if (this.#looking !== undefined || this.#isClosed || used.length === 0) return;
    const lookAll = async () => {
      for (let seen = -1; seen !== this.#notices; ) {
        seen = this.#notices;
        for (const [scope] of used) await this.look(scope);
      }
    };
    // A database that can't be asked is noticed by the next admission, which reports it.
    this.#looking = lookAll()
      .catch(() => {})
      .finally(() => {
        this.#looking = undefined;
      });
  }

  close(): void {
    this.#isClosed = true;
    this.#deadline?.clear();
  }

  async #change(
    scope: string,
    wakes: boolean,
    change: (state: KeyState, isRepeated: boolean) => void,
  ): Promise<KeyState> {
    const connection = this.#connection;
    let isRepeated = false;
    for (let attempt = 1; ; attempt += 1) {
      const isLocked = attempt > maxAttempts;
      try {
        const state = await connection.once(async (ask) => {
          if (isLocked) {
            const [[row] = []] = await ask([statement(`${select} FOR UPDATE`, 0, scope)], { begins: true });
            this.#take(scope, row, this.#notices);
          }
          const options = isLocked ? { goesOn: true } : { begins: true };
          return this.#write(scope, wakes, (known) => change(known, isRepeated), ask, options);
        });
        if (state === undefined) continue;
        if (wakes) await this.#keepWritten();
        return state;
      } catch (error) {
        // What became of it is not known: it is looked at, and what is in it is not folded again.
        if (!isLost(error) || isRepeated) throw connection.inWords(error);
        isRepeated = true;
        await this.look(scope);
      }
    }
  }

  /** Writes onto the version that is known. @returns undefined if there is another one by now, which is known then */
  async #write(
    scope: string,
    wakes: boolean,
    change: (state: KeyState) => void,
    ask: Ask,
    options: AskOptions,
  ): Promise<KeyState | undefined> {
    const notices = this.#notices;
    const { version = 0, state = emptyState() } = this.#known.get(scope) ?? {};
    // A copy: what is known stays what the database has, should the write fail.
    const next = structuredClone(state);
    change(next);
    const json = JSON.stringify(encodeState(next));
    const writing: Statement[] = [
      version === 0 ? statement(insert, scope, json) : statement(update, json, scope, version),
      // All of it: the version that another process has written meanwhile may have the number of ours.
      statement(select, 0, scope),
      ...(wakes ? [wake] : []),
      statement('COMMIT'),
    ];
    const [written = [], [found] = []] = await ask(writing, options);
    const [row] = written;
    if (row !== undefined) return this.#keep(scope, { version: Number(row.version), state: next }, notices).state;
    this.#take(scope, found, notices);
    return undefined;
  }

  /** Resolves when all that was written is on the disk, and on the standby that commits wait for. It holds no lock meanwhile. */
  async #keepWritten(): Promise<void> {
    try {
      await this.#connection.once((ask) => ask([message], { isDurable: true }));
    } catch (error) {
      // A standby that is away is no reason to end a command that only reads.
      if (isLost(error) && !isSilence(error)) throw error;
    }
  }

  /** As the database has it. */
  async #latest(scope: string): Promise<KeyState> {
    const notices = this.#notices;
    const [[row] = []] = await this.#connection.ask([statement(select, this.#known.get(scope)?.version ?? 0, scope)]);
    return this.#take(scope, row, notices).state;
  }

  /** @param row undefined: the key has none. Without a state it is as in the version that is known already */
  #take(scope: string, row: Row | undefined, notices: number): Known {
    const version = Number(row?.version ?? 0);
    const stored = text(row?.state);
    const known = version > 0 && stored === undefined ? this.#known.get(scope)?.state : undefined;
    return this.#keep(
      scope,
      { version, state: known ?? (stored === undefined ? emptyState() : decode(stored)) },
      notices,
    );
  }

  #keep(scope: string, { version, state }: Pick<Known, 'version' | 'state'>, notices: number): Known {
    const known = { version, state, generation: this.#connection.generation, notices };
    this.#known.set(scope, known);
    return known;
  }

  #isFresh({ generation, notices }: Known): boolean {
    const { heardAt, generation: current } = this.#connection;
    const isHeard = generation === current && notices === this.#notices;
    return isHeard && this.#clock.monotonic() - heardAt <= longestSilence;
  }

  #local(state: KeyState): KeyState {
    return inLocalTime(state, this.#connection.time, this.#clock);
  }

  /** As long as requests of ours may leave, the database is asked now and then. */
  #noteAdmitted(scope: string, records: readonly LimitRecord[], { inFlight }: KeyState): void {
    const ours = this.#admitted.get(scope) ?? new Set();
    this.#admitted.set(scope, ours);
    for (const record of records) {
      if (record.type === 'intent') for (const id of record.ids) ours.add(id);
    }
    for (const id of ours) if (!inFlight.has(id)) ours.delete(id);
    if (ours.size === 0 || this.#deadline !== undefined || this.#isClosed) return;
    this.#deadline = this.#clock.deadline(refreshEvery, () => void this.#refresh(scope));
  }

  async #refresh(scope: string): Promise<void> {
    this.#deadline?.clear();
    try {
      const { inFlight } = await this.look(scope);
      this.#deadline = undefined;
      this.#noteAdmitted(scope, [], { ...emptyState(), inFlight });
    } catch {
      // Nothing leaves until it is heard of again, and the next admission says why.
      this.#deadline = undefined;
    }
  }
}

/** Whether a record that may have been written is in the state. A gate is raised again all the same: it is never lowered. */
function hasLanded({ inFlight }: KeyState, record: LimitRecord): boolean {
  switch (record.type) {
    case 'start':
      return false;
    case 'intent':
      return record.ids.some((id) => inFlight.has(id));
    case 'answer':
      return !inFlight.has(record.id) && !asksToWait(record);
    case 'lost':
    case 'unsent':
      return !inFlight.has(record.id);
  }
}

/** Returns the limits that a row has; nothing is known if they are of no shape that petstock writes, which a stranger may have done. */
function decode(state: unknown): KeyState {
  try {
    return decodeState(JSON.parse(String(state)) as object);
  } catch {
    return emptyState();
  }
}
