import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import {
  chmod,
  type FileHandle,
  link,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFileAtomically, type DiskSync, syncFolder, writeFileAtomically } from '../../src/shared/atomic-file.ts';
import { FailureError } from '../../src/shared/errors.ts';
import { canMakeFifos, hasFullDevice } from '../support/capabilities.ts';

const isLinux = process.platform === 'linux';
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

  it.runIf(hasFullDevice)('writes to what is no file directly, and has words for a full disk', async () => {
    await writeFileAtomically('/dev/null', ['text']);
    const failure = await writeFileAtomically('/dev/full', ['text']).catch((error) => error);
    expect(failure).toBeInstanceOf(FailureError);
    expect(failure.message).toBe("/dev/full can't be written: the disk is full");
  });

  it.runIf(isLinux && canMakeFifos)('writes to a pipe that only its descriptor names', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const descriptor = fs.openSync(pipe, 'r+');
    try {
      await rm(pipe);
      // As /dev/stdout is, where stdout is a pipe.
      const path = join(folder, 'stdout');
      await symlink(`/proc/self/fd/${descriptor}`, path);
      await writeFileAtomically(path, ['text']);
      expect(fs.lstatSync(path).isSymbolicLink()).toBe(true);
      const read = Buffer.alloc(8);
      expect(read.toString('utf8', 0, fs.readSync(descriptor, read))).toBe('text');
    } finally {
      fs.closeSync(descriptor);
    }
  });
});

/** Syncs nothing; notes what there was to sync, and what was in the folder then, in order. */
function watchedSync(seen: unknown[]): Partial<DiskSync> {
  const contents = async () => {
    const names = (await readdir(folder)).map((name) => name.replace(/^\.petstock-.+\.tmp$/, 'TEMPORARY')).sort();
    return names.join(' ');
  };
  return {
    file: async (handle: FileHandle) => {
      const { size, mode } = await handle.stat();
      seen.push({ file: size, mode: mode & 0o777, beside: await contents() });
    },
    folder: async (path) => {
      seen.push({ folder: path, beside: await contents() });
    },
  };
}

describe('what is on the disk, and when', () => {
  it('all of a file and its mode before it takes its name, and the folder after', async () => {
    const path = join(folder, 'a');
    await writeFile(path, 'old');
    await chmod(path, 0o640);
    const seen: unknown[] = [];
    await writeFileAtomically(path, pieces('12345', '67890'), { sync: watchedSync(seen) });
    expect(seen).toEqual([
      { file: 10, mode: 0o640, beside: 'TEMPORARY a' },
      { folder, beside: 'a' },
    ]);
  });

  it('the folder where a link leads', async () => {
    await mkdir(join(folder, 'b'));
    await writeFile(join(folder, 'b', 'real'), 'old');
    await symlink(join('b', 'real'), join(folder, 'a'));
    const seen: unknown[] = [];
    await writeFileAtomically(join(folder, 'a'), ['1'], { sync: watchedSync(seen) });
    expect(seen.at(-1)).toEqual({ folder: join(await realpath(folder), 'b'), beside: 'a b' });
  });

  it('a new private file likewise', async () => {
    const seen: unknown[] = [];
    await createFileAtomically(join(folder, 'key'), 'secret', watchedSync(seen));
    expect(seen).toEqual([
      { file: 6, mode: 0o600, beside: 'TEMPORARY' },
      { folder, beside: 'key' },
    ]);
  });

  it('a file that is not on the disk does not take its name', async () => {
    await writeFile(join(folder, 'a'), 'old');
    const sync: Partial<DiskSync> = {
      file: () => Promise.reject(Object.assign(new Error('EIO'), { code: 'EIO' })),
      folder: async () => {},
    };
    await expect(writeFileAtomically(join(folder, 'a'), ['new'], { sync })).rejects.toBeInstanceOf(FailureError);
    expect(await readFile(join(folder, 'a'), 'utf8')).toBe('old');
    expect(await readdir(folder)).toEqual(['a']);
  });
});

it('waits until another program has closed the file, as on Windows', async () => {
  const path = join(folder, 'a');
  await writeFile(path, 'old');
  const paused: number[] = [];
  const open = (times: number): Partial<DiskSync> => {
    let tries = 0;
    return {
      isWindows: true,
      rename: async (from, to) => {
        tries += 1;
        if (tries <= times) throw Object.assign(new Error('EPERM'), { code: 'EPERM' });
        await rename(from, to);
      },
      pause: async (ms) => void paused.push(ms),
    };
  };
  await writeFileAtomically(path, ['new'], { sync: open(3) });
  expect([await readFile(path, 'utf8'), paused]).toEqual(['new', [50, 100, 200]]);
  await expect(writeFileAtomically(path, ['newer'], { sync: open(99) })).rejects.toThrow(
    'close it there and try again',
  );
  await expect(writeFileAtomically(path, ['newer'], { sync: { ...open(1), isWindows: false } })).rejects.toThrow(
    'permission',
  );
  expect([await readFile(path, 'utf8'), await readdir(folder)]).toEqual(['new', ['a']]);
});

