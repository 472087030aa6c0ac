import { createHash } from 'node:crypto';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { historyFolder, makeFolder } from '../folder.ts';
import { ClaimsLog } from './log.ts';

/** The logs of one service since one start of the machine: `<scope>.<generation>.log`. The highest is the current one. */
export interface ClaimsFiles {
  readonly folder: string;
  readonly scope: string;
}

/** A log that nobody has written for so long is that of an earlier start of the machine, or of a service out of use. */
const oldAfter = 7 * 24 * 60 * 60 * 1000;

export function claimsFiles(stateFolder: string, service: string, boot: string): ClaimsFiles {
  const scope = createHash('sha256').update(`${service}\n${boot}`).digest('hex').slice(0, 32);
  return { folder: join(historyFolder(stateFolder), 'claims'), scope };
}

/**
 * Opens the current generation, or a later one where that is asked for.
 * @throws where the folder or the file can't be made or written
 */
export function openLatest(files: ClaimsFiles, atLeast = 1): ClaimsLog {
  makeFolder(files.folder);
  const generation = Math.max(atLeast, latest(files));
  const log = new ClaimsLog(pathOf(files, generation), generation);
  if (latest(files) === generation) return log;
  // Others have gone on since: what was opened may be a new, empty file of an old name.
  log.close();
  return openLatest(files, atLeast);
}

/** Removes the logs that nobody needs. One who has the last generation open still finds the seal in it. */
export function removeOld({ folder, scope }: ClaimsFiles, current: ClaimsLog): void {
  const { writtenAt } = current;
  for (const file of logsIn(folder)) {
    const path = join(folder, file.name);
    const isPast = file.scope === scope && file.generation < current.generation - 1;
    const age = writtenAt - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? writtenAt);
    if (isPast || age > oldAfter) rmSync(path, { force: true });
  }
}

function latest({ folder, scope }: ClaimsFiles): number {
  const own = logsIn(folder).filter((file) => file.scope === scope);
  return Math.max(1, ...own.map(({ generation }) => generation));
}

function pathOf({ folder, scope }: ClaimsFiles, generation: number): string {
  return join(folder, `${scope}.${generation}.log`);
}

function logsIn(folder: string): { name: string; scope: string; generation: number }[] {
  return readdirSync(folder).flatMap((name) => {
    const [, scope, generation] = /^([0-9a-f]+)\.(\d{1,15})\.log$/.exec(name) ?? [];
    return scope === undefined ? [] : [{ name, scope, generation: Number(generation) }];
  });
}
