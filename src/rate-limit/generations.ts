import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { OpenLedgerFile } from './open-ledger-file.ts';
import { decodeRecord, type LedgerRecord } from './records.ts';

/**
 * The files of a ledger: `<scope>.<generation>.ledger`. A ledger that has grown is sealed and followed by one of the
 * next generation, which begins with a summary. The highest is the current one.
 */
export interface Generations {
  readonly folder: string;
  readonly scope: string;
}

/** NFS, SMB (three numbers), 9P, Ceph, AFS, Lustre and FUSE don't promise that two appends never overwrite each other. */
const remoteFileSystems = new Set([
  0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997, 0x00c36400, 0x5346414f, 0x0bd00bd0, 0x65735546,
]);

/** @param type of a file system, as `statfs` tells it */
export function isRemote(type: number): boolean {
  return remoteFileSystems.has(type);
}

/** @throws where the folder or the file can't be made or written, or is on a file system that can't append */
export function openGeneration(files: Generations, generation: number): OpenLedgerFile {
  makeFolder(files.folder);
  if (isRemote(statfsSync(files.folder).type)) throw new Error(`${files.folder} is on a network`);
  return new OpenLedgerFile(pathOf(files, generation), generation);
}

/** @returns 1 where there is none yet */
export function latestGeneration({ folder, scope }: Generations): number {
  const own = filesIn(folder).filter((file) => file.scope === scope && !file.isTemporary);
  return Math.max(1, ...own.map(({ generation }) => generation));
}

/** The records of the current generation, without opening it for writing. None where there is no file. */
export function readGeneration(files: Generations): LedgerRecord[] {
  try {
    const path = pathOf(files, latestGeneration(files));
    // A device has no end.
    const lines = statSync(path).isFile() ? readFileSync(path, 'latin1').split('\n') : [];
    const records = lines.map(decodeRecord).filter((record) => record !== undefined);
    const sealed = records.findIndex(({ type }) => type === 'seal');
    return sealed < 0 ? records : records.slice(0, sealed);
  } catch {
    return [];
  }
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
 * would write the same. Those before the last one are removed; a process that still has one open finds its seal.
 */
export function createGeneration(files: Generations, generation: number, line: string, unique: string): void {
  const path = pathOf(files, generation);
  const own = `${path}.${unique}`;
  try {
    writeFileSync(own, `\n${line}`, { mode: 0o600, flag: 'wx' });
    linkSync(own, path);
  } catch (error) {
    // One that lags behind may even lose the file that it prepares, to those who clear up behind them.
    if (latestGeneration(files) < generation) throw error;
  } finally {
    rmSync(own, { force: true });
  }
  const old = filesIn(files.folder).filter((file) => file.scope === files.scope && file.generation < generation - 1);
  for (const { name } of old) rmSync(join(files.folder, name), { force: true });
}

/** Not `recursive`, which on Node 20 never ends below a folder that takes no folders, such as /proc. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function pathOf({ folder, scope }: Generations, generation: number): string {
  return join(folder, `${scope}.${generation}.ledger`);
}

interface LedgerFileName {
  readonly name: string;
  readonly scope: string;
  readonly generation: number;
  /** Half made, by a process that may have been killed: its own name is behind. */
  readonly isTemporary: boolean;
}

/** @throws where the folder can't be read; none where there is no folder */
function filesIn(folder: string): LedgerFileName[] {
  return namesIn(folder).flatMap((name) => {
    const [, scope, generation, own] = /^([0-9a-f]+)\.(\d{1,15})\.ledger(\.\w+)?$/.exec(name) ?? [];
    return scope === undefined ? [] : [{ name, scope, generation: Number(generation), isTemporary: own !== undefined }];
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
