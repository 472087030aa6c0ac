import { fold } from '../../rate-limit/fold.ts';
import { decodeState, emptyState, encodeState, forget, type KeyState } from '../../rate-limit/key-state.ts';
import type { KnownKey, LimitsStore } from '../../rate-limit/limits-store.ts';
import { asksToWait } from '../../rate-limit/observation.ts';
import type { LimitRecord } from '../../rate-limit/records.ts';
import type { Clock, Deadline } from '../../shared/clock.ts';
import type { Answer, PostgresConnection, Query } from './connection.ts';
import { inLocalTime, inSharedTime } from './limit-times.ts';
import { isLost, isSilence } from './postgres-errors.ts';

/** What others have said is relied on for so long after the database was last heard of, in milliseconds. */
const longestSilence = 2000;
/** How often it is asked while requests of ours may leave, so that it is heard of. */
const refreshEvery = 500;
/** After so many writes of others in between, the row is locked. */
const mostAttempts = 3;

/** What the limits use of a connection. */
export type LimitsConnection = Pick<
  PostgresConnection,
  'time' | 'generation' | 'heardAt' | 'align' | 'callOnce' | 'read' | 'transaction' | 'inWords'
>;

/** A state by the clock of the database. */
interface Known {
  /** 0: the key has no row yet. */
  readonly version: number;
  readonly state: KeyState;
  /** The wire by which it was read. */
  readonly generation: number;
}

/**
 * The limits of all machines. What is written is written only onto what it was worked out from, so no transaction is open while
 * this process thinks; only where others are faster time after time, the row is locked.
 *
 * A gate goes to all others with NOTIFY in the transaction that writes it, and `peek` sees it without a question.
 */
export class PostgresLimits implements LimitsStore {
  readonly #connection: LimitsConnection;
  readonly #clock: Clock;
  readonly #known = new Map<string, Known>();
  /** Keys with requests of ours that may leave. */
  readonly #admitted = new Map<string, Set<string>>();
  #deadline: Deadline | undefined;
  #isClosed = false;

