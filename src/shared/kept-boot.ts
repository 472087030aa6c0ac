import { closeSync, linkSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { systemCode } from './file-error.ts';
import { makePrivateFolder } from './private-files.ts';

export interface KeptBootOptions {
  /** The state folder, shared by all processes that must agree. Created if it is missing. */
  readonly folder: string;
  /** Milliseconds since the machine started, never stepped: `Clock.monotonic`. */
  monotonic(): number;
}

interface KeptBoot {
  readonly label: string;
  /** The latest known `monotonic` of this boot. */
  readonly seenAt: number;
}

/** How often the file is updated with the machine's uptime, in milliseconds. */
const refreshEvery = 60_000;

/**
 * Returns an id of the machine's current boot, for a system that has none. The first process that asks creates it and
 * keeps it in the state folder for the others.
 *
 * The wall clock is not used, because it may be stepped at any time. A shorter uptime than an earlier process saw
 * proves a restart. A restart may also go unnoticed: then times of the previous boot count as times of this one. Leases
 * have ended by then, and a wait for the rate limit ends late, never early.
 * @throws the error of `node:fs`, or FailureError, if the id can't be kept
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
    // Another process may have created the same boot; the next iteration uses its id. The global `crypto` is used,
    // because the module takes a while to load.
    const begun = { label: crypto.randomUUID(), seenAt: now };
    if (!files.begin((newest ?? 0) + 1, begun)) continue;
    if (newest !== undefined) files.remove(newest);
    return begun.label;
  }
}

/** Numbered files, one for each boot, so that only one of two processes that notice a restart at once names it. */
function bootFiles(folder: string) {
  // Machines that share a folder must not confuse their times.
  const prefix = `boot-${hostname().replaceAll(/[^\w-]/g, '_')}-`;
  const path = (boot: number) => join(folder, `${prefix}${boot}`);
  return {
    newest: (): number | undefined => {
      const names = readdirSync(folder).filter((name) => name.startsWith(prefix));
      const most = Math.max(0, ...names.map((name) => Number(/^\d+$/.exec(name.slice(prefix.length))?.[0] ?? 0)));
      return most === 0 ? undefined : most;
    },
    /**
     * Returns undefined if the file was removed meanwhile (there is a newer one), or is damaged (the next boot begins).
     */
    read: (boot: number): KeptBoot | undefined => {
      try {
        const [, seenAt, label] = /^(\d+) ([\w-]+)\n$/.exec(readFileSync(path(boot), 'utf8')) ?? [];
        return label === undefined ? undefined : { label, seenAt: Number(seenAt) };
      } catch (error) {
        // Windows returns the last two codes for a file that is being removed.
        if (['ENOENT', 'EPERM', 'EBUSY'].includes(systemCode(error) ?? '')) return undefined;
        throw error;
      }
    },
    /** @returns whether this process has created it */
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
    /** Overwrites the file in place, so that no reader finds it missing. */
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

/** Returns a fixed number of digits, never a later time. */
function digitsOf(milliseconds: number): string {
  return String(Math.floor(milliseconds)).padStart(16, '0');
}

/** Ignores errors: an existing file is still correct. */
function bestEffort(step: () => void): void {
  try {
    step();
  } catch {
    // The disk is full, or another process has removed the file.
  }
}
