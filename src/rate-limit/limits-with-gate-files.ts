import type { Clock } from '../shared/clock.ts';
import { fileErrorReason } from '../shared/file-error.ts';
import { fold } from './fold.ts';
import { type CopyKind, type GateCopy, GateFiles, orUndefined, tolerance } from './gate-files.ts';
import type { KeyLimits, KnownKey } from './key-limits.ts';
import { copyOf, emptyState, isSameBoot, type KeyState } from './key-state.ts';
import type { LimitRecord, ResponseRecord } from './limit-records.ts';
import { closesGate } from './observation.ts';

export interface GateFilesOptions {
  /** The state folder; it holds copies only if the state is elsewhere, that is, with `url`. */
  readonly folder?: string | undefined;
  /** Folders that outlast the state folder, by `runtimeFolders`. */
  readonly runtimeFolders?: readonly string[] | undefined;
  readonly url?: string | undefined;
  readonly clock: Clock;
  /**
   * Whether the limits end with this process. If so, a gate that can't be saved to a file is lost, too, and `warn` is
   * called.
   */
  readonly isBrief?: boolean | undefined;
  /** Cancels the wait for a gate that could not be saved. */
  readonly interrupted?: AbortSignal | undefined;
  /** Shows or reports a warning to the user. */
  warn(line: string): void;
}

/**
 * Limits that also save gates to files. A gate must outlast a state that becomes read-only or full, is set aside as
 * damaged, is restored from an older copy, or can't be reached for a while. The latest of all gates counts.
 */
export class LimitsWithGateFiles implements KeyLimits {
  readonly #limits: KeyLimits;
  readonly #options: GateFilesOptions;
  readonly #files: GateFiles;
  readonly read?: NonNullable<KeyLimits['read']>;

  constructor(limits: KeyLimits, options: GateFilesOptions) {
    this.#limits = limits;
    this.#options = options;
    const { folder, runtimeFolders = [], url, clock } = options;
    const own = url === undefined || folder === undefined ? [] : [folder];
    this.#files = new GateFiles([...own, ...runtimeFolders], clock);
    const { read } = limits;
    if (read) this.read = async (scope) => this.#writeGateFiles(scope, await read.call(limits, scope));
  }