  constructor(connection: LimitsConnection, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  async fold(scope: string, records: readonly LimitRecord[]): Promise<KeyState> {
    await this.#connection.align();
    const shared = records.map((record) => inSharedTime(record, this.#connection.time));
    const notice = shared.some((record) => record.type === 'answer' && asksToWait(record));
    const state = await this.#change(scope, notice, (known, isRepeated) => {
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
    await this.#connection.align();
    return this.#local(await this.#latest(scope));
  }

  async list(): Promise<readonly KnownKey[]> {
    await this.#connection.align();
    const rows = await this.#connection.read('SELECT scope, state FROM petstock.limits ORDER BY scope');
    return rows.map(({ scope, state }) => ({ scope: String(scope), state: this.#local(decode(state)) }));
  }

  async clear(scope: string): Promise<void> {
    await this.#change(scope, true, forget);
  }

  /** Another process has raised a gate, or forgotten one. */
  heard(payload: string): void {
    const { scope, version, gate, halfOpen } = JSON.parse(payload) as Notice;
    const known = this.#known.get(scope);
    if (known === undefined || known.version >= version) return;
    // The rest of that version is not known: whoever asks next reads it.
    this.#known.set(scope, { ...known, state: { ...known.state, gate, halfOpen } });
  }

  close(): void {
    this.#isClosed = true;
    this.#deadline?.clear();
  }

  async #change(
    scope: string,
    notice: boolean,
    change: (state: KeyState, isRepeated: boolean) => void,
  ): Promise<KeyState> {
    const connection = this.#connection;
    let isRepeated = false;
    for (let attempt = 1; ; attempt += 1) {
      try {
        if (attempt > mostAttempts) {
          const state = await this.#changeLocked(scope, notice, (state) => change(state, isRepeated));
          if (notice) await this.#keepWritten();
          return state;
        }
        const known = this.#known.get(scope) ?? { version: 0, state: emptyState(), generation: 0 };
        const next = changed(known, (state) => change(state, isRepeated));
        const call = [
          'write_limits',
          scope,
          known.version,
          encoded(next.state),
          notice ? noticeOf(scope, next) : null,
        ] as const;
        const answer = await connection.callOnce(...call);
        if (answer.written === true) {
          const { state } = this.#keep(scope, next);
          if (notice) await this.#keepWritten();
          return state;
        }
        this.#take(scope, answer);
      } catch (error) {
        // What became of it is not known: it is looked at, and what is in it is not folded again.
        if (!isLost(error) || isRepeated) throw connection.inWords(error);
        isRepeated = true;
        await this.look(scope);
      }
    }
  }

  /**
   * Others have been notified of a gate already; it outlasts a crash once it is on the disk, and a failover once it is on the
   * standby. One that is away is waited for no longer than an answer may take: no reason to end a command that only reads.
   */
  async #keepWritten(): Promise<void> {
    try {
      await this.#connection.callOnce('keep_written');
    } catch (error) {
      if (isLost(error) && !isSilence(error)) throw error;
    }
  }

  /** As the database has it. */
  async #latest(scope: string): Promise<KeyState> {
    const [row] = await this.#connection.read(
      'SELECT version::text, CASE version WHEN $1 THEN NULL ELSE state END AS state FROM petstock.limits WHERE scope = $2',
      this.#known.get(scope)?.version ?? 0,
      scope,
    );
    return this.#take(scope, row).state;
  }

  async #changeLocked(scope: string, notice: boolean, change: (state: KeyState) => void): Promise<KeyState> {
    const next = await this.#connection.transaction(async (query: Query) => {
      const [row] = await query('SELECT version::text, state FROM petstock.limits WHERE scope = $1 FOR UPDATE', scope);
      const changedState = changed(this.#take(scope, row), change);
      const call = [scope, changedState.version - 1, encoded(changedState.state)] as const;
      const text = 'SELECT petstock.write_limits($1, $2, $3, $4) AS answer';
      const [written] = await query(text, ...call, notice ? noticeOf(scope, changedState) : null);
      if ((written?.answer as Answer | undefined)?.written !== true)
        throw new Error(`the limits of ${scope} changed under their lock`);
      return changedState;
    });
    return this.#keep(scope, next).state;
  }

  /** @param row as the database has it: `state` is null where its version is the one that is known */
  #take(scope: string, row: Answer | undefined): Known {
    const { generation } = this.#connection;
    if (row === undefined || row.version === '0') return this.#keep(scope, { version: 0, state: emptyState() });
    const version = Number(row.version);
    const known = this.#known.get(scope);
    if (row.state !== null || known === undefined) return this.#keep(scope, { version, state: decode(row.state) });
    const same = { ...known, generation };
    this.#known.set(scope, same);
    return same;
  }

  #keep(scope: string, { version, state }: Omit<Known, 'generation'>): Known {
    const known = { version, state, generation: this.#connection.generation };
    this.#known.set(scope, known);
    return known;
  }

  #isFresh({ generation }: Known): boolean {
    const { heardAt } = this.#connection;
    return generation === this.#connection.generation && this.#clock.monotonic() - heardAt <= longestSilence;
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

/** What others have to know of a key at once. */
interface Notice extends Pick<KeyState, 'gate' | 'halfOpen'> {
  readonly scope: string;
  readonly version: number;
}

function noticeOf(scope: string, { version, state }: Pick<Known, 'version' | 'state'>): string {
  const notice: Notice = { scope, version, gate: state.gate, halfOpen: state.halfOpen };
  return JSON.stringify(notice);
}

function changed(
  known: Pick<Known, 'version' | 'state'>,
  change: (state: KeyState) => void,
): Omit<Known, 'generation'> {
  // A copy: what is known stays what the database has, should the write fail.
  const state = structuredClone(known.state);
  change(state);
  return { version: known.version + 1, state };
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

function encoded(state: KeyState): string {
  return JSON.stringify(encodeState(state));
}

function decode(state: unknown): KeyState {
  return decodeState(JSON.parse(String(state)) as object);
}
