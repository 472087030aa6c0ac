import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, expect, test as plain } from 'vitest';
import { createFileAtomically, type DiskSync, syncPath, writeFileAtomically } from '../../src/shared/atomic-file.ts';
import { FailureError } from '../../src/shared/errors.ts';
import { canMakeFifos, hasFullDevice } from '../support/capabilities.ts';
import { newFolder } from '../support/new-folder.ts';

/** Replaces `fs.fsync` while the work is done. */
async function withFsync(fsync: (descriptor: number, done: fs.NoParamCallback) => void, work: () => Promise<unknown>) {
  const real = fs.fsync;
  fs.fsync = fsync as typeof fs.fsync;
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    fs.fsync = real;
    syncBuiltinESMExports();
  }
}

/** Creates a folder, and functions that take the names of files in it. */
function openFolder() {
  const folder = fs.realpathSync(newFolder());
  const at = (name: string) => join(folder, name);
  return {
    folder,
    at,
    write: (name: string, text: string) => fs.writeFileSync(at(name), text),
    read: (name: string) => fs.readFileSync(at(name), 'utf8'),
    modeOf: (name: string) => fs.statSync(at(name)).mode & 0o7777,
    names: () => fs.readdirSync(folder).sort(),
    /** Creates `link`, a link to the file `b/real`. */
    link: () => {
      fs.mkdirSync(at('b'));
      fs.writeFileSync(at('b/real'), 'old');
      fs.symlinkSync('b/real', at('link'));
    },
  };
}

const test = plain.extend('here', () => openFolder());
const failing = (code: string) => Promise.reject(Object.assign(new Error(code), { code }));

async function* pieces(...texts: readonly (string | Error)[]): AsyncGenerator<string> {
  for (const text of texts) {
    if (text instanceof Error) throw text;
    yield text;
  }
}

describe('writeFileAtomically', () => {
  test('writes a new file with the usual mode', async ({ here }) => {
    await writeFileAtomically(here.at('new.csv'), pieces('é', 'b\n', ''));
    expect([here.read('new.csv'), here.names()]).toEqual(['éb\n', ['new.csv']]);
    expect(here.modeOf('new.csv')).toBe(0o666 & ~process.umask());
  });

  test('replaces a whole file, and keeps its mode except for setuid bits', async ({ here }) => {
    here.write('old.csv', 'a much longer text than the new one');
    fs.chmodSync(here.at('old.csv'), 0o6620);
    fs.linkSync(here.at('old.csv'), here.at('same.csv'));
    await writeFileAtomically(here.at('old.csv'), ['new']);
    expect([here.read('old.csv'), here.modeOf('old.csv')]).toEqual(['new', 0o620]);
    // The old file has another link, and was not overwritten.
    expect(here.read('same.csv')).toContain('much longer');
  });

  test('keeps the file, and leaves no temporary file behind, if the content or the disk fails', async ({ here }) => {
    here.write('old.csv', 'old');
    const failure = new Error('the connection is gone');
    await expect(writeFileAtomically(here.at('old.csv'), pieces('half of', failure))).rejects.toBe(failure);
    const sync: Partial<DiskSync> = { file: () => failing('EIO'), folder: async () => {} };
    await expect(writeFileAtomically(here.at('old.csv'), ['new'], { sync })).rejects.toBeInstanceOf(FailureError);
    expect([here.read('old.csv'), here.names()]).toEqual(['old', ['old.csv']]);
  });

  test('writes to the target of a link', async ({ here }) => {
    here.link();
    await writeFileAtomically(here.at('link'), ['new']);
    expect([here.read('b/real'), here.names(), fs.readdirSync(here.at('b'))]).toEqual(['new', ['b', 'link'], ['real']]);
    expect(fs.lstatSync(here.at('link')).isSymbolicLink()).toBe(true);
  });

  test.for([
    ['its folder is missing', 'none/new.csv', 'there is no such folder'],
    ['its folder is a file', 'file/new.csv', 'there is no such folder'],
    ['it is a folder', 'sub', 'it is a folder'],
    ['its name is too long', 'x'.repeat(300), 'the name is too long'],
    ['it leads nowhere', 'link', 'it is a symbolic link whose target does not exist'],
  ] as const)("reports why a file can't be written: %s", async ([, name, reason], { here }) => {
    here.write('file', '');
    fs.mkdirSync(here.at('sub'));
    fs.symlinkSync('missing', here.at('link'));
    const failure = new FailureError(`${here.at(name)} can't be written: ${reason}`);
    await expect(writeFileAtomically(here.at(name), ['new'])).rejects.toThrow(failure);
    if (!['sub', 'link'].includes(name))
      await expect(createFileAtomically(here.at(name), 'x')).rejects.toThrow(failure);
    expect(here.names()).toEqual(['file', 'link', 'sub']);
  });

  test.runIf(hasFullDevice)('writes directly to a device, and reports a full one', async () => {
    await writeFileAtomically('/dev/null', ['text']);
    const failure = new FailureError("/dev/full can't be written: the disk is full");
    await expect(writeFileAtomically('/dev/full', ['text'])).rejects.toThrow(failure);
  });

  const canName = process.platform === 'linux' && canMakeFifos;

  test.runIf(canName)('writes through a link such as /dev/stdout to a pipe without a path', async ({ here }) => {
    execFileSync('mkfifo', [here.at('pipe')]);
    const descriptor = fs.openSync(here.at('pipe'), 'r+');
    try {
      fs.rmSync(here.at('pipe'));
      // This link is like /dev/stdout if stdout is a pipe.
      fs.symlinkSync(`/proc/self/fd/${descriptor}`, here.at('stdout'));
      await writeFileAtomically(here.at('stdout'), ['text']);
      expect(fs.lstatSync(here.at('stdout')).isSymbolicLink()).toBe(true);
      const read = Buffer.alloc(8);
      expect(read.toString('utf8', 0, fs.readSync(descriptor, read))).toBe('text');
    } finally {
      fs.closeSync(descriptor);
    }
  });
});

