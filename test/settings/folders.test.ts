import { tmpdir } from 'node:os';
import path, { join } from 'node:path';
import { expect, test } from 'vitest';
import { resolveFolders, temporaryFolder, usualFolder } from '../../src/settings/folders.ts';

const foldersOf = (platform: string, home: string, env = {}) => resolveFolders({ platform, home: () => home, env });

test('follows the XDG variables on Linux, unless they are relative or empty', () => {
  const inHome = { config: '/home/jo/.config/petstock', state: '/home/jo/.local/state/petstock' };
  expect(foldersOf('linux', '/home/jo')).toEqual(inHome);
  expect(foldersOf('linux', '/home/jo', { XDG_CONFIG_HOME: 'c', XDG_STATE_HOME: '' })).toEqual(inHome);
  const given = foldersOf('linux', '/home/jo', { XDG_CONFIG_HOME: '/x/c', XDG_STATE_HOME: '/x/s' });
  expect(given).toEqual({ config: '/x/c/petstock', state: '/x/s/petstock' });
});

test('finds the configuration and state folders of macOS', () => {
  const config = '/Users/jo/Library/Application Support/petstock';
  expect(foldersOf('darwin', '/Users/jo', { XDG_CONFIG_HOME: '/x' })).toEqual({ config, state: `${config}/state` });
});

test('finds the configuration and state folders of Windows', () => {
  const given = foldersOf('win32', 'C:\\Users\\jo', { APPDATA: 'D:\\R', LOCALAPPDATA: 'D:\\L' });
  expect(given).toEqual({ config: 'D:\\R\\petstock', state: 'D:\\L\\petstock' });
  const data = 'C:\\Users\\jo\\AppData';
  const usual = { config: `${data}\\Roaming\\petstock`, state: `${data}\\Local\\petstock` };
  expect(foldersOf('win32', 'C:\\Users\\jo')).toEqual(usual);
});

test.each<[platform: string, env: Record<string, string>, expected: string]>([
  ['linux', {}, '/home/jo/.cache/petstock'],
  ['linux', { XDG_CACHE_HOME: '/x/k', PETSTOCK_STATE_DIR: '/s' }, '/x/k/petstock'],
  ['linux', { XDG_CACHE_HOME: 'k' }, '/home/jo/.cache/petstock'],
  ['darwin', { XDG_CACHE_HOME: '/x' }, '/home/jo/Library/Caches/petstock'],
  ['win32', { LOCALAPPDATA: 'D:\\L' }, 'D:\\L\\petstock\\cache'],
])('chooses the cache folder on %s with %j', (platform, env, expected) => {
  expect(usualFolder('cache', { platform, home: () => '/home/jo', env })).toBe(expected);
});

test.each(['linux', 'darwin'])("prefers petstock's own variables on %s, and refuses a relative path", (platform) => {
  const env = { PETSTOCK_CONFIG_DIR: '/c', PETSTOCK_STATE_DIR: './s t', XDG_CONFIG_HOME: '/x' };
  const folders = resolveFolders({ platform, home: () => '/h', env });
  expect(folders.config).toBe('/c');
  expect(() => folders.state).toThrow(
    expect.objectContaining({ kind: 'usage', hint: `export PETSTOCK_STATE_DIR='${path.resolve('s t')}'` }),
  );
});

test.each(['linux', 'darwin', 'win32'])(
  'uses the variables on %s without a home folder, or throws if one is missing',
  (platform) => {
    const home = () => undefined;
    const env = { PETSTOCK_CONFIG_DIR: '/c', PETSTOCK_STATE_DIR: '/s' };
    if (platform !== 'win32') expect(resolveFolders({ platform, home, env })).toEqual({ config: '/c', state: '/s' });
    const { PETSTOCK_CONFIG_DIR } = env;
    const folders = resolveFolders({ platform, home, env: { PETSTOCK_CONFIG_DIR } });
    expect(() => folders.state).toThrow('This user has no home folder');
  },
);

test.each([
  [{}, tmpdir()],
  [{ TMPDIR: '/t' }, '/t'],
  [{ TMPDIR: 't' }, tmpdir()],
])('finds the folder for gates in the temporary folder of the system: %j', (env, folder) => {
  expect(temporaryFolder(env)).toBe(join(folder, `petstock-${process.geteuid?.() ?? 'user'}`));
});
