import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../shared/clock.ts';
import { makePrivateFolder, readPrivateFile } from '../shared/private-files.ts';
import { awaitLock, takeLock } from '../shared/sqlite-engine.ts';
import { fold } from './fold.ts';
import { believable, emptyState, type Gate, type KeyState } from './key-state.ts';

/**
 * `gate`: this machine was asked to wait. `told`: another machine wrote it into the state that they share. They are apart, so that one who can write
 * there can't put an end to what this machine was asked.
 */
export const copyKinds = ['gate', 'told'] as const;
export type CopyKind = (typeof copyKinds)[number];

/** A gate as a file has it. */
export interface GateCopy {
  readonly kind: CopyKind;
  /** The life of the database that told of it. */
  readonly life: string | undefined;
  /** Knows nothing but the gate, by the clocks of this start of the machine. */
  readonly state: KeyState;
}

/** Each gate is written to the first two folders that take it: one may go with a login, or with a restart. */
const enough = 2;

/** Clocks of a shared state are known to within some milliseconds. */
export const tolerance = 1;

/** The files of gates: in each folder one for every key and kind. All folders are read. */
export class GateFiles {
  readonly #folders: readonly string[];
  readonly #clock: Clock;

  /** @param folders in the order in which they are written to; none need exist */
  constructor(folders: readonly string[], clock: Clock) {
    this.#folders = folders;
    this.#clock = clock;
  }

  /** Returns the copies of gates that still hold. Removes those that are over. */
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

  /** Removes the copies of a kind that `isMeant` is true of. One that is about to be replaced may stay. */
  remove(scope: string, kind: CopyKind, isMeant: (copy: GateCopy) => boolean): void {
    for (const folder of this.#folders) {
      const copy = this.#read(folder, scope, kind);
      if (copy !== undefined && isMeant(copy)) orUndefined(() => this.#remove(folder, scope, kind, isMeant));
    }
  }

  /** Removes all copies for good. @throws the error of `node:fs` for one that can't be removed */
  clear(scope: string): void {
    for (const folder of this.#folders) {
      for (const kind of copyKinds) {
        if (this.#read(folder, scope, kind) !== undefined) rmSync(fileOf(folder, scope, kind), { force: true });
      }
    }
  }

  /** Writes a gate, on the disk. @returns what was in the way of the last folder, if no folder took it */
  async write(scope: string, kind: CopyKind, { gate, env }: KeyState, life?: string): Promise<unknown> {
    // Late: hardly any command needs it.
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
        // Others have to see it as soon as can be: a lock takes a while to load, and a disk to sync.
        const isFirst = await createFileAtomically(file, text, unsynced).catch(() => false);
        if (!isFirst) {
          await underLock(folder, async () => {
            // Another process may have written a later one.
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
    // It is asked before each request: an error would cost more.
    const copy = existsSync(file) ? orUndefined(() => parse(readPrivateFile(file)?.text)) : undefined;
    if (copy === undefined) return undefined;
    this.begin(copy.state);
    return { ...copy, kind };
  }

  /** Takes a state over to this start of the machine. */
  begin(state: KeyState): void {
    const clock = this.#clock;
    fold(state, { type: 'start', boot: clock.boot(), env: state.env, at: clock.monotonic(), wall: clock.now() });
  }

  #holds({ gate }: KeyState): boolean {
    return gate.at > this.#clock.monotonic();
  }

  /** Looks once more, since another process may have written a later one. @throws if another one is about to */
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

/** Runs `work` while no other process changes the copies of a folder. After 200 ms even so: one that may be replaced by an earlier gate is better than none. */
async function underLock(folder: string, work: () => Promise<void>): Promise<void> {
  const lock = await awaitLock(join(folder, lockName), 200).catch(() => undefined);
  await work().finally(() => lock?.close());
}

function fileOf(folder: string, scope: string, kind: CopyKind): string {
  return join(folder, `${kind}-${scope}.json`);
}

/** What a file has. */
type Copy = Gate & Pick<KeyState, 'boot' | 'bootedAt' | 'env'> & { readonly life: string | undefined };

/** @throws an error of any kind if it makes no sense */
function parse(text = ''): Omit<GateCopy, 'kind'> | undefined {
  // 0.2.0 does not say when the machine was started: its copies go by the wall clock then.
  const { boot, bootedAt = Number.NaN, env, at, wall, length, reason, life } = JSON.parse(text) as Copy;
  const areNumbers = [at, wall, length].every(Number.isFinite);
  if (!areNumbers || typeof boot !== 'string' || typeof env !== 'string') return undefined;
  return { life, state: { ...emptyState(), boot, bootedAt, env, gate: believable({ at, wall, length, reason }) } };
}

/** Returns undefined if it fails: a copy that can't be used is none. */
export function orUndefined<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