const failed = (code: string) => (_descriptor: number, done: fs.NoParamCallback) =>
  done(Object.assign(new Error(code), { code }));

describe('syncing to disk', () => {
  /** Returns a sync that only records what it is given, and the names in the folder at that moment. */
  function watchedSync({ names }: ReturnType<typeof openFolder>) {
    const seen: unknown[] = [];
    const beside = () =>
      names()
        .join(' ')
        .replace(/\.petstock-\w+\.tmp/, 'TEMPORARY');
    const sync: Partial<DiskSync> = {
      file: async (handle: FileHandle) => {
        const { size, mode } = await handle.stat();
        seen.push({ file: size, mode: mode & 0o777, beside: beside() });
      },
      folder: async (path) => void seen.push({ folder: path, beside: beside() }),
    };
    return { seen, sync };
  }

  test('syncs a file and its mode before the rename, and its folder after', async ({ here }) => {
    here.write('a', 'old');
    fs.chmodSync(here.at('a'), 0o640);
    const { seen, sync } = watchedSync(here);
    await writeFileAtomically(here.at('a'), pieces('12345', '67890'), { sync });
    await createFileAtomically(here.at('key'), 'secret', sync);
    expect(seen).toEqual([
      { file: 10, mode: 0o640, beside: 'TEMPORARY a' },
      { folder: here.folder, beside: 'a' },
      { file: 6, mode: 0o600, beside: 'TEMPORARY a' },
      { folder: here.folder, beside: 'a key' },
    ]);
  });

  test('syncs the folder of the target of a link', async ({ here }) => {
    here.link();
    const { seen, sync } = watchedSync(here);
    await writeFileAtomically(here.at('link'), ['1'], { sync });
    expect(seen.at(-1)).toEqual({ folder: here.at('b'), beside: 'b link' });
  });

  test('syncs the new file and its folder by default', async ({ here }) => {
    const synced: string[] = [];
    await withFsync(
      (descriptor, done) => {
        synced.push(fs.readlinkSync(`/proc/self/fd/${descriptor}`).replace(/\/\.petstock-.*$/, '/TEMPORARY'));
        done(null);
      },
      async () => {
        await writeFileAtomically(here.at('a'), ['new']);
        await createFileAtomically(here.at('b'), 'new');
      },
    );
    const one = [here.at('TEMPORARY'), here.folder];
    expect(synced).toEqual([...one, ...one]);
  });

  test.for(['EIO', 'ENOSPC', 'EDQUOT'])("fails if a folder can't be synced: %s", async (code, { here }) => {
    const open = () => fs.readdirSync('/proc/self/fd').length;
    const before = open();
    await withFsync(failed(code), () => expect(syncPath(here.folder)).rejects.toMatchObject({ code }));
    expect(open()).toBe(before);
  });

  test.for(['EINVAL', 'EPERM', 'EISDIR'])(
    "succeeds even if a system can't sync folders: %s",
    async (code, { here }) => {
      await expect(withFsync(failed(code), () => syncPath(here.folder))).resolves.toBeUndefined();
      await expect(syncPath(here.at('missing'))).resolves.toBeUndefined();
    },
  );

  test("syncs by descriptor if file handles can't sync, as under Plug'n'Play", async ({ here }) => {
    const handle = await open(here.folder, 'r');
    await handle.close();
    // Changes the prototype, because the functions open handles of their own.
    const handles = Object.getPrototypeOf(handle) as typeof handle;
    const { sync } = handles;
    handles.sync = () => Promise.reject(new Error('Method not implemented.'));
    try {
      await writeFileAtomically(here.at('a'), ['new']);
      expect(await createFileAtomically(here.at('b'), 'new')).toBe(true);
    } finally {
      handles.sync = sync;
    }
    expect(here.names()).toEqual(['a', 'b']);
  });
});

