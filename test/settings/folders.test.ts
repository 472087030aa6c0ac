import { tmpdir } from 'node:os';
import path, { join } from 'node:path';
import { expect, test } from 'vitest';
import { resolveFolders, runtimeFolder } from '../../src/settings/folders.ts';

const inHome = { config: '/home/jo/.config/petstock', state: '/home/jo/.local/state/petstock' };
const support = '/Users/jo/Library/Application Support/petstock';
const [mac, windows] = ['/Users/jo', 'C:\\Users\\jo'];
const roaming = 'C:\\Users\\jo\\AppData\\Roaming\\petstock';

test.each([
  ['linux', '/home/jo', {}, inHome],
  [
    'linux',
    '/home/jo',
    { XDG_CONFIG_HOME: '/x/c', XDG_STATE_HOME: '/x/s' },
    { config: '/x/c/petstock', state: '/x/s/petstock' },
  ],
  // Relative and empty values of XDG are ignored.
  ['linux', '/home/jo', { XDG_CONFIG_HOME: 'c', XDG_STATE_HOME: '' }, inHome],
  ['darwin', mac, { XDG_CONFIG_HOME: '/x' }, { config: support, state: `${support}/state` }],
  [
    'win32',
    windows,
    { APPDATA: 'D:\\R', LOCALAPPDATA: 'D:\\L' },
    { config: 'D:\\R\\petstock', state: 'D:\\L\\petstock' },
  ],
  ['win32', windows, {}, { config: roaming, state: roaming.replace('Roaming', 'Local') }],
])('%s, %s, %j: %j', (platform, home, env, folders) => {
  expect(resolveFolders({ platform, home: () => home, env })).toEqual(folders);
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
