import { chmod, link, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeFileAtomically } from '../../src/shared/atomic-file.ts';
import { FailureError } from '../../src/shared/errors.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'petstock-files-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function* pieces(...texts: readonly (string | Error)[]): AsyncGenerator<string> {
  for (const text of texts) {
    if (text instanceof Error) throw text;
    yield text;
  }
}

async function modeOf(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777;
}

describe('writeFileAtomically', () => {
  it('writes a new file', async () => {
    const path = join(folder, 'new.csv');
    await writeFileAtomically(path, pieces('é', 'b\n', ''));
    expect(await readFile(path, 'utf8')).toBe('éb\n');
    expect((await modeOf(path)) & ~0o644).toBe(0);
    expect(await readdir(folder)).toEqual(['new.csv']);
  });

  it('replaces a file as a whole, and keeps its mode', async () => {
    const path = join(folder, 'old.csv');
    await writeFile(path, 'a much longer text than the new one');
    await chmod(path, 0o620);
    await link(path, join(folder, 'same.csv'));
    await writeFileAtomically(path, ['new']);
    expect(await readFile(path, 'utf8')).toBe('new');
    expect(await modeOf(path)).toBe(0o620);
    // The old file is as it was: it was not written to.
    expect(await readFile(join(folder, 'same.csv'), 'utf8')).toContain('much longer');
  });

  it('leaves the file as it was, and nothing beside it, where the pieces fail', async () => {
    const path = join(folder, 'old.csv');
    await writeFile(path, 'old');
    const failure = new Error('the connection is gone');
    await expect(writeFileAtomically(path, pieces('half of', failure))).rejects.toBe(failure);
    expect(await readFile(path, 'utf8')).toBe('old');
    expect(await readdir(folder)).toEqual(['old.csv']);
  });

  it('writes where a link leads', async () => {
    const path = join(folder, 'link.csv');
    await mkdir(join(folder, 'elsewhere'));
    await writeFile(join(folder, 'elsewhere', 'real.csv'), 'old');
    await symlink(join('elsewhere', 'real.csv'), path);
    await writeFileAtomically(path, ['new']);
    expect(await readFile(join(folder, 'elsewhere', 'real.csv'), 'utf8')).toBe('new');
    expect((await readdir(folder)).sort()).toEqual(['elsewhere', 'link.csv']);
  });

  it.each([
    ['a missing folder', 'none/new.csv', 'there is no such folder'],
    ['a file for a folder', 'file/new.csv', 'there is no such folder'],
    ['a folder', 'sub', 'it is a folder'],
    ['a name that is too long', 'x'.repeat(300), 'the name is too long'],
  ])('has words for %s', async (_, name, reason) => {
    await writeFile(join(folder, 'file'), '');
    await mkdir(join(folder, 'sub'));
    const path = join(folder, name);
    const failure = await writeFileAtomically(path, ['new']).catch((error) => error);
    expect(failure).toBeInstanceOf(FailureError);
    expect(failure.message).toBe(`${path} can't be written: ${reason}`);
    expect((await readdir(folder)).sort()).toEqual(['file', 'sub']);
  });

  it('writes to what is no file directly, and has words for a full disk', async () => {
    await writeFileAtomically('/dev/null', ['text']);
    const failure = await writeFileAtomically('/dev/full', ['text']).catch((error) => error);
    expect(failure).toBeInstanceOf(FailureError);
    expect(failure.message).toBe("/dev/full can't be written: the disk is full");
  });
});