test.for([
  ['EPERM', 'permission'],
  ['EACCES', 'permission'],
  ['EBUSY', 'close it there and try again'],
] as const)('waits while another program has the file open on Windows: %s', async ([code, elsewhere], { here }) => {
  here.write('a', 'old');
  const paused: number[] = [];
  const open = (times: number): Partial<DiskSync> => {
    let tries = 0;
    return {
      isWindows: true,
      rename: (from, to) => {
        tries += 1;
        return tries <= times ? failing(code) : rename(from, to);
      },
      pause: async (ms) => void paused.push(ms),
    };
  };
  await writeFileAtomically(here.at('a'), ['new'], { sync: open(3) });
  expect([here.read('a'), paused]).toEqual(['new', [50, 100, 200]]);
  const failsWith = (sync: Partial<DiskSync>, words: string) =>
    expect(writeFileAtomically(here.at('a'), ['newer'], { sync })).rejects.toThrow(words);
  await failsWith(open(99), 'close it there and try again');
  expect(paused.slice(3)).toEqual([50, 100, 200, 400, 800]);
  await failsWith({ ...open(1), isWindows: false }, elsewhere);
  expect([here.read('a'), here.names()]).toEqual(['new', ['a']]);
});

describe('createFileAtomically', () => {
  test('creates a file once for several callers, and only this user can read it', async ({ here }) => {
    const texts = ['one', 'two', 'three'];
    const created = await Promise.all(texts.map((text) => createFileAtomically(here.at('key'), text)));
    expect(created.filter((one) => one)).toHaveLength(1);
    expect(here.read('key')).toBe(texts[created.indexOf(true)]);
    expect([here.modeOf('key'), here.names()]).toEqual([0o600, ['key']]);
  });
});

test('fails without creating a file if the temporary file vanishes before its rename', async ({ here }) => {
  const sync: Partial<DiskSync> = {
    file: async () => fs.rmSync(here.at(here.names()[0] ?? '')),
    folder: async () => {},
  };
  const path = here.at('a');
  const replaced = () => writeFileAtomically(path, ['x'], { sync });
  for (const write of [replaced, () => createFileAtomically(path, 'x', sync)]) {
    await expect(write()).rejects.toThrow(`${path} can't be written: there is no such folder`);
    expect(here.names()).toEqual([]);
  }
});
