import { tmpdir } from 'node:os';
import path, { join } from 'node:path';
import { expect, test } from 'vitest';
import { resolveFolders, runtimeFolder } from '../../src/settings/folders.ts';

const foldersOf = (platform: string, home: string, env = {}) => resolveFolders({ platform, home: () => home, env });

test('Linux: XDG, unless it is relative or empty', () => {
  const inHome = { config: '/home/jo/.config/petstock', state: '/home/jo/.local/state/petstock' };
  expect(foldersOf('linux', '/home/jo')).toEqual(inHome);
  expect(foldersOf('linux', '/home/jo', { XDG_CONFIG_HOME: 'c', XDG_STATE_HOME: '' })).toEqual(inHome);
  const given = foldersOf('linux', '/home/jo', { XDG_CONFIG_HOME: '/x/c', XDG_STATE_HOME: '/x/s' });
  expect(given).toEqual({ config: '/x/c/petstock', state: '/x/s/petstock' });
});

test('macOS', () => {
  const config = '/Users/jo/Library/Application Support/petstock';
  expect(foldersOf('darwin', '/Users/jo', { XDG_CONFIG_HOME: '/x' })).toEqual({ config, state: `${config}/state` });
});

test('Windows', () => {
  const given = foldersOf('win32', 'C:\\Users\\jo', { APPDATA: 'D:\\R', LOCALAPPDATA: 'D:\\L' });
  expect(given).toEqual({ config: 'D:\\R\\petstock', state: 'D:\\L\\petstock' });
  const data = 'C:\\Users\\jo\\AppData';
  const usual = { config: `${data}\\Roaming\\petstock`, state: `${data}\\Local\\petstock` };
  expect(foldersOf('win32', 'C:\\Users\\jo')).toEqual(usual);
});

test.each(['linux', 'darwin'])('%s: our own variables win; a relative one is refused', (platform) => {
  const env = { PETSTOCK_CONFIG_DIR: '/c', PETSTOCK_STATE_DIR: './s t', XDG_CONFIG_HOME: '/x' };
  const folders = resolveFolders({ platform, home: () => '/h', env });
  expect(folders.config).toBe('/c');
  expect(() => folders.state).toThrow(
    expect.objectContaining({ kind: 'usage', hint: `export PETSTOCK_STATE_DIR='${path.resolve('s t')}'` }),
  );
});

test.each(['linux', 'darwin', 'win32'])('%s: without a home the variables do, and else it is said', (platform) => {
  const home = () => undefined;
  const env = { PETSTOCK_CONFIG_DIR: '/c', PETSTOCK_STATE_DIR: '/s' };
  if (platform !== 'win32') expect(resolveFolders({ platform, home, env })).toEqual({ config: '/c', state: '/s' });
  const { PETSTOCK_CONFIG_DIR } = env;
  const folders = resolveFolders({ platform, home, env: { PETSTOCK_CONFIG_DIR } });
  expect(() => folders.state).toThrow('This user has no home folder');
});

const user = process.geteuid?.() ?? 'user';
const usual = `/run/user/${user}`;

test.each([
  ['a login', { XDG_RUNTIME_DIR: usual }, true, `${usual}/petstock`],
  ['cron or sudo beside that login', {}, true, `${usual}/petstock`],
  ['no login', {}, false, join(tmpdir(), `petstock-${user}`)],
  ['a variable that is no path', { XDG_RUNTIME_DIR: 'run' }, true, `${usual}/petstock`],
])('the folder for limits without a state folder, of %s', (_what, env, hasLogin, expected) => {
  expect(runtimeFolder(env, (path) => hasLogin && path === usual)).toBe(expected);
});
