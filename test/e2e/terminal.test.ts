import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, test, vi } from 'vitest';
import { runProgram, serve, startProgram, temporaryHome } from '../support/program.ts';
import { openShop } from '../support/shop.ts';

test('prints help as wide as the terminal', async () => {
  const { code, stdout } = await runProgram('inventory apply --help', { terminal: 61 });
  const fromSources = await (await openShop()).run('inventory apply --help', { terminal: 61 });
  const plain = (text: string) => stripVTControlCharacters(text).replaceAll('\r\n', '\n');
  expect([code, plain(stdout)]).toEqual([0, plain(fromSources.stdout)]);
});

// test/cli/commands/terminal.test.ts tests the choice; this tests that the program sees its streams and variables.
test('decides on colour separately for stdout in a file and stderr on a terminal', async () => {
  const home = temporaryHome();
  const through = ['sh', '-c', 'exec "$@" > "$HOME/out"', 'sh'];
  const run = async (command: string, env = {}) => {
    const { stdout } = await runProgram(`--env sandbox ${command}`, { home, through, terminal: 80, env });
    return { file: readFileSync(join(home.folder, 'out'), 'utf8'), terminal: stdout };
  };
  const list = await run('inventory list -o table');
  expect(list.file).toContain('Quantity');
  expect(list.file).not.toContain('\x1b');
  expect((await run('inventory get 4242')).terminal).toContain('\x1b[31m');
  expect((await run('inventory get 4242', { NO_COLOR: '1' })).terminal).not.toContain('\x1b[');
  expect((await run('inventory list -o table', { FORCE_COLOR: '1' })).file).toContain('\x1b[');
});

const key = 'psk_SecretSecretSecretSecret1234';

test('does not show a typed key at the prompt of config set-key', async () => {
  const home = temporaryHome();
  const program = startProgram('config set-key --env staging', { home, terminal: 80 });
  await program.until('stdout', 'API key for staging');
  for (const letter of key) program.type(letter);
  program.type('\r');
  const { code, stdout } = await program.result;
  expect(code).toBe(0);
  const shown = stripVTControlCharacters(stdout);
  for (const part of fragments(key)) expect(shown).not.toContain(part);
  expect(shown).toContain('…1234');
  expect(JSON.parse(readFileSync(join(home.config, 'config.json'), 'utf8'))).toEqual({ keys: { staging: key } });
});

test.each([
  ['Ctrl-C', '\x03'],
  ['Ctrl-D', '\x04'],
  ['Escape', '\x1b'],
])('does not store a key after %s at the prompt', async (_name, typed) => {
  const home = temporaryHome();
  const program = startProgram('config set-key --env staging', { home, terminal: 80 });
  await program.until('stdout', 'API key for staging');
  program.type(`psk_half${typed}`);
  const { code, stdout } = await program.result;
  expect(code).toBe(130);
  expect(stripVTControlCharacters(stdout)).not.toContain('psk_');
  expect(() => readFileSync(join(home.config, 'config.json'))).toThrow('ENOENT');
});

test('lets a key command ask on the terminal, and ends it with all that it started on Ctrl-C', async () => {
  const { env } = await serve();
  const home = temporaryHome();
  const asks = join(home.folder, 'ask-pin');
  const started = join(home.folder, 'started');
  // Like programs that ask for a PIN, neither ends by the terminal's own Ctrl-C.
  const lines = ['#!/bin/sh', "trap '' INT", `sleep 300 & echo $! $$ > ${started}`];
  const answer = ["printf 'PIN? ' > /dev/tty; read -r pin < /dev/tty", 'kill $!', 'echo "$pin"'];
  writeFileSync(asks, [...lines, ...answer, ''].join('\n'), { mode: 0o700 });
  const asking = { home, env: { ...env, PETSTOCK_API_KEY_STAGING: undefined }, terminal: 80 };
  await runProgram(['config', 'set-key', '--env', 'staging', '--command', asks], asking);
  const list = startProgram('inventory get 4', asking);
  await list.until('stdout', 'PIN? ');
  list.type(`${env.PETSTOCK_API_KEY_STAGING}\n`);
  expect((await list.result).code).toBe(0);
  const interrupted = startProgram('inventory get 4', asking);
  await interrupted.until('stdout', 'PIN? ');
  interrupted.type('\x03');
  expect((await interrupted.result).code).toBe(130);
  const pids = readFileSync(started, 'utf8').trim().split(' ');
  // Each is gone once the system has collected it.
  for (const pid of pids) await vi.waitFor(() => expect(isRunning(pid)).toBe(false), { timeout: 15_000 });
});

/** Reports whether a process runs. One that has ended may wait for a parent that collects it. */
function isRunning(pid: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== '';
  } catch {
    return false;
  }
}

/** Returns every run of five characters except the last one, whose end may be shown. */
function fragments(text: string): string[] {
  return Array.from({ length: text.length - 5 }, (_, at) => text.slice(at, at + 5));
}

test('counts down a wait for the rate limit on one line, and removes the line afterwards', async () => {
  const { env } = await serve({ faults: ['GET /inventory:first=1:status=429:retry-after=1'] });
  const { code, stdout } = await runProgram('inventory get 1 --color never', { env, terminal: 60 });
  expect(code).toBe(0);
  const [waiting = '', ...rest] = stdout.split('\r\x1b[KPet ID');
  expect(waiting).toMatch(
    /^▸ staging\r\n(\r\x1b\[KRate limited: continuing in [1-9] s \(\d\d:\d\d:\d\d\)[^\r]*)+(\r\x1b\[KRate limited: continuing\.[^\r]*)?$/,
  );
  for (const line of waiting.split('\r\x1b[K')) expect(line.length).toBeLessThan(60);
  expect(rest).toHaveLength(1);
  expect(rest[0]).not.toContain('Rate limited');
});

test('asks on plain lines without escape sequences if TERM is dumb', async () => {
  const { env: served } = await serve();
  const home = temporaryHome();
  const env = { ...served, TERM: 'dumb' };
  const stored = startProgram('config set-key --env production', { home, env, terminal: 80 });
  await stored.until('stdout', 'API key for production');
  stored.type(`${key}\r`);
  const { code, stdout } = await stored.result;
  expect(code).toBe(0);
  expect(stdout).not.toContain('\x1b');
  for (const part of fragments(key)) expect(stdout).not.toContain(part);
  const counted = startProgram(`inventory count ${join(home.folder, 'counts.txt')}`, { home, env, terminal: 80 });
  await counted.until('stdout', 'help for more');
  counted.type('4 x3\n');
  await counted.until('stdout', '4: 3');
  counted.type('\x04');
  await counted.until('stdout', 'Write this change? (y/N) ');
  counted.type('y\n');
  const result = await counted.result;
  expect(result.code).toBe(0);
  expect(result.stdout).not.toContain('\x1b');
  const set = startProgram('inventory set 4 -5', { home, env, terminal: 80 });
  await set.until('stdout', '(y/N) ');
  set.type('\x03');
  expect((await set.result).code).toBe(130);
});
