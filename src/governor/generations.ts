import { linkSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OpenLedgerFile } from './open-ledger-file.ts';

/**
 * The files of a ledger: `<scope>.<generation>.ledger`. A ledger that has grown is sealed and followed by one of the
 * next generation, which begins with a summary. The highest is the current one.
 */
export interface Generations {
  readonly folder: string;
  readonly scope: string;
}

/** NFS, SMB (three numbers) and FUSE don't promise that two appends never overwrite each other. */
const remoteFileSystems = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x65735546]);

/** @throws where the folder or the file can't be made or written, or is on a file system that can't append */
export function openGeneration(files: Generations, generation: number): OpenLedgerFile {
  if (remoteFileSystems.has(statfsSync(files.folder).type)) throw new Error(`${files.folder} is on a network`);
  return new OpenLedgerFile(pathOf(files, generation), generation);
}

/** @returns 1 where there is none yet */
export function latestGeneration({ folder, scope }: Generations): number {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const own = filesIn(folder).filter((file) => file.scope === scope);
  return Math.max(1, ...own.map(({ generation }) => generation));
}

/** The scopes that have a ledger in a folder. */
export function scopesIn(folder: string): string[] {
  try {
    return [...new Set(filesIn(folder).map(({ scope }) => scope))];
  } catch {
    return [];
  }
}

/**
 * Makes a generation with its first line, at once and whole, unless another process has made it already: all of them
 * would write the same. The last but one is removed; a process that still has it open finds its seal.
 */
export function createGeneration(files: Generations, generation: number, line: string, unique: string): void {
  const path = pathOf(files, generation);
  const own = `${path}.${unique}`;
  try {
    writeFileSync(own, `\n${line}`, { mode: 0o600, flag: 'wx' });
    linkSync(own, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(own, { force: true });
  }
  rmSync(pathOf(files, generation - 2), { force: true });
}

function pathOf({ folder, scope }: Generations, generation: number): string {
  return join(folder, `${scope}.${generation}.ledger`);
}

function filesIn(folder: string): { scope: string; generation: number }[] {
  return readdirSync(folder).flatMap((name) => {
    const match = /^([0-9a-f]+)\.(\d{1,15})\.ledger$/.exec(name);
    return match?.[1] === undefined ? [] : [{ scope: match[1], generation: Number(match[2]) }];
  });
}
