import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram, serve, temporaryHome } from '../support/program.ts';

/** Names of Node's modules, apart from those that Node itself loads at its start. */
type Builtins = readonly string[];

const cache: Builtins = ['vm', 'os'];
/** Modules that Node loads because stdout is a pipe. */
const pipe: Builtins = ['diagnostics_channel', 'net', 'stream', 'stream/promises', 'string_decoder'];
/** Modules that Commander loads to start subcommands as separate programs, which petstock never does. */
const commander: Builtins = ['child_process', 'dgram'];
const settings: Builtins = [...cache, ...pipe, ...commander, 'timers', 'timers/promises', 'fs/promises', 'process'];
/** Modules of the state, which uses Node's SQLite if there is one. */
const state: Builtins = [...settings, 'crypto', 'sqlite', 'url', 'zlib'];
const completion: Builtins = ['os', 'path/posix', 'process', 'stream', 'string_decoder'];
const completionOfState: Builtins = [...completion, 'fs/promises', 'sqlite', 'timers/promises', 'url'];
/** Modules of undici's client, which on Node 20 sets a flag through `v8`. */
const request: Builtins = [...state, 'assert', 'http', 'v8'];

test.each([
  ['--version', []],
  ['inventory list --help', settings],
  ['config get low-stock', settings],
  ['__complete bash :inv', completion],
  ['__complete bash : undo', completionOfState],
  ['history list', state],
])('loads only the Node modules that petstock %s needs', async (command, budget) => {
  const { code, loaded } = await start(command);
  expect(code).toBe(0);
  expect(loaded.filter((name) => !budget.includes(name))).toEqual([]);
});

test.each(['inventory list', 'inventory set 4 3'])(
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