it('syncs the new file and its folder by itself', async () => {
  const synced: string[] = [];
  const { fsync } = fs;
  fs.fsync = ((descriptor: number, done: fs.NoParamCallback) => {
    synced.push(fs.readlinkSync(`/proc/self/fd/${descriptor}`).replace(/\/\.petstock-.*$/, '/TEMPORARY'));
    fsync(descriptor, done);
  }) as typeof fs.fsync;
  syncBuiltinESMExports();
  try {
    await writeFileAtomically(join(folder, 'a'), ['new']);
    await createFileAtomically(join(folder, 'b'), 'new');
  } finally {
    fs.fsync = fsync;
    syncBuiltinESMExports();
  }
  const place = await realpath(folder);
  expect(synced).toEqual([`${place}/TEMPORARY`, place, `${place}/TEMPORARY`, place]);
});

describe("file handles that can not sync, as those of Plug'n'Play", () => {
  it('are synced by their descriptors', async () => {
    const handle = await open(folder, 'r');
    await handle.close();
    // All handles, since those that are used are opened within.
    const handles = Object.getPrototypeOf(handle) as typeof handle;
    const { sync } = handles;
    handles.sync = () => Promise.reject(new Error('Method not implemented.'));
    try {
      await writeFileAtomically(join(folder, 'a'), ['new']);
      expect(await createFileAtomically(join(folder, 'b'), 'new')).toBe(true);
    } finally {
      handles.sync = sync;
    }
    expect(await readdir(folder)).toEqual(['a', 'b']);
  });
});

describe('createFileAtomically', () => {
  it('puts it there once, whoever comes first, for this user alone', async () => {
    const path = join(folder, 'key');
    const texts = ['one', 'two', 'three'];
    const created = await Promise.all(texts.map((text) => createFileAtomically(path, text)));
    expect(created.filter((one) => one)).toHaveLength(1);
    expect(await readFile(path, 'utf8')).toBe(texts[created.indexOf(true)]);
    expect(await modeOf(path)).toBe(0o600);
    expect(await readdir(folder)).toEqual(['key']);
  });

  it('has words for a folder that is missing', async () => {
    const path = join(folder, 'none', 'key');
    await expect(createFileAtomically(path, 'x')).rejects.toThrow(`${path} can't be written: there is no such folder`);
  });
});

describe('where the new file is gone before it has its name', () => {
  const vanishing: Partial<DiskSync> = {
    file: async () => {
      for (const name of await readdir(folder)) await rm(join(folder, name));
    },
    folder: async () => {},
  };

  it.each([
    ['replaced', () => writeFileAtomically(join(folder, 'a'), ['x'], { sync: vanishing })],
    ['created', () => createFileAtomically(join(folder, 'a'), 'x', vanishing)],
  ])('nothing is %s, and it says so', async (_what, write) => {
    await expect(write()).rejects.toThrow(`${join(folder, 'a')} can't be written: there is no such folder`);
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('syncFolder', () => {
  const failing = (code: string) => Promise.reject(Object.assign(new Error(code), { code }));

  it('syncs the folder and closes it', async () => {
    const calls: string[] = [];
    await syncFolder('/a', async (path) => ({
      sync: async () => void calls.push(`sync ${path}`),
      close: async () => void calls.push(`close ${path}`),
    }));
    expect(calls).toEqual(['sync /a', 'close /a']);
  });

  it.each(['EIO', 'ENOSPC', 'EDQUOT'])('%s is a failure, and the folder is closed', async (code) => {
    const closed: string[] = [];
    const open = async () => ({ sync: () => failing(code), close: async () => void closed.push(code) });
    await expect(syncFolder('/a', open)).rejects.toMatchObject({ code });
    expect(closed).toEqual([code]);
  });

  it.each(['EINVAL', 'EPERM', 'EISDIR', 'EACCES'])('%s says that there is no such call', async (code) => {
    await syncFolder('/a', () => failing(code));
    await syncFolder('/a', async () => ({ sync: () => failing(code), close: async () => {} }));
  });
});
