import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../shared/clock.ts';
import { fileErrorReason } from '../shared/file-error.ts';
import { makePrivateFolder, readPrivateFile } from '../shared/private-files.ts';
import { awaitLock, takeLock } from '../shared/sqlite-engine.ts';
import { fold } from './fold.ts';
import { believable, copyOf, emptyState, type Gate, isSameBoot, type KeyState } from './key-state.ts';
import type { KnownKey, LimitsStore } from './limits-store.ts';
import { closesGate } from './observation.ts';
import type { AnswerRecord, LimitRecord } from './records.ts';

export interface GateCopiesOptions {
  /** The state folder, which holds copies only if the state is elsewhere: with `url`. */
  readonly folder?: string | undefined;
  /** The runtime folder, which outlasts the state folder. */
  readonly gateFolder?: string | undefined;
  readonly url?: string | undefined;
  readonly clock: Clock;
  /** Ends a wait. */
  readonly interrupted?: AbortSignal | undefined;
  /** Takes a sentence for stderr. */
  warn(line: string): void;
}

const prefix = 'gate-';
const suffix = '.json';

/**
 * Limits whose gates are kept in files as well. A gate has to outlast a state that turns read-only or full,
 * is set aside as damaged, is restored from an older copy, or is out of reach for a while. The later of all gates counts.
 */
export class LimitsWithCopies implements LimitsStore {
  readonly #store: LimitsStore;
  readonly #options: GateCopiesOptions;
  /** Each has a file for every key that has a gate. */
  readonly #folders: readonly string[];
  readonly look?: NonNullable<LimitsStore['look']>;

  constructor(store: LimitsStore, options: GateCopiesOptions) {
    this.#store = store;
    this.#options = options;
    const { gateFolder, folder, url } = options;
    this.#folders = [gateFolder, url === undefined ? undefined : folder].filter((one) => one !== undefined);
    const { look } = store;
    if (look) this.look = async (scope) => this.#keep(scope, await look.call(store, scope));
  }

