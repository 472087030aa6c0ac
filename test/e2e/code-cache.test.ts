import fs from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { isRoot } from '../support/capabilities.ts';
import { cachesIn, commands, folderOf, runCached, warmHome } from '../support/code-caches.ts';
import { runProgram, temporaryHome } from '../support/program.ts';

const mode = (path: string) => fs.statSync(path).mode & 0o777;

test('keeps a private cache of compiled code, and leaves it unchanged at the next start', async () => {
  const { home, printed } = await warmHome();
  const caches = cachesIn(home);
  expect(caches).toHaveLength(commands.length);
  expect([mode(folderOf(home)), ...caches.map(mode)]).toEqual([0o700, ...caches.map(() => 0o600)]);
  for (const command of commands) {
    expect(printed.get(command)).toEqual(await runProgram(command, { home }));
    expect(printed.get(command)).toMatchObject({ code: 0, stderr: '' });
  }
  const before = caches.map((path) => fs.statSync(path).ino);
  for (const command of commands) await runCached(home, command);
  expect(caches.map((path) => fs.statSync(path).ino)).toEqual(before);
});

test('uses the code cache of a command whether global options come before or after it', async () => {
  const { home, printed } = await warmHome();
  expect(await runCached(home, '-e staging -o table config list')).toMatchObject({ code: 0 });
  expect(await runCached(home, '--env staging history list --json')).toEqual(printed.get('history list --json'));
  expect(cachesIn(home)).toHaveLength(commands.length);
});

test.runIf(isRoot)('runs a command as root without creating a code cache in a folder of another user', async () => {
  const { home, printed } = await warmHome();
  const [command] = commands;
  for (const path of [...cachesIn(home), folderOf(home)]) fs.chownSync(path, 65534, 65534);
  expect(await runCached(home, command)).toEqual(printed.get(command));
  fs.rmSync(folderOf(home), { recursive: true });
  fs.chownSync(dirname(folderOf(home)), 65534, 65534);
  expect((await runCached(home, 'config list')).code).toBe(0);
  expect(fs.existsSync(folderOf(home))).toBe(false);
});

test.each([
  ['PETSTOCK_NO_CACHE is set', { PETSTOCK_NO_CACHE: '1' }],
  ["the cache folder can't be created", { XDG_CACHE_HOME: '/dev/null/cache' }],
  ['its folder accepts no folders', { XDG_CACHE_HOME: '/proc/nope' }],
])('works without a code cache if %s', async (_why, env) => {
  const home = temporaryHome();
  expect((await runCached(home, 'config list', { env })).code).toBe(0);
  expect(cachesIn(home)).toEqual([]);
});

test('builds scripts that contain only ASCII', () => {
  const folder = dirname(inject('program'));
  const others = fs.readdirSync(folder).filter((name) => name.endsWith('.cjs'));
  expect(others.length).toBeGreaterThan(2);
  for (const name of others)
    expect([name, fs.readFileSync(join(folder, name)).find((byte) => byte > 0x7f)]).toEqual([name, undefined]);
});
