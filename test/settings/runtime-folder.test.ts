import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runtimeFolder } from '../../src/settings/folders.ts';

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
