import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../shared/clock.ts';
import { makePrivateFolder, readPrivateFile } from '../shared/private-files.ts';
import { awaitLock, takeLock } from '../shared/sqlite-engine.ts';
import { fold } from './fold.ts';
import { boundedGate, emptyState, type Gate, type KeyState } from './key-state.ts';

/**
 * `gate`: the service asked this machine to wait. `told`: another machine wrote the gate into the shared state. The two
 * are separate files, so that other users of the shared state can't end a wait that this machine was asked for.
 */
const copyKinds = ['gate', 'told'] as const;
export type CopyKind = (typeof copyKinds)[number];

/** A gate as stored in a file. */
export interface GateCopy {
  readonly kind: CopyKind;
  /** The epoch of the database that a `told` gate came from, if it is known. */
  readonly life: string | undefined;
  /** A state that holds only the gate, by the clocks of this boot. */
  readonly state: KeyState;
}

/** Each gate is written to the first two folders that accept it, because one may vanish at a logout or a restart. */
const enough = 2;

/** How far apart two times of the same gate may be, in milliseconds, because a shared state stores times inexactly. */
export const tolerance = 1;

/** The gate files: at most one for each key and kind in each folder. All folders are read. */
export class GateFiles {
  readonly #folders: readonly string[];
  readonly #clock: Clock;

  /** @param folders the folders, in the order in which they are written to; none needs to exist */
  constructor(folders: readonly string[], clock: Clock) {
    this.#folders = folders;
    this.#clock = clock;
  }

  /** Returns the copies of gates that still hold. Removes the others unless another process holds the lock. */
  holding(scope: string): GateCopy[] {
    return this.#folders.flatMap((folder) =>
      copyKinds.flatMap((kind) => {
        const copy = this.#read(folder, scope, kind);
        if (copy === undefined) return [];
        if (this.#holds(copy.state)) return [copy];
        orUndefined(() => this.#remove(folder, scope, kind, (now) => !this.#holds(now.state)));
        return [];
      }),
    );
  }

  /**
   * Removes the copies of a kind for which `isMeant` returns true. A copy that another process is replacing may stay.
   */
  remove(scope: string, kind: CopyKind, isMeant: (copy: GateCopy) => boolean): void {
    for (const folder of this.#folders) {
      const copy = this.#read(folder, scope, kind);
      if (copy !== undefined && isMeant(copy)) orUndefined(() => this.#remove(folder, scope, kind, isMeant));
    }
  }

  /**
   * Removes all copies of a key, except those that can't be read.
   * @throws the error of `node:fs` if a copy can't be removed
   */
  clear(scope: string): void {
    for (const folder of this.#folders) {
      for (const kind of copyKinds) {
        if (this.#read(folder, scope, kind) !== undefined) rmSync(fileOf(folder, scope, kind), { force: true });
      }
    }
  }

  /**
   * Writes a gate to disk. A later gate in a folder is kept.
   * @returns the last error if there are folders, but none accepted the gate; otherwise undefined
   */
  async write(scope: string, kind: CopyKind, { gate, env }: KeyState, life?: string): Promise<unknown> {
    // Loaded late, because hardly any command needs it.
    const { createFileAtomically, syncPath, writeFileAtomically } = await import('../shared/atomic-file.ts');
    const bootedAt = this.#clock.now() - this.#clock.monotonic();
    const text = JSON.stringify({ ...gate, boot: this.#clock.boot(), bootedAt, env, life } satisfies Copy);
    let written = 0;
    let cause: unknown;
    for (const folder of this.#folders) {
      if (written === enough) break;
      const file = fileOf(folder, scope, kind);
      try {
        makePrivateFolder(folder);
        // Other processes must see the gate at once, so its file is created before taking the lock and before syncing.
        const isFirst = await createFileAtomically(file, text, unsynced).catch(() => false);
        if (!isFirst) {
          await underLock(folder, async () => {
            const kept = this.#read(folder, scope, kind)?.state.gate.at ?? 0;
            if (kept < gate.at) await writeFileAtomically(file, [text], { isPrivate: true, sync: unsynced });
          });
        }
        await syncPath(file, 'r+');
        await syncPath(folder);
        written += 1;
      } catch (error) {
        cause = error;
      }
    }
    return written === 0 ? cause : undefined;
  }

  /** Returns the keys that have copies. */
  scopes(): readonly string[] {
    const names = this.#folders.flatMap((folder) => orUndefined(() => readdirSync(folder)) ?? []);
    return [...new Set(names.flatMap((name) => /^(?:gate|told)-(.+)\.json$/.exec(name)?.[1] ?? []))];
  }

  #read(folder: string, scope: string, kind: CopyKind): GateCopy | undefined {
    const file = fileOf(folder, scope, kind);
    // Check first: this runs before each request, and an exception for a missing file costs more.
    const copy = existsSync(file) ? orUndefined(() => parse(readPrivateFile(file)?.text)) : undefined;
    if (copy === undefined) return undefined;
    this.begin(copy.state);
    return { ...copy, kind };
  }

  /** Converts a state to the clocks of this boot. */
  begin(state: KeyState): void {
    const clock = this.#clock;
    fold(state, { type: 'start', boot: clock.boot(), env: state.env, at: clock.monotonic(), wall: clock.now() });
  }

  #holds({ gate }: KeyState): boolean {
    return gate.at > this.#clock.monotonic();
  }

  /**
   * Removes a copy if `isMeant` still returns true under the lock, because another process may have written a later
   * gate.
   * @throws if another process holds the lock, or the copy can't be removed
   */
  #remove(folder: string, scope: string, kind: CopyKind, isMeant: (copy: GateCopy) => boolean): void {
    const lock = takeLock(join(folder, lockName));
    try {
      const copy = this.#read(folder, scope, kind);
      if (copy !== undefined && isMeant(copy)) rmSync(fileOf(folder, scope, kind), { force: true });
    } finally {
      lock.close();
    }
  }
}

const unsynced = { file: async () => {}, folder: async () => {} };

const lockName = 'gates.lock';

/**
 * Runs `work` under the lock of a folder. After 200 ms, `work` runs without the lock: a copy that might be replaced by
 * an earlier gate is better than none.
 */
async function underLock(folder: string, work: () => Promise<void>): Promise<void> {
  const lock = await awaitLock(join(folder, lockName), 200).catch(() => undefined);
  await work().finally(() => lock?.close());
}

function fileOf(folder: string, scope: string, kind: CopyKind): string {
  return join(folder, `${kind}-${scope}.json`);
}

/** The content of a gate file. */
type Copy = Gate & Pick<KeyState, 'boot' | 'bootedAt' | 'env'> & { readonly life: string | undefined };

/**
 * Parses a gate file.
 * @returns undefined if a time, the boot or the environment has the wrong type
 * @throws an error of any kind for other invalid content
 */
function parse(text = ''): Omit<GateCopy, 'kind'> | undefined {
  // Version 0.2.0 did not store the boot time. Under another boot id its copies rely on the wall clock, even without a
  // restart (in another container).
  const { boot, bootedAt = Number.NaN, env, at, wall, length, reason, life } = JSON.parse(text) as Copy;
  const areNumbers = [at, wall, length].every(Number.isFinite);
  if (!areNumbers || typeof boot !== 'string' || typeof env !== 'string') return undefined;
  return { life, state: { ...emptyState(), boot, bootedAt, env, gate: boundedGate({ at, wall, length, reason }) } };
}

/** Returns undefined if `work` throws: a copy that can't be used counts as missing. */
export function orUndefined<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
