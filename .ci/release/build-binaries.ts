import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'tsup';
import { description, version } from '../../package.json';
import { completionTable } from '../../test/support/reference/completion-table.ts';
import { manPage } from '../../test/support/reference/man-page.ts';
import { alias, licencesOf } from '../bundle.ts';
import { buildConstants, committedAt, fetchPackage, filled, homepage, newFolder, root, sumsOf } from '../commands.ts';
import { bunVersion, executableName, hostName, runtimeFor, targets } from './runtime.ts';
import { sbomOf } from './sbom.ts';

/**
 * `npm run build:binaries`: executables that need no Node, in `dist/binaries`, with `SHA256SUMS`, `LICENSES.txt`, the manual
 * and `petstock-linux-x64.cdx.json` and so on, which say what is inside.
 * `npm run build:binaries -- linux-x64` makes only that one, `--out <folder>` makes them elsewhere, `--archives` packs each into a
 * `.tar.gz` besides, and for all of them fills in a formula for Homebrew and a manifest for Scoop, if it is known where they can be had. The same commit gives the same bytes.
 */
const { values, positionals } = parseArgs({
  options: { out: { type: 'string', default: join(root, 'dist/binaries') }, archives: { type: 'boolean' } },
  allowPositionals: true,
});
const { out } = values;
const builtAt = committedAt();

process.chdir(root);
process.umask(0o022);
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const folder = newFolder();
const licences = await bundle();
const asset = join(out, 'LICENSES.txt');
// The package of bun brings no licences: what it is made of, by its repository, and their texts from SPDX.
writeFileSync(asset, `${licences}\n${'-'.repeat(80)}\n\n${filled('bun-notice.txt', { version: bunVersion })}`);
writeFileSync(join(out, 'petstock.1'), await manPage(builtAt));
for (const target of positionals.length === 0 ? targets : positionals) {
  const file = join(out, executableName(target));
  compile(target, file);
  process.stdout.write(`binaries: petstock-${target}, ${(statSync(file).size / 1e6).toFixed(0)} MB\n`);
  writeFileSync(join(out, `petstock-${target}.cdx.json`), sbomOf(licences, target));
  if (values.archives) pack(target);
}
const sums = sumsOf(out);
writeFileSync(join(out, 'SHA256SUMS'), sums);
if (values.archives && positionals.length === 0 && homepage !== undefined) {
  const words = {
    ...{ version, description, homepage, downloads: `${homepage}/releases/download/v${version}` },
    // `petstock-linux-x64.tar.gz` and its sum, and so on.
    ...Object.fromEntries([...sums.matchAll(/^(\S+) +(\S+)$/gm)].map(([, sum, name]) => [name, sum])),
  };
  for (const name of ['petstock.rb', 'petstock.json']) writeFileSync(join(out, name), filled(name, words));
}

/**
 * Bundles what each executable is compiled of: `petstock.mjs`, with the pieces that it loads when they are wanted. By bun alone
 * `inventory list` takes 8 % more CPU and `set` 12 % (November 2026).
 * @returns the licences of it
 */
async function bundle(): Promise<string> {
  await build({
    config: false,
    silent: true,
    metafile: true,
    entry: { petstock: 'bin/petstock.ts' },
    format: 'esm',
    target: 'es2023',
    outDir: folder,
    noExternal: [/^(?!pg-native$)/],
    removeNodeProtocol: false,
    outExtension: () => ({ js: '.mjs' }),
    define: {
      ...buildConstants(root),
      COMPLETION_TABLE: JSON.stringify(JSON.stringify(await completionTable())),
      // The path of a file on the machine that builds would make each build another one.
      ...{ __filename: '"/petstock"', __dirname: '"/"' },
    },
    esbuildOptions: (options) => {
      options.alias = alias;
    },
  });
  return licencesOf(Object.keys(JSON.parse(readFileSync(join(folder, 'metafile-esm.json'), 'utf8')).inputs));
}

/**
 * Without the flags an executable reads `.env` and `bunfig.toml` of whatever folder it is started in: an address and code of a
 * stranger. `tsconfig.json` and `package.json` are not read by default.
 *
 * A start loads the pieces that it uses and no other, and compiles to machine code what runs ten times as often as bun would wait
 * for: together 70 ms of CPU become 50 for `inventory list` (November 2026), and a list of 300,000 pets takes as long.
 *
 * Names stay, for the stacks that `--debug` shows: without them it would be 1 % smaller, and no faster.
 */
function compile(target: string, file: string): void {
  const args = [
    ...['build', './petstock.mjs', '--compile', '--bytecode', '--format=esm', '--splitting', '--external', 'pg-native'],
    ...['--minify-whitespace', '--minify-syntax', '--compile-jit-policy=10'],
    ...['dotenv', 'bunfig', 'tsconfig', 'package-json'].map((name) => `--no-compile-autoload-${name}`),
    `--target=bun-${target.replace('x64', 'x64-baseline')}`,
    `--compile-executable-path=${runtimeFor(target)}`,
    ...[`--asset=${asset}`, '--outfile', file],
  ];
  // bun itself has to run here, whatever the target.
  const env = { ...process.env, BUN_OPTIONS: '' };
  execFileSync(runtimeFor(hostName()), args, { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] });
  if (target !== 'darwin-x64') return;
  // bun 1.4.4 signs what it makes for macOS on arm64, which starts nothing else. In what it makes for x64, which needs no signature,
  // it leaves its own: that is wrong by then (3,325 pages of it), and macOS would end the program.
  const integrity = 'sha512-YkIVGFnpVHJMMwfy4bHo79Vy05ddVk/PZGSCmmiCT4zepx+FMP/JAt9hOoXuc31s2bbcOtnzznOGca5fRhgZOg==';
  const { unsign } = createRequire(import.meta.url)(fetchPackage('macho-unsign@2.0.6', integrity));
  writeFileSync(file, Buffer.from(unsign(readFileSync(file))));
}

/** `petstock-linux-x64.tar.gz`: the executable with manual and licences, less than half as large. Takes the tar of GNU. */
function pack(target: string): void {
  const args = [
    ...['--create', '--format=ustar', '--owner=0', '--group=0', '--numeric-owner', '--sort=name'],
    ...[`--mtime=${builtAt.toISOString()}`, '--mode=u+rw,go+r,go-w', '--use-compress-program=gzip -n'],
    `--transform=s/^petstock-${target}/petstock/`,
    ...['--file', `petstock-${target}.tar.gz`, executableName(target), 'petstock.1', 'LICENSES.txt'],
  ];
  execFileSync('tar', args, { cwd: out });
}
