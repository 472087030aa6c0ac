import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runProgram, serve, temporaryHome } from '../support/program.ts';

/**
 * What a start may load, command by command: files of ours, packages, and modules of Node that are not there from the
 * beginning. A folder stands for the files in it. What is missing here and loaded all the same made every start slower.
 */
const allowed = groups();

describe('a start loads no more than it needs', () => {
  test.each([
    ['--version', allowed.version],
    ['--help', allowed.help],
    ['inventory --help', allowed.help],
    ['help output', [...allowed.help, 'src/commands/help/']],
    ['inventory list --help', [...allowed.help, ...allowed.list]],
    ['inventory lst', [...allowed.help, ...allowed.failed]],
    ['config path', [...allowed.opened, 'src/commands/config/path.ts']],
    ['config get low-stock', [...allowed.opened, 'src/commands/config/get.ts', 'src/commands/config/entries.ts']],
    ['limits', [...allowed.opened, ...allowed.limits, 'src/commands/limits.ts']],
    ['status --offline', [...allowed.opened, ...allowed.limits, 'src/commands/status.ts', 'node:crypto']],
    ['history list', [...allowed.opened, ...allowed.history]],
  ])('petstock %s', async (command, modules) => {
    const { code, loaded } = await start(command);
    expect(code).toBe(command.endsWith('lst') ? 2 : 0);
    expect(loaded.filter((module) => !isAllowed(module, modules))).toEqual([]);
  });

  test.each([
    ['inventory list', [...allowed.connected, ...allowed.list]],
    ['inventory get 4', [...allowed.connected, ...allowed.stock, 'src/commands/inventory/get.ts']],
    ['inventory set 4 3', [...allowed.connected, ...allowed.stock, ...allowed.write, 'src/commands/inventory/set.ts']],
    [
      'inventory export',
      [...allowed.connected, ...allowed.stock, ...allowed.change, 'src/commands/inventory/export.ts'],
    ],
    ['orders list', [...allowed.connected, 'src/commands/orders/', 'src/commands/payload.ts']],
  ])('petstock %s', async (command, modules) => {
    const { env } = await serve();
    const { code, loaded } = await start(command, env);
    expect(code).toBe(0);
    expect(loaded).toContain('undici');
    expect(loaded.filter((module) => !isAllowed(module, modules))).toEqual([]);
  });
});

function groups() {
  const version = ['bin/petstock.ts', 'src/version.ts', 'package.json'];
  const streams = [
    'node:diagnostics_channel',
    'node:net',
    'node:stream',
    'node:stream/promises',
    'node:string_decoder',
  ];
  const help = [
    ...version,
    ...streams,
    'node:os',
    'node:process',
    'node:timers/promises',
    'bin/run.ts',
    'commander',
    'src/api/undici.ts',
    'src/commands/command.ts',
    'src/commands/outline.ts',
    'src/errors.ts',
    'src/exit-codes.ts',
    'src/invocation/run.ts',
    'src/main.ts',
    'src/program.ts',
    'src/settings/folders.ts',
    'src/settings/variables.ts',
    'src/system-clock.ts',
  ];
  const parsing = ['src/commands/values.ts', 'src/inventory/values.ts', 'src/inventory/parsed.ts'];
  const stock = [
    ...parsing,
    'src/commands/inventory/stock.ts',
    'src/inventory/filter.ts',
    'src/inventory/item-columns.ts',
    'src/inventory/items.ts',
    'src/output/',
    'src/settings/',
  ];
  const opened = [
    ...help,
    'src/inventory/items.ts',
    'src/inventory/parsed.ts',
    'src/invocation/confirm.ts',
    'src/invocation/countdown.ts',
    'src/invocation/debug-log.ts',
    'src/invocation/globals.ts',
    'src/invocation/messages.ts',
    'src/invocation/open.ts',
    'src/invocation/print.ts',
    'src/output/',
    'src/settings/',
  ];
  const limits = ['src/governor/', 'node:zlib'];
  return {
    version,
    help,
    failed: ['src/report.ts', 'src/output/', 'src/settings/'],
    opened,
    limits,
    stock,
    list: [...stock, 'src/commands/inventory/list.ts', 'src/inventory/sort.ts', 'src/inventory/summary.ts'],
    history: [
      ...parsing,
      'src/commands/history/list.ts',
      'src/commands/history/moment.ts',
      'src/history/',
      'src/inventory/grouped.ts',
      'src/output/change-rows.ts',
      'src/output/history-view.ts',
    ],
    write: [
      'src/commands/inventory/in-turn.ts',
      'src/commands/inventory/write.ts',
      'src/history/',
      'src/history/claims/',
      'src/invocation/claims.ts',
    ],
    change: [
      'node:fs/promises',
      'src/commands/inventory/csv-name.ts',
      'src/files/change-file-text.ts',
      'src/files/write-atomically.ts',
    ],
    connected: [
      ...opened,
      ...limits,
      'node:assert',
      'node:crypto',
      'node:v8',
      'lossless-json',
      'undici',
      'src/api/',
      'src/api/scan/',
      'src/inventory/item-columns.ts',
      'src/inventory/grouped.ts',
      'src/invocation/connect.ts',
    ],
  };
}

/** In a folder that others may load, but for commands of their own: allowed by their names alone. */
const special = /^src\/output\/(change-rows|counts-text|estimate-text|history-view|preview|report-view)\.ts$/;

function isAllowed(module: string, modules: readonly string[]): boolean {
  // The outlines of all commands make the help of the program.
  if (/^src\/commands\/([a-z]+\/)*index\.ts$/.test(module)) return modules.includes('commander');
  return modules.includes(module) || (!special.test(module) && modules.includes(`${dirname(module)}/`));
}

/** Runs in place of the program, with its arguments, and tells in the end what it has loaded. */
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

/** @returns our files as `src/main.ts`, packages as `undici`, modules of Node as `node:net`, in order */
async function start(command: string, env = {}): Promise<{ code: number | null; loaded: readonly string[] }> {
  const home = temporaryHome();
  const LOADED = join(home.folder, 'loaded.json');
  const through = [process.execPath, '-e', recorder];
  const { code } = await runProgram(command, { home, through, env: { ...env, LOADED } });
  const { files, natives } = JSON.parse(readFileSync(LOADED, 'utf8')) as Record<'files' | 'natives', string[]>;
  const loaded = new Set([...files.flatMap(modulesOf), ...natives.flatMap(publicModule)]);
  return { code, loaded: [...loaded].sort() };
}

/** What was bundled into a file: its last line tells. */
function modulesOf(file: string): string[] {
  const [, names] = /^\/\/ Of: (.*)$/m.exec(readFileSync(file, 'utf8').slice(-20_000)) ?? [];
  if (names !== undefined) return names.split(' ').filter((name) => name !== '' && !name.startsWith('unused:'));
  // A package that is not bundled.
  return [/.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? file];
}

function publicModule(native: string): string[] {
  const name = native.replace('NativeModule ', '');
  return builtinModules.includes(name) && !name.startsWith('_') ? [`node:${name}`] : [];
}
