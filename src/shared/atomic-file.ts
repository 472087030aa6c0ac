import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FailureError } from './errors.ts';

/**
 * Writes a file that is there as a whole or not at all: into a new one beside it, which takes its place once all of it
 * is on the disk. A file that was there keeps its permissions and, through a symbolic link, its place; what is no file
 * (`/dev/stdout`, a pipe) is written to directly.
 * @throws FailureError with words for what is wrong with the folder or the disk; what `pieces` throws, as it is
 */
export async function writeFileAtomically(path: string, pieces: Pieces): Promise<void> {
  const existing = await attempt(path, () => existingFile(path));
  if (existing !== undefined && !existing.stats.isFile()) {
    const target = await attempt(path, () => open(path, 'w'));
    return writeAndClose(path, target, pieces);
  }
  const place = existing?.place ?? path;
  const temporary = join(dirname(place), `.petstock-${randomUUID()}.tmp`);
  const target = await attempt(path, () => open(temporary, 'wx', 0o644));
  try {
    await writeAndClose(path, target, pieces, () => finish(target, existing?.stats));
    await attempt(path, () => rename(temporary, place));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

type Pieces = AsyncIterable<string> | Iterable<string>;

interface Existing {
  /** Where it is, links followed. */
  readonly place: string;
  readonly stats: Stats;
}

async function existingFile(path: string): Promise<Existing | undefined> {
  try {
    const stats = await stat(path);
    if (stats.isDirectory()) throw new FailureError(`${path} can't be written: it is a folder`);
    return { place: await realpath(path), stats };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function writeAndClose(
  path: string,
  target: FileHandle,
  pieces: Pieces,
  last?: () => Promise<void>,
): Promise<void> {
  try {
    for await (const piece of pieces) await attempt(path, () => target.writeFile(piece));
    if (last !== undefined) await attempt(path, last);
  } finally {
    await target.close();
  }
}

/** Gives the new file the owner and the permissions of the one before, and waits until it is on the disk. */
async function finish(target: FileHandle, before: Stats | undefined): Promise<void> {
  if (before !== undefined) {
    // Only root may give a file away. The mode comes after, since this takes bits of it off.
    await target.chown(before.uid, before.gid).catch(() => undefined);
    await target.chmod(before.mode & 0o7777);
  }
  await target.sync();
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such folder',
  ENOTDIR: 'there is no such folder',
  EACCES: 'you may not write there',
  EPERM: 'you may not write there',
  EROFS: 'the disk can only be read',
  ENOSPC: 'the disk is full',
  EDQUOT: 'your share of the disk is full',
  EFBIG: 'the file is larger than it may be',
  ENAMETOOLONG: 'the name is too long',
};

/** Runs one step, with words for the failures that people run into. */
async function attempt<T>(path: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof FailureError) throw error;
    const { message } = error as Error;
    throw new FailureError(`${path} can't be written: ${reasons[codeOf(error) ?? ''] ?? message}`, { cause: error });
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}
