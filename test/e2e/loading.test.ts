import { readFileSync, statSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram, serve, temporaryHome } from '../support/program.ts';

/** What a kind of command may load: packages, modules of Node that are not there from the beginning, and kB of the bundle. */
interface Budget {
  readonly packages: readonly string[];
  readonly builtins: readonly string[];
  readonly kilobytes: number;
}

const streams = ['diagnostics_channel', 'net', 'stream', 'stream/promises', 'string_decoder'];
const version: Budget = { packages: [], builtins: [], kilobytes: 10 };
/** Text of the build. */
const help: Budget = { ...version, kilobytes: 110 };
/** The table of all commands. */
const completion: Budget = { ...version, kilobytes: 80 };
const settings: Budget = {
  packages: ['commander'],
  builtins: [...streams, 'fs/promises', 'os', 'process', 'timers', 'timers/promises'],
  kilobytes: 380,
};
/** The state, whose engine is Node's own where it has one. */
const state: Budget = {
  packages: [...settings.packages, '@photostructure/sqlite'],
  builtins: [...settings.builtins, 'crypto', 'module', 'sqlite', 'url', 'zlib'],
  kilobytes: 640,
};
const completionOfState: Budget = {
  packages: ['@photostructure/sqlite', 'node-gyp-build'],
  builtins: ['fs/promises', 'module', 'os', 'process', 'sqlite', 'stream', 'string_decoder', 'url'],
  kilobytes: 190,
};
const request: Budget = {
  packages: [...state.packages, 'undici', 'lossless-json'],
  builtins: [...state.builtins, 'assert', 'v8'],
  kilobytes: 1050,
};

test.each([
  ['--version', version],
  ['--help', help],
  ['inventory --help', help],
  ['help output', help],
  ['help inventory list', help],
  ['inventory list --help', help],
  ['inventory lst', settings],
  ['config path', settings],
  ['config get low-stock', settings],
  ['__complete bash :inv', completion],
  ['__complete bash : inventory list --status', completion],
  ['__complete bash : undo', completionOfState],
  ['limits', state],
  ['status --offline', state],
  ['history list', state],
])('petstock %s loads no more than it needs', async (command, budget) => {
  const { code, ...loaded } = await start(command);
  expect(code).toBe(command.endsWith('lst') ? 2 : 0);
  expectWithin(loaded, budget);
});

test.each(['inventory list', 'inventory get 4', 'inventory set 4 3', 'inventory export', 'orders list'])(
  'petstock %s loads what sends a request, and no more',
  async (command) => {
    const { env } = await serve();
    const { code, ...loaded } = await start(command, env);
    expect(code).toBe(0);
    expect(loaded.packages).toContain('undici');
    expectWithin(loaded, request);
  },
);

test('cli-table3 draws what fits a screen, and is loaded for nothing else', async () => {
  const { env } = await serve();
  expect((await start('inventory list -o table', env)).packages).toContain('cli-table3');
  expect((await start('inventory list -o tsv', env)).packages).not.toContain('cli-table3');
});

function expectWithin(loaded: Budget, budget: Budget): void {
  expect({
    packages: loaded.packages.filter((name) => !budget.packages.includes(name)),
    builtins: loaded.builtins.filter((name) => !budget.builtins.includes(name)),
  }).toEqual({ packages: [], builtins: [] });
  expect(loaded.kilobytes).toBeLessThanOrEqual(budget.kilobytes);
}

/** Runs in place of the program, with its arguments, and notes in the end what it has loaded. */
const recorder = `
  const { writeFileSync } = require('node:fs');
  const atFirst = process.moduleLoadList.length;
  process.argv.splice(1, 1);
  process.once('exit', () => {
    const natives = process.moduleLoadList.slice(atFirst);
    const files = Object.keys(require.cache);
    writeFileSync(process.env.LOADED, JSON.stringify({ files, natives }));
  });
  require(process.argv[1]);`;

async function start(command: string, env = {}): Promise<Budget & { code: number | null }> {
  const home = temporaryHome();
  const LOADED = join(home.folder, 'loaded.json');
  const through = [process.execPath, '-e', recorder];
  const { code } = await runProgram(command, { home, through, env: { ...env, LOADED } });
  const { files, natives } = JSON.parse(readFileSync(LOADED, 'utf8')) as Record<'files' | 'natives', string[]>;
  const isOurs = (file: string) => packageOf(file) === undefined && !isSqlite(file);
  const bytes = files.filter(isOurs).map((file) => statSync(file).size);
  return {
    code,
    packages: [...new Set(files.flatMap(packagesIn))].sort(),
    builtins: natives.flatMap(builtin).sort(),
    kilobytes: Math.round(bytes.reduce((sum, size) => sum + size, 0) / 1000),
  };
}

/** The packages of which there is something in a file: the last line of a bundled one names them. */
function packagesIn(file: string): string[] {
  if (isSqlite(file)) return ['@photostructure/sqlite'];
  const [, names] = /^\/\/ Of: (.*)$/m.exec(readFileSync(file, 'utf8').slice(-20_000)) ?? [];
  if (names === undefined) return [packageOf(file) ?? file];
  return names
    .split(' ')
    .filter((name) => name !== '' && !/^(unused:|built-help:|src\/|bin\/|package\.json$)/.test(name));
}

/** The package that has a bundle of its own, and its native binary. */
function isSqlite(file: string): boolean {
  return /[\\/](sqlite[\\/]index\.cjs|prebuilds[\\/].*\.node)$/.test(file);
}

function packageOf(file: string): string | undefined {
  return /.*node_modules\/(?!\.cache\/)((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1];
}

function builtin(native: string): string[] {
  const name = native.replace('NativeModule ', '');
  return (builtinModules.includes(name) || name === 'sqlite') && !name.startsWith('_') ? [name] : [];
}