  /** Writes the copies before the store, which may have to wait for others: nothing is lost if the process ends meanwhile. */
  async fold(scope: string, records: readonly LimitRecord[]): Promise<KeyState> {
    const missing = records.some(({ type }) => type === 'intent') ? this.#missingGate(scope) : [];
    const gates = records.filter(closesGate);
    const early = gates.length > 0 ? this.#keep(scope, this.#after(scope, gates), 0) : undefined;
    // Other machines are told meanwhile.
    if (this.#options.url === undefined) await early;
    try {
      const starts = records[0]?.type === 'start' ? 1 : 0;
      const state = await this.#store.fold(scope, [...records.slice(0, starts), ...missing, ...records.slice(starts)]);
      await early;
      return await this.#keep(scope, state, gates.length > 0 ? 0 : tolerance);
    } catch (error) {
      const kept = await early;
      if (kept !== undefined) await this.#keepAlone(scope, kept, error);
      throw error;
    }
  }

  peek(scope: string): KeyState {
    return later(this.#store.peek(scope), this.#latest(scope));
  }

  async list(): Promise<readonly KnownKey[]> {
    const keys = new Map((await this.#store.list()).map((key) => [key.scope, key.state]));
    for (const scope of this.#scopes()) {
      const copy = this.#latest(scope);
      if (copy !== undefined) keys.set(scope, later(keys.get(scope) ?? copy, copy));
    }
    return [...keys].map(([scope, state]) => ({ scope, state }));
  }

  async clear(scope: string): Promise<void> {
    for (const folder of this.#folders) rmSync(fileOf(folder, scope), { force: true });
    await this.#store.clear(scope);
  }

  /** Returns the gate that only the copies know, as the answer that closes it again. */
  #missingGate(scope: string): AnswerRecord[] {
    const gate = this.#latest(scope)?.gate;
    if (gate === undefined) return [];
    const { clock } = this.#options;
    const known = this.#store.peek(scope);
    if (isSameBoot(known.boot, clock.boot()) && known.gate.at >= gate.at - tolerance) return [];
    const at = clock.monotonic();
    const status = gate.reason === 'refused' ? 429 : 503;
    return [{ type: 'answer', id: 'copy', at, wall: clock.now(), status, retryAfter: gate.at - at }];
  }

  /** Returns what is known with these gates, for copies. A state that can't be read is none. */
  #after(scope: string, gates: readonly LimitRecord[]): KeyState {
    const state = copyOf(tryTo(() => this.#store.peek(scope)) ?? emptyState());
    this.#begin(state);
    for (const record of gates) fold(state, record);
    return state;
  }

  /** Takes a state over to this start of the machine. */
  #begin(state: KeyState): void {
    const { clock } = this.#options;
    fold(state, { type: 'start', boot: clock.boot(), env: state.env, at: clock.monotonic(), wall: clock.now() });
  }

  /** Returns the copy with the latest gate that still holds, by our clocks. Removes those that are over. */
  #latest(scope: string): KeyState | undefined {
    let latest: KeyState | undefined;
    for (const folder of this.#folders) {
      const copy = this.#read(folder, scope);
      if (copy === undefined) continue;
      if (this.#holds(copy)) latest = later(latest ?? copy, copy);
      else tryTo(() => this.#remove(folder, scope));
    }
    return latest;
  }

  #read(folder: string, scope: string): KeyState | undefined {
    const file = fileOf(folder, scope);
    // It is asked before each request: an error would cost more.
    const copy = existsSync(file) ? tryTo(() => parse(readPrivateFile(file)?.text)) : undefined;
    if (copy !== undefined) this.#begin(copy);
    return copy;
  }

  #holds({ gate }: KeyState): boolean {
    return gate.at > this.#options.clock.monotonic();
  }

  /** Removes a copy that is over, unless another process has written a later one since. @throws if another one is about to */
  #remove(folder: string, scope: string): void {
    const lock = takeLock(lockOf(folder));
    try {
      const copy = this.#read(folder, scope);
      if (copy !== undefined && !this.#holds(copy)) rmSync(fileOf(folder, scope), { force: true });
    } finally {
      lock.close();
    }
  }

  /** Writes a gate that still holds to each folder, unless a copy has it. One of another machine outlasts the state that they share. */
  async #keep(scope: string, state: KeyState, within = tolerance): Promise<KeyState> {
    const isKept = (copy: KeyState | undefined) => state.gate.at - within <= (copy?.gate.at ?? 0);
    if (!this.#holds(state) || isKept(this.#latest(scope))) return state;
    // Late: hardly any command needs it.
    const { createFileAtomically, syncPath, writeFileAtomically } = await import('../shared/atomic-file.ts');
    const { clock } = this.#options;
    const { gate, env } = state;
    const copy: Copy = { ...gate, boot: clock.boot(), bootedAt: clock.now() - clock.monotonic(), env };
    for (const folder of this.#folders) {
      const file = fileOf(folder, scope);
      const text = JSON.stringify(copy);
      try {
        makePrivateFolder(folder);
        // Others have to see it as soon as can be: a lock takes a while to load, and a disk to sync.
        const isFirst = await createFileAtomically(file, text, unsynced).catch(() => false);
        if (!isFirst) {
          await underLock(folder, async () => {
            // Another process may have written a later one.
            if (!isKept(this.#read(folder, scope)))
              await writeFileAtomically(file, [text], { isPrivate: true, sync: unsynced });
          });
        }
        await syncPath(file, 'r+');
        await syncPath(folder);
      } catch {
        // One of them will do, or the store. Whether none does is seen by reading.
      }
    }
    return state;
  }

  /** The state could not be written. If no copy could be either, nobody else knows of the gate: it is waited for here. */
  async #keepAlone(scope: string, { gate }: KeyState, cause: unknown): Promise<void> {
    const { clock, interrupted, warn } = this.#options;
    const wait = gate.at - clock.monotonic();
    if (wait <= 0 || gate.at <= (this.#latest(scope)?.gate.at ?? 0)) return;
    warn(
      `The service asked to wait for ${Math.ceil(wait / 1000)} s, which can't be written down: ${fileErrorReason(cause)}. ` +
        'petstock waits now. Start no other command with this key meanwhile',
    );
    await clock.sleep(Math.ceil(wait), interrupted);
  }

  #scopes(): readonly string[] {
    const names = this.#folders.flatMap((folder) => tryTo(() => readdirSync(folder)) ?? []);
    const gates = names.filter((name) => name.startsWith(prefix) && name.endsWith(suffix));
    return [...new Set(gates.map((name) => name.slice(prefix.length, -suffix.length)))];
  }
}

/** Clocks of a shared state are known to within some milliseconds. */
const tolerance = 1;

/** Returns a state with the later of two gates. */
function later(state: KeyState, copy: KeyState | undefined): KeyState {
  return copy !== undefined && copy.gate.at > state.gate.at ? { ...state, gate: copy.gate } : state;
}

const unsynced = { file: async () => {}, folder: async () => {} };

/** Runs `work` while no other process changes the copies of a folder. After 200 ms even so: one that may be replaced by an earlier gate is better than none. */
async function underLock(folder: string, work: () => Promise<void>): Promise<void> {
  const lock = await awaitLock(lockOf(folder), 200).catch(() => undefined);
  await work().finally(() => lock?.close());
}

function lockOf(folder: string): string {
  return join(folder, 'gates.lock');
}

function fileOf(folder: string, scope: string): string {
  return join(folder, `${prefix}${scope}${suffix}`);
}

/** What a file has. */
type Copy = Gate & Pick<KeyState, 'boot' | 'bootedAt' | 'env'>;

/** Returns a copy as a state that knows nothing but a gate. @throws an error of any kind if it makes no sense */
function parse(text = ''): KeyState | undefined {
  // 0.2.0 does not say when the machine was started: its copies go by the wall clock then.
  const { boot, bootedAt = Number.NaN, env, at, wall, length, reason } = JSON.parse(text) as Copy;
  const areNumbers = [at, wall, length].every(Number.isFinite);
  if (!areNumbers || typeof boot !== 'string' || typeof env !== 'string') return undefined;
  return { ...emptyState(), boot, bootedAt, env, gate: believable({ at, wall, length, reason }) };
}

/** Returns undefined if it fails: a copy that can't be used is none. */
function tryTo<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