  /**
   * Writes the gate files before the limits, or at the same time with a shared state. Writing the limits may have to
   * wait for other processes, and no gate may be lost if this process ends meanwhile.
   */
  async fold(scope: string, records: readonly LimitRecord[]): Promise<KeyState> {
    const missing = records.some(({ type }) => type === 'intent') ? await this.#missingGate(scope) : [];
    const gates = records.filter(closesGate);
    const early = gates.length > 0 ? this.#keepOwn(scope, this.#after(scope, gates)) : undefined;
    // With a shared state, other machines are notified at the same time.
    if (this.#options.url === undefined) await early;
    try {
      const starts = records[0]?.type === 'start' ? 1 : 0;
      const state = await this.#limits.fold(scope, [...records.slice(0, starts), ...missing, ...records.slice(starts)]);
      await early;
      return await this.#writeGateFiles(scope, state, gates.length > 0 ? 0 : tolerance);
    } catch (error) {
      const kept = await early;
      if (kept !== undefined) await this.#waitAlone(scope, kept, error);
      throw error;
    }
  }

  peek(scope: string): KeyState {
    return later(this.#limits.peek(scope), this.#counting(scope));
  }

  async list(): Promise<readonly KnownKey[]> {
    const keys = new Map((await this.#limits.list()).map((key) => [key.scope, key.state]));
    for (const scope of this.#files.scopes()) {
      await this.#refreshTold(scope);
      const [first, ...others] = this.#counting(scope);
      if (first !== undefined) keys.set(scope, later(keys.get(scope) ?? first.state, [first, ...others]));
    }
    return [...keys].map(([scope, state]) => ({ scope, state }));
  }

  async clear(scope: string): Promise<void> {
    this.#files.clear(scope);
    await this.#limits.clear(scope);
  }

  /**
   * Returns the copies of gates that still hold, without outdated ones: their gates may have been cleared or repaired.
   */
  #counting(scope: string): GateCopy[] {
    const isOutdated = this.#outdatedCheck(scope);
    return this.#files.holding(scope).filter((copy) => !isOutdated(copy));
  }

  /**
   * Returns a function that reports whether a copy is outdated, because the shared state that its gate came from has
   * been read again since, in the same epoch.
   */
  #outdatedCheck(scope: string): (copy: GateCopy) => boolean {
    const life = this.#limits.isCurrent?.(scope) ? this.#limits.life?.() : undefined;
    return (copy) => copy.kind === 'told' && life !== undefined && copy.life === life;
  }

  /** Returns the gate that only the copies have, as a response that closes it again. */
  async #missingGate(scope: string): Promise<ResponseRecord[]> {
    await this.#refreshTold(scope);
    const { gate } = later(emptyState(), this.#counting(scope));
    const { clock } = this.#options;
    const known = this.#limits.peek(scope);
    const isKnown = isSameBoot(known.boot, clock.boot()) && known.gate.at >= gate.at - tolerance;
    if (gate.at === 0 || isKnown) return [];
    const at = clock.monotonic();
    const status = gate.reason === 'refused' ? 429 : 503;
    return [{ type: 'answer', id: 'copy', at, wall: clock.now(), status, retryAfter: gate.at - at }];
  }

  /**
   * Reads the shared state again if the gate of a copy came from it, because the gate may have been cleared since. If
   * the state can't be reached, the gate holds.
   */
  async #refreshTold(scope: string): Promise<void> {
    const hasTold = this.#counting(scope).some(({ kind }) => kind === 'told');
    if (hasTold) await this.#limits.read?.(scope).catch(() => {});
  }

  /**
   * Returns the state to save: what is known, with these gates folded in. A state that can't be read counts as empty.
   */
  #after(scope: string, gates: readonly LimitRecord[]): KeyState {
    const state = copyOf(orUndefined(() => this.#limits.peek(scope)) ?? emptyState());
    this.#files.begin(state);
    if (this.#options.url !== undefined) {
      // Gates of other machines (`told`) are left out: the service did not ask this machine to wait.
      const own = this.#files.holding(scope).filter(({ kind }) => kind === 'gate');
      state.gate = later(emptyState(), own).gate;
    }
    for (const record of gates) fold(state, record);
    return state;
  }

  /** Saves a gate that a response to this process demanded. */
  async #keepOwn(scope: string, state: KeyState): Promise<KeyState> {
    if (this.#isKept(scope, state, 'gate', 0)) return state;
    const cause = await this.#files.write(scope, 'gate', state);
    const { isBrief, warn } = this.#options;
    if (isBrief && cause !== undefined)
      warn(`${unwritten(this.#waitFor(state), cause)}. Other programs don't know about this wait`);
    return state;
  }

  /**
   * Removes outdated copies of a later gate, and saves the gate of a state unless a copy has it. So a gate of another
   * machine outlasts the shared state.
   */
  async #writeGateFiles(scope: string, state: KeyState, within = tolerance): Promise<KeyState> {
    const isOutdated = this.#outdatedCheck(scope);
    this.#files.remove(scope, 'told', (copy) => isOutdated(copy) && copy.state.gate.at > state.gate.at + tolerance);
    const isShared = this.#options.url !== undefined;
    const kind = isShared ? 'told' : 'gate';
    if (!this.#isKept(scope, state, kind, isShared ? tolerance : within)) {
      await this.#files.write(scope, kind, state, isShared ? this.#limits.life?.() : undefined);
    }
    return state;
  }

  /**
   * Reports whether a gate has lifted or is already saved. A gate that this machine was asked for must be saved in a
   * `gate` file; a `told` file does not count.
   */
  #isKept(scope: string, state: KeyState, kind: CopyKind, within: number): boolean {
    if (this.#waitFor(state) <= 0) return true;
    const copies = this.#files.holding(scope).filter((copy) => kind === 'told' || copy.kind === kind);
    return copies.some((copy) => state.gate.at - within <= copy.state.gate.at);
  }

  /**
   * Waits for the gate in this process if neither the state nor a copy could be written, because then no other process
   * knows about the gate.
   */
  async #waitAlone(scope: string, state: KeyState, cause: unknown): Promise<void> {
    const { clock, interrupted, warn } = this.#options;
    if (this.#isKept(scope, state, 'gate', 0)) return;
    const wait = this.#waitFor(state);
    warn(`${unwritten(wait, cause)}. petstock waits now. Start no other command with this key until it has finished`);
    await clock.sleep(Math.ceil(wait), interrupted);
  }

  #waitFor({ gate }: KeyState): number {
    return gate.at - this.#options.clock.monotonic();
  }
}

/** Returns the state with the latest gate: its own, or that of a copy. */
function later(state: KeyState, copies: readonly GateCopy[]): KeyState {
  const gates = [state, ...copies.map((copy) => copy.state)].map(({ gate }) => gate);
  const [gate = state.gate] = gates.sort((a, b) => b.at - a.at);
  return gate === state.gate ? state : { ...state, gate };
}

function unwritten(wait: number, cause: unknown): string {
  return `The service asked for a wait of ${Math.ceil(wait / 1000)} s, but it can't be saved: ${fileErrorReason(cause)}`;
}
