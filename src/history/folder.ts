import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { FailureError, NotFoundError, UsageError } from '../shared/errors.ts';

const runPattern = /^\d{8}T\d{6}Z-[0-9a-z]{4}$/;
const hint = 'petstock history list';

/** Where the files of the runs are, one a run. */
export function historyFolder(stateFolder: string): string {
  return join(stateFolder, 'history');
}

/** @param run a whole id */
export function runPath(stateFolder: string, run: string): string {
  return join(historyFolder(stateFolder), `${run}.ndjson`);
}

/**
 * The runs that have a file, the oldest first. None where there is no folder.
 * @throws FailureError where the folder can't be read
 */
export function runsIn(stateFolder: string): string[] {
  const folder = historyFolder(stateFolder);
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith('.ndjson'));
    return names
      .map((name) => name.slice(0, -'.ndjson'.length))
      .filter((run) => runPattern.test(run))
      .sort();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new FailureError(`The history in ${folder} can't be read (${(cause as Error).message})`, { cause });
  }
}

/**
 * The run that a person means: its whole id, or its last four characters where only one run ends in them.
 * @throws UsageError for what is no id, or stands for more than one run; NotFoundError where there is no such run
 */
export function findRun(stateFolder: string, text: string): string {
  const wanted = /^[0-9a-z]{4}$/i.test(text) ? `-${text.toLowerCase()}` : text;
  if (!wanted.startsWith('-') && !runPattern.test(wanted)) {
    throw new UsageError(`${JSON.stringify(text)} is not the id of a run, such as 20260115T120020Z-k3x9`, { hint });
  }
  const [run, ...others] = runsIn(stateFolder).filter((candidate) => candidate.endsWith(wanted));
  if (run === undefined) throw new NotFoundError(`There is no run ${text} in the history`, { hint });
  if (others.length === 0) return run;
  throw new UsageError(`${text} may be ${[run, ...others].join(' or ')}: give the whole id`, { hint });
}

/**
 * A new, empty file for a new run, named after its time and four characters that tell apart the runs of one second.
 * The name is on disk when it returns.
 * @param at ISO 8601
 * @throws where the folder or the file can't be made
 */
export function createRunFile(stateFolder: string, at: string, random: () => number): { run: string; file: number } {
  const folder = historyFolder(stateFolder);
  makeFolder(folder);
  const time = at.replace(/[-:]|\.\d+/g, '');
  for (let attempt = 0; ; attempt += 1) {
    const suffix = Math.floor((random() + attempt / 7) * 36 ** 4) % 36 ** 4;
    const run = `${time}-${suffix.toString(36).padStart(4, '0')}`;
    try {
      const file = openSync(runPath(stateFolder, run), 'ax', 0o600);
      syncFolder(folder);
      return { run, file };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || attempt > 100) throw error;
    }
  }
}

/** Not `recursive`, which on Node 20 never ends below a folder that takes no folders, such as /proc. */
export function makeFolder(path: string): void {
  const make = () => mkdirSync(path, { mode: 0o700 });
  try {
    make();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT') throw error;
    makeFolder(dirname(path));
    // Another process may make it at the same time.
    if (!isMade(make)) throw error;
  }
}

function isMade(make: () => void): boolean {
  try {
    make();
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EEXIST';
  }
}

/** The name of a new file lasts only once its folder is on disk as well. Windows has no such call. */
function syncFolder(folder: string): void {
  let descriptor: number;
  try {
    descriptor = openSync(folder, 'r');
  } catch {
    return;
  }
  try {
    fsyncSync(descriptor);
  } catch {
    // The file system knows no such thing; the file itself is synced before anything is sent.
  } finally {
    closeSync(descriptor);
  }
}

/** @returns the failure of a write to the history, in words */
export function writeFailure(stateFolder: string, cause: unknown): FailureError {
  const { message } = cause as Error;
  return new FailureError(`The history in ${historyFolder(stateFolder)} can't be written (${message})`, { cause });
}
