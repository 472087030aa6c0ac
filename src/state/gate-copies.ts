import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fold } from '../rate-limit/fold.ts';
import { believable, emptyState, type Gate, isSameBoot, type KeyState } from '../rate-limit/key-state.ts';
import type { KnownKey, LimitsStore } from '../rate-limit/limits-store.ts';
import { asksToWait } from '../rate-limit/observation.ts';
import type { AnswerRecord, LimitRecord } from '../rate-limit/records.ts';
import type { Clock } from '../shared/clock.ts';
import { fileErrorReason } from '../shared/file-error.ts';
import { makePrivateFolder, readPrivateFile } from '../shared/private-files.ts';

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

/** A gate by the clocks of the machine that wrote it, and the environment of its key. */
interface Copy extends Gate {
  readonly boot: string;
  readonly env: string;
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
    if (look) this.look = async (scope) => this.#keepOfOthers(scope, await look.call(store, scope));
  }

  /** Writes the copies before the store, which may have to wait for others: nothing is lost if the process ends meanwhile. */
  async fold(scope: string, records: readonly LimitRecord[]): Promise<KeyState> {
    const missing = records.some(({ type }) => type === 'intent') ? this.#missingGate(scope) : [];
    const gates = records.filter((record): record is AnswerRecord => record.type === 'answer' && asksToWait(record));
    const early = gates.length > 0 ? this.#write(scope, this.#after(scope, gates)) : undefined;
    // Other machines are told meanwhile.
    if (this.#options.url === undefined) await early;
    try {
      const [start, rest] = records[0]?.type === 'start' ? [records.slice(0, 1), records.slice(1)] : [[], records];
      const state = await this.#store.fold(scope, [...start, ...missing, ...rest]);
      await early;
      if (gates.length > 0) await this.#write(scope, state);
      return await this.#keepOfOthers(scope, state);
    } catch (error) {
      await early;
      if (gates.length > 0) await this.#keepAlone(scope, gates, error);
      throw error;
    }
  }

  peek(scope: string): KeyState {
    const state = this.#store.peek(scope);
    const copy = this.#latest(scope);
    return copy !== undefined && copy.at > state.gate.at ? { ...state, gate: copy } : state;
  }

  /** A gate that another machine has told of outlasts the state that they share. */
  async #keepOfOthers(scope: string, state: KeyState): Promise<KeyState> {
    const { url, clock } = this.#options;
    const isHeld = url !== undefined && state.gate.at > clock.monotonic();
    if (isHeld && state.gate.at - 1 > (this.#latest(scope)?.at ?? 0)) await this.#write(scope, state);
    return state;
  }

  /** Returns what is known with these gates, for copies. A state that can't be read is none, and one of another boot has no gate. */
  #after(scope: string, gates: readonly AnswerRecord[]): KeyState {
    const state = structuredClone(tryTo(() => this.#store.peek(scope)) ?? emptyState());
    if (!isSameBoot(state.boot, this.#options.clock.boot())) state.gate = emptyState().gate;
    for (const record of gates) fold(state, record);
    return state;
  }

  async list(): Promise<readonly KnownKey[]> {
    const keys = new Map((await this.#store.list()).map((key) => [key.scope, key]));
    for (const scope of this.#scopes()) {
      const copy = this.#latest(scope);
      const state = keys.get(scope)?.state ?? { ...emptyState(), env: copy?.env ?? '' };
      if (copy !== undefined && copy.at > state.gate.at) keys.set(scope, { scope, state: { ...state, gate: copy } });
    }
    return [...keys.values()];
  }

  async clear(scope: string): Promise<void> {
    for (const folder of this.#folders) rmSync(fileOf(folder, scope), { force: true });
    await this.#store.clear(scope);
  }

  /** Returns the gate that only the copies know, as the answer that closes it again. */
  #missingGate(scope: string): AnswerRecord[] {
    const copy = this.#latest(scope);
    if (copy === undefined) return [];
    // Clocks of a shared state are known to within some milliseconds.
    const known = this.#store.peek(scope);
    if (isSameBoot(known.boot, this.#options.clock.boot()) && known.gate.at >= copy.at - 1) return [];
    const { clock } = this.#options;
    const at = clock.monotonic();
    const status = copy.reason === 'refused' ? 429 : 503;
    return [{ type: 'answer', id: 'copy', at, wall: clock.now(), status, retryAfter: copy.at - at }];
  }

  /** Returns the latest gate of all copies that still holds, by our clocks. Removes those that are over. */
  #latest(scope: string): Copy | undefined {
    const at = this.#options.clock.monotonic();
    let latest: Copy | undefined;
    for (const folder of this.#folders) {
      const copy = this.#read(fileOf(folder, scope));
      if (copy === undefined) continue;
      if (copy.at <= at) tryTo(() => rmSync(fileOf(folder, scope), { force: true }));
      else if (latest === undefined || copy.at > latest.at) latest = copy;
    }
    return latest;
  }

  #read(file: string): Copy | undefined {
    // It is asked before each request: an error would cost more.
    if (!existsSync(file)) return undefined;
    const text = tryTo(() => readPrivateFile(file)?.text);
    if (text === undefined) return undefined;
    const copy = tryTo(() => parse(text));
    if (copy === undefined) return undefined;
    const { clock } = this.#options;
    if (isSameBoot(copy.boot, clock.boot())) return copy;
    // Since a restart only the wall clock shows how much time has passed; should it have been set back, the gate lasts as long as at first.
    const rest = Math.min(copy.wall - clock.now(), copy.length);
    return { ...copy, at: clock.monotonic() + rest };
  }

  /** @returns why no copy could be written, if none could be */
  async #write(scope: string, { gate, env }: Pick<KeyState, 'gate' | 'env'>): Promise<unknown> {
    const copy: Copy = { ...gate, boot: this.#options.clock.boot(), env };
    const known = this.#latest(scope);
    if (known !== undefined && known.at >= gate.at) return undefined;
    let failure: unknown;
    let isWritten = false;
    // Late: hardly any command needs it.
    const { writeFileAtomically } = await import('../shared/atomic-file.ts');
    for (const folder of this.#folders) {
      try {
        makePrivateFolder(folder);
        await writeFileAtomically(fileOf(folder, scope), [JSON.stringify(copy)], { mode: 0o600, isPrivate: true });
        isWritten = true;
      } catch (error) {
        failure = error;
      }
    }
    return isWritten ? undefined : (failure ?? new Error('there is no folder for it'));
  }

  /** The state could not be written. If no copy can be either, nobody else will know of the gate: it is waited for here. */
  async #keepAlone(scope: string, records: readonly AnswerRecord[], cause: unknown): Promise<void> {
    const { clock, interrupted, warn } = this.#options;
    const state = this.#after(scope, records);
    if ((await this.#write(scope, state)) === undefined) return;
    const wait = state.gate.at - clock.monotonic();
    if (wait <= 0) return;
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

function fileOf(folder: string, scope: string): string {
  return join(folder, `${prefix}${scope}${suffix}`);
}

function parse(text: string): Copy | undefined {
  const { at, wall, length, reason, boot, env } = JSON.parse(text) as Record<string, unknown>;
  const areNumbers = [at, wall, length].every(Number.isFinite);
  if (!areNumbers || typeof boot !== 'string' || typeof env !== 'string') return undefined;
  if (reason !== 'refused' && reason !== 'unavailable') return undefined;
  const gate = believable({ at: Number(at), wall: Number(wall), length: Number(length), reason });
  return { ...gate, boot, env };
}

/** Returns undefined if it fails: a copy that can't be used is none. */
function tryTo<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
