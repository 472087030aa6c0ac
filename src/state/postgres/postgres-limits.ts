import { fold } from '../../rate-limit/fold.ts';
import { decodeState, emptyState, encodeState, forget, type KeyState } from '../../rate-limit/key-state.ts';
import type { KnownKey, LimitsStore } from '../../rate-limit/limits-store.ts';
import { asksToWait } from '../../rate-limit/observation.ts';
import type { LimitRecord } from '../../rate-limit/records.ts';
import type { Clock, Deadline } from '../../shared/clock.ts';
import { inLocalTime, inSharedTime } from './limit-times.ts';
import { isLost } from './postgres-errors.ts';
import type { LimitsTable, StoredLimits } from './postgres-limits-table.ts';

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

/**
 * The limits of all machines. What is written is written only onto what it was worked out from, so no transaction is open while
 * this process thinks; only if others are faster time after time, the row is locked.
 *
 * Whoever writes a gate wakes all others with NOTIFY in the same transaction. Anybody who may connect can send one, so it says nothing: nothing
 * leaves until the row has been read again.
 */
export class PostgresLimits implements LimitsStore {
  readonly #table: LimitsTable;
  readonly #clock: Clock;
  readonly #known = new Map<string, Known>();
  /** Keys with requests of ours that may leave. */
  readonly #admitted = new Map<string, Set<string>>();
  /** How many notices have come. */
  #notices = 0;
  #looking: Promise<unknown> | undefined;
  #deadline: Deadline | undefined;
  #isClosed = false;

  constructor(table: LimitsTable, clock: Clock) {
    this.#table = table;
    this.#clock = clock;
  }

  async fold(scope: string, records: readonly LimitRecord[]): Promise<KeyState> {
    // A key that others may have used is read first: a write onto nothing would only find that out.
    if (this.#known.has(scope)) await this.#table.connection.align();
    else await this.#latest(scope);
    const shared = records.map((record) => inSharedTime(record, this.#table.connection.time));
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
    await this.#table.connection.align();
    return (await this.#table.list()).map(({ scope, state }) => ({ scope, state: this.#local(decode(state)) }));
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
    let isRepeated = false;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const notices = this.#notices;
        const known = this.#known.get(scope);
        const next = changed(known?.state ?? emptyState(), (state) => change(state, isRepeated));
        const isLocked = attempt > maxAttempts;
        const stored = isLocked ? undefined : await this.#table.write(scope, known?.version ?? 0, encoded(next), wakes);
        if (stored?.isWritten === false) {
          this.#take(scope, stored, notices);
          continue;
        }
        const kept = stored
          ? this.#keep(scope, { version: stored.version, state: next }, notices)
          : await this.#changeLocked(scope, wakes, (state) => change(state, isRepeated));
        if (wakes) await this.#table.keepWritten();
        return kept.state;
      } catch (error) {
        // What became of it is not known: it is looked at, and what is in it is not folded again.
        if (!isLost(error) || isRepeated) throw this.#table.connection.inWords(error);
        isRepeated = true;
        await this.look(scope);
      }
    }
  }

  /** As the database has it. */
  async #latest(scope: string): Promise<KeyState> {
    const notices = this.#notices;
    const stored = await this.#table.read(scope, this.#known.get(scope)?.version ?? 0);
    return this.#take(scope, stored, notices).state;
  }

  async #changeLocked(scope: string, wakes: boolean, change: (state: KeyState) => void): Promise<Known> {
    const notices = this.#notices;
    let next = emptyState();
    const { version } = await this.#table.change(
      scope,
      (stored) => {
        next = changed(this.#take(scope, stored, notices).state, change);
        return encoded(next);
      },
      wakes,
    );
    return this.#keep(scope, { version, state: next }, notices);
  }

  #take(scope: string, { version, state }: StoredLimits, notices: number): Known {
    const known = this.#known.get(scope);
    const isSame = state === undefined && known !== undefined && version > 0;
    const latest = isSame ? known.state : state === undefined ? emptyState() : decode(state);
    return this.#keep(scope, { version, state: latest }, notices);
  }

  #keep(scope: string, { version, state }: Pick<Known, 'version' | 'state'>, notices: number): Known {
    const known = { version, state, generation: this.#table.connection.generation, notices };
    this.#known.set(scope, known);
    return known;
  }

  #isFresh({ generation, notices }: Known): boolean {
    const { heardAt, generation: current } = this.#table.connection;
    const isHeard = generation === current && notices === this.#notices;
    return isHeard && this.#clock.monotonic() - heardAt <= longestSilence;
  }

  #local(state: KeyState): KeyState {
    return inLocalTime(state, this.#table.connection.time, this.#clock);
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

function changed(known: KeyState, change: (state: KeyState) => void): KeyState {
  // A copy: what is known stays what the database has, should the write fail.
  const state = structuredClone(known);
  change(state);
  return state;
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

/** Returns the limits that a row has; nothing is known if they are of no shape that petstock writes, which a stranger may have done. */
function decode(state: unknown): KeyState {
  try {
    return decodeState(JSON.parse(String(state)) as object);
  } catch {
    return emptyState();
  }
}
