import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram, serve, temporaryHome } from '../support/program.ts';

/** Node modules that are not loaded from the beginning. */
type Builtins = readonly string[];

const cache: Builtins = ['vm', 'os'];
/** Node loads these for a standard output that is a pipe, as here. */
const pipe: Builtins = ['diagnostics_channel', 'net', 'stream', 'stream/promises', 'string_decoder'];
/** Commander could start subcommands that are separate programs. */
const commander: Builtins = ['child_process', 'dgram'];
const settings: Builtins = [...cache, ...pipe, ...commander, 'timers', 'timers/promises', 'fs/promises', 'process'];
/** The state, whose engine is Node's own if it has one. */
const state: Builtins = [...settings, 'crypto', 'sqlite', 'url', 'zlib'];
const completion: Builtins = ['os', 'path/posix', 'process', 'stream', 'string_decoder'];
const completionOfState: Builtins = [...completion, 'fs/promises', 'sqlite', 'url'];
/** undici's client, and on Node 20 `v8`, which has the flag for its parser. */
const request: Builtins = [...state, 'assert', 'http', 'v8'];

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
])('loads only the Node modules that petstock %s needs', async (command, budget) => {
  const { code, loaded } = await start(command);
  expect(code).toBe(command.endsWith('lst') ? 2 : 0);
  expect(loaded.filter((name) => !budget.includes(name))).toEqual([]);
});

test.each(['inventory list', 'inventory get 4', 'inventory set 4 3', 'inventory export', 'orders list'])(
  'loads only the Node modules that a request of petstock %s needs',
  async (command) => {
    const { env } = await serve();
    const { code, loaded } = await start(command, env);
    expect(code).toBe(0);
    expect(loaded).toContain('http');
    expect(loaded.filter((name) => !request.includes(name))).toEqual([]);
  },
);

/** Runs the program with its arguments, and records at its exit which modules were loaded. */
const recorder = `
  const { writeFileSync } = require('node:fs');
  const atFirst = process.moduleLoadList.length;
  process.argv.splice(1, 1);
  process.once('exit', () => {
    writeFileSync(process.env.LOADED, JSON.stringify(process.moduleLoadList.slice(atFirst)));
  });
  require(process.argv[1]);`;

async function start(command: string, env = {}) {
  const home = temporaryHome();
  const LOADED = join(home.folder, 'loaded.json');
  const through = [process.execPath, '-e', recorder];
  const { code } = await runProgram(command, { home, through, env: { ...env, LOADED } });
  const natives: Builtins = JSON.parse(readFileSync(LOADED, 'utf8'));
  const names = natives.map((native) => native.replace('NativeModule ', ''));
  const isPublic = (name: string) => (builtinModules.includes(name) || name === 'sqlite') && !name.startsWith('_');
  return { code, loaded: names.filter(isPublic).sort() };
}
