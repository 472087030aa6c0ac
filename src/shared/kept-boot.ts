import { closeSync, linkSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { systemCode } from './file-error.ts';
import { makePrivateFolder } from './private-files.ts';

export interface KeptBootOptions {
  /** Of the state, which all processes that have to agree share. Made if it is missing. */
  readonly folder: string;
  /** Milliseconds since the machine started, never stepped: `Clock.monotonic`. */
  monotonic(): number;
}

interface KeptBoot {
  readonly label: string;
  /** The latest `monotonic` that is known of this boot. */
  readonly seenAt: number;
}

/** How often the file says again how long the machine has been up: milliseconds. */
const refreshEvery = 60_000;

/**
 * The name of this start of the machine, for a system that has none: made by the first process that asks, and kept in the state
 * folder for the others.
 *
 * The wall clock has no say in it, since it may be stepped at any time. The machine has certainly been restarted if it has been up for
 * less long than a process saw before. Where it has not, it may have been restarted all the same: then times of the boot before count as
 * times of this one. Leases are over by then, and a wait for the rate limit ends late, never early.
 * @throws the error of `node:fs`, or FailureError, if it can't be kept
 */
export function keptBoot({ folder, monotonic }: KeptBootOptions): string {
  makePrivateFolder(folder);
  const files = bootFiles(folder);
  for (;;) {
    const newest = files.newest();
    const kept = newest === undefined ? undefined : files.read(newest);
    const now = monotonic();
    if (newest !== undefined && kept !== undefined && now >= kept.seenAt) {
      if (now - kept.seenAt > refreshEvery) files.refresh(newest, now);
      return kept.label;
    }
    // Another process may have begun the same one: then its label counts, in the next round.
    // The global `crypto`: the module takes a while to load.
    const begun = { label: crypto.randomUUID(), seenAt: now };
    if (!files.begin((newest ?? 0) + 1, begun)) continue;
    if (newest !== undefined) files.remove(newest);
    return begun.label;
  }
}

/** A file for each boot, numbered, so that of two processes that see a restart at once only one gives it a name. */
function bootFiles(folder: string) {
  // Two machines that share a folder must not take each other's times for their own.
  const prefix = `boot-${hostname().replaceAll(/[^\w-]/g, '_')}-`;
  const path = (boot: number) => join(folder, `${prefix}${boot}`);
  return {
    newest: (): number | undefined => {
      const names = readdirSync(folder).filter((name) => name.startsWith(prefix));
      const most = Math.max(0, ...names.map((name) => Number(/^\d+$/.exec(name.slice(prefix.length))?.[0] ?? 0)));
      return most === 0 ? undefined : most;
    },
    /** undefined: it has been removed meanwhile, so there is a newer one, or it is damaged, and the next boot begins. */
    read: (boot: number): KeptBoot | undefined => {
      try {
        const [, seenAt, label] = /^(\d+) ([\w-]+)\n$/.exec(readFileSync(path(boot), 'utf8')) ?? [];
        return label === undefined ? undefined : { label, seenAt: Number(seenAt) };
      } catch (error) {
        // Windows says the last two of a file that is being removed.
        if (['ENOENT', 'EPERM', 'EBUSY'].includes(systemCode(error) ?? '')) return undefined;
        throw error;
      }
    },
    /** @returns whether this process has begun it */
    begin: (boot: number, { label, seenAt }: KeptBoot): boolean => {
      const temporary = join(folder, `.${prefix}${crypto.randomUUID()}.tmp`);
      writeFileSync(temporary, `${digitsOf(seenAt)} ${label}\n`, { mode: 0o600, flag: 'wx' });
      try {
        linkSync(temporary, path(boot));
        return true;
      } catch (error) {
        if (systemCode(error) === 'EEXIST') return false;
        throw error;
      } finally {
        bestEffort(() => rmSync(temporary));
      }
    },
    /** In place, so that no reader finds it missing. */
    refresh: (boot: number, seenAt: number): void => {
      bestEffort(() => {
        const file = openSync(path(boot), 'r+');
        try {
          writeSync(file, digitsOf(seenAt), 0);
        } finally {
          closeSync(file);
        }
      });
    },
    remove: (boot: number): void => bestEffort(() => rmSync(path(boot))),
  };
}

/** Always as many, and never later than it was. */
function digitsOf(milliseconds: number): string {
  return String(Math.floor(milliseconds)).padStart(16, '0');
}

/** A file that is there already is true too. */
function bestEffort(step: () => void): void {
  try {
    step();
  } catch {
    // A disk that is full, a file that was removed by another process.
  }
}
