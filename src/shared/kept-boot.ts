import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { makePrivateFolder } from './private-files.ts';
import { takeLock } from './sqlite-engine.ts';

export interface KeptBootOptions {
  /** The state folder, shared by all processes that must agree. It is created if it is missing. */
  readonly folder: string;
  /** Returns the milliseconds since the machine started, never stepped: `Clock.monotonic`. */
  monotonic(): number;
}

interface KeptBoot {
  readonly label: string;
  /** The latest known `monotonic` of this boot. */
  readonly seenAt: number;
}

/** The file is updated with the machine's uptime at most this often, in milliseconds. */
const refreshEvery = 60_000;
/** Maximum wait for another process that updates the file, in milliseconds. */
const maxWait = 5000;

/**
 * Returns an id of the machine's current boot, for a system that has none. The first process that asks creates it and
 * keeps it in the state folder for the others, together with the latest known uptime.
 *
 * The wall clock is not used, because it may be stepped at any time. A shorter uptime than an earlier process saw
 * proves a restart. A restart may also go unnoticed: then times of the previous boot count as times of this one. Leases
 * have ended by then, and a wait for the rate limit ends late, never early.
 * @throws an error of `node:fs` or SQLite, or FailureError, if the id can't be kept
 */
export function keptBoot({ folder, monotonic }: KeptBootOptions): string {
  makePrivateFolder(folder);
  // Machines that share a folder must not confuse their times.
  const file = join(folder, `boot-${hostname().replaceAll(/[^\w-]/g, '_')}`);
  const now = monotonic();
  const known = read(file, now);
  if (known !== undefined && now - known.seenAt <= refreshEvery) return known.label;
  // Only one of two processes that notice a restart at once creates the id.
  const lock = takeLock(`${file}.lock`, maxWait);
  try {
    const kept = read(file, now);
    // Uses the global `crypto`, because importing `node:crypto` takes a while.
    const label = kept?.label ?? crypto.randomUUID();
    write(file, label, now, { isNew: kept === undefined });
    return label;
  } finally {
    lock.close();
  }
}

/**
 * Returns what was kept of this boot; undefined if the machine was restarted since, or if the file is missing or can't
 * be read.
 */
function read(file: string, now: number): KeptBoot | undefined {
  try {
    const [, seenAt, label] = /^(\d+) ([\w-]+)\n$/.exec(readFileSync(file, 'utf8')) ?? [];
    return label !== undefined && now >= Number(seenAt) ? { label, seenAt: Number(seenAt) } : undefined;
  } catch {
    return undefined;
  }
}

function write(file: string, label: string, now: number, { isNew }: { readonly isNew: boolean }): void {
  try {
    // Rounded down, because a later time would make the next process see a restart.
    writeFileSync(`${file}.new`, `${Math.floor(now)} ${label}\n`, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  } catch (error) {
    // Without a refresh the file is still correct.
    if (isNew) throw error;
  }
}
