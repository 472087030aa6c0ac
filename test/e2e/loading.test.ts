import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram, serve, temporaryHome } from '../support/program.ts';

/** Modules of Node that are not there from the beginning. */
type Builtins = readonly string[];

const cache: Builtins = ['vm', 'os', 'stream', 'stream/promises', 'string_decoder'];
const timers: Builtins = ['timers', 'timers/promises'];
const settings: Builtins = [...cache, ...timers, 'diagnostics_channel', 'fs/promises', 'net', 'process'];
/** The state, whose engine is Node's own if it has one. */
const state: Builtins = [...settings, 'sqlite', 'url', 'zlib'];
const completion: Builtins = ['os', 'path/posix', 'process', 'stream', 'string_decoder'];
const completionOfState: Builtins = [...completion, 'fs/promises', 'sqlite', 'url'];
/** Node 20 takes the flag for its parser from `v8`. */
const request: Builtins = [...state, 'v8'];

test.each([
  ['--version', []],
  ['--help', settings],
  ['inventory list --help', settings],
  ['inventory lst', settings],
  ['config path', settings],
  ['config get low-stock', settings],
  ['__complete bash :inv', completion],
  ['__complete bash : undo', completionOfState],
  ['limits', state],
  ['status --offline', state],
  ['history list', state],
])('petstock %s loads no more of Node than it needs', async (command, budget) => {
  const { code, loaded } = await start(command);
  expect(code).toBe(command.endsWith('lst') ? 2 : 0);
  expect(loaded.filter((name) => !budget.includes(name))).toEqual([]);
});

test.each([
  ['inventory list', request],
  ['inventory get 4', request],
  ['inventory set 4 3', request],
  // It keeps a hash of the file that it writes.
  ['inventory export', [...request, 'crypto']],
  ['orders list', request],
])('petstock %s loads what sends a request, and no more', async (command, budget) => {
  const { env } = await serve();
  const { code, loaded } = await start(command, env);
  expect(code).toBe(0);
  expect(loaded).toContain('net');
  expect(loaded.filter((name) => !budget.includes(name))).toEqual([]);
});

test.each(['--help', 'config list'])('petstock %s, written to a file, loads no streams', async (command) => {
  const { code, loaded } = await start(command, {}, ['bash', '-c', 'exec "$@" >"$LOADED.out" 2>&1', 'bash']);
  expect({ code, streams: loaded.filter((name) => ['stream', 'net', 'tty'].includes(name)) }).toEqual({
    code: 0,
    streams: [],
  });
});

/** Runs in place of the program, with its arguments, and notes in the end what it has loaded. */
const recorder = `
  const { writeFileSync } = require('node:fs');
  const atFirst = process.moduleLoadList.length;
  process.argv.splice(1, 1);
  process.once('exit', () => {
    writeFileSync(process.env.LOADED, JSON.stringify(process.moduleLoadList.slice(atFirst)));
  });
  require(process.argv[1]);`;

async function start(command: string, env = {}, shell: readonly string[] = []) {
  const home = temporaryHome();
  const LOADED = join(home.folder, 'loaded.json');
  const through = [...shell, process.execPath, '-e', recorder];
  const { code } = await runProgram(command, { home, through, env: { ...env, LOADED } });
  const natives: Builtins = JSON.parse(readFileSync(LOADED, 'utf8'));
  const names = natives.map((native) => native.replace('NativeModule ', ''));
  const isPublic = (name: string) => (builtinModules.includes(name) || name === 'sqlite') && !name.startsWith('_');
  return { code, loaded: names.filter(isPublic).sort() };
}
