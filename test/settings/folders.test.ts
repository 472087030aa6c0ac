import { tmpdir } from 'node:os';
import path, { join } from 'node:path';
import { expect, test } from 'vitest';
import { resolveFolders, runtimeFolder } from '../../src/settings/folders.ts';

const linux = { platform: 'linux', home: () => '/home/jo' };

test('Linux: XDG', () => {
  expect(resolveFolders({ ...linux, env: {} })).toEqual({
    config: '/home/jo/.config/petstock',
    state: '/home/jo/.local/state/petstock',
  });
  expect(resolveFolders({ ...linux, env: { XDG_CONFIG_HOME: '/x/c', XDG_STATE_HOME: '/x/s' } })).toEqual({
    config: '/x/c/petstock',
    state: '/x/s/petstock',
  });
});

test('Linux: relative and empty XDG values are ignored', () => {
  expect(resolveFolders({ ...linux, env: { XDG_CONFIG_HOME: 'c', XDG_STATE_HOME: '' } })).toEqual(
    resolveFolders({ ...linux, env: {} }),
  );
});

test('macOS', () => {
  const support = '/Users/jo/Library/Application Support/petstock';
  expect(resolveFolders({ platform: 'darwin', home: () => '/Users/jo', env: { XDG_CONFIG_HOME: '/x' } })).toEqual({
    config: support,
    state: `${support}/state`,
  });
});

test('Windows', () => {
  const home = () => 'C:\\Users\\jo';
  expect(resolveFolders({ platform: 'win32', home, env: { APPDATA: 'D:\\R', LOCALAPPDATA: 'D:\\L' } })).toEqual({
    config: 'D:\\R\\petstock',
    state: 'D:\\L\\petstock',
  });
  expect(resolveFolders({ platform: 'win32', home, env: {} })).toEqual({
    config: 'C:\\Users\\jo\\AppData\\Roaming\\petstock',
    state: 'C:\\Users\\jo\\AppData\\Local\\petstock',
  });
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
