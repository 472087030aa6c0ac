import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'tsup';
import { licences, unused } from '../bundle.ts';
import { buildConstants, committedAt, fetchPackage, newFolder, root, sumsOf } from '../commands.ts';
import { completionTable } from '../reference/completion-table.ts';
import { manPage } from '../reference/man-page.ts';
import { firstStart } from './first-start.ts';
import { bunNotice, hostName, runtimeFor, targets } from './runtime.ts';
import { sbomOf } from './sbom.ts';

/**
 * `npm run build:binaries`: executables that need no Node, in `dist/binaries`, with `SHA256SUMS`, `LICENSES.txt`, the manual
 * and `petstock-linux-x64.cdx.json` and so on, which say what is inside. Each is started if something here can.
 * `npm run build:binaries -- linux-x64` makes only that one, `--out <folder>` makes them elsewhere, `--archives` packs
 * each into a `.tar.gz` besides. The same commit gives the same bytes.
 */
const { values, positionals } = parseArgs({
  options: { out: { type: 'string', default: join(root, 'dist/binaries') }, archives: { type: 'boolean' } },
  allowPositionals: true,
});
const { out } = values;
const builtAt = committedAt();

process.chdir(root);
process.umask(0o022);
const folder = newFolder();
await bundle();
const texts = readFileSync(join(folder, 'LICENSES.txt'), 'utf8');
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
for (const place of [folder, out])
  writeFileSync(join(place, 'LICENSES.txt'), `${texts}\n${'-'.repeat(80)}\n\n${bunNotice()}`);
writeFileSync(join(out, 'petstock.1'), await manPage(builtAt));
for (const target of positionals.length === 0 ? targets : positionals) {
  const file = join(out, `petstock-${target}${target.startsWith('windows') ? '.exe' : ''}`);
  compile(target, file);
  const megabytes = (statSync(file).size / 1e6).toFixed(0);
  process.stdout.write(`binaries: petstock-${target}, ${megabytes} MB; ${firstStart(target, file)}\n`);
  writeFileSync(join(out, `petstock-${target}.cdx.json`), sbomOf(texts, target));
  if (values.archives) pack(target, file);
}
writeFileSync(join(out, 'SHA256SUMS'), sumsOf(out));

/** Makes what an executable is compiled of: `petstock.mjs`, with the pieces that it loads when they are wanted, and `LICENSES.txt`. */
async function bundle(): Promise<void> {
  const table = JSON.stringify(await completionTable());
  // The path of a file on the machine that builds would make each build another one.
  const nowhere = { __filename: '"/petstock"', __dirname: '"/"' };
  await build({
    config: false,
    silent: true,
    entry: { petstock: 'bin/petstock.ts' },
    format: 'esm',
    platform: 'node',
    target: 'es2023',
    splitting: true,
    outDir: folder,
    noExternal: [/^(?!pg-native$)/],
    removeNodeProtocol: false,
    outExtension: () => ({ js: '.mjs' }),
    define: { COMPLETION_TABLE: JSON.stringify(table), ...nowhere, ...buildConstants(root) },
    esbuildPlugins: [unused, licences()],
  });
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
    ...['build', '--compile', '--bytecode', '--format=esm', '--splitting', '--minify-whitespace', '--minify-syntax'],
    ...['--compile-jit-policy=10', '--asset=LICENSES.txt', '--external', 'pg-native'],
    ...['dotenv', 'bunfig', 'tsconfig', 'package-json'].map((name) => `--no-compile-autoload-${name}`),
    `--target=bun-${target.replace('x64', 'x64-baseline')}`,
    `--compile-executable-path=${runtimeFor(target)}`,
    ...['./petstock.mjs', '--outfile', file],
  ];
  // bun itself has to run here, whatever the target.
  const env = { ...process.env, BUN_OPTIONS: '' };
  execFileSync(runtimeFor(hostName()), args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'], env });
  if (target === 'darwin-x64') removeSignature(file);
}

/**
 * bun 1.4.4 signs what it makes for macOS on arm64, which starts nothing else. In what it makes for x64, which needs no signature,
 * it leaves its own: that is wrong by then (3,325 pages of it), and macOS would end the program.
 */
function removeSignature(file: string): void {
  const integrity = 'sha512-YkIVGFnpVHJMMwfy4bHo79Vy05ddVk/PZGSCmmiCT4zepx+FMP/JAt9hOoXuc31s2bbcOtnzznOGca5fRhgZOg==';
  const { unsign } = createRequire(import.meta.url)(fetchPackage('macho-unsign@2.0.6', integrity));
  writeFileSync(file, Buffer.from(unsign(readFileSync(file))));
}

/** `petstock-linux-x64.tar.gz`: the executable with manual and licences, less than half as large. Takes the tar of GNU. */
function pack(target: string, file: string): void {
  const args = [
    ...['--create', '--format=ustar', '--owner=0', '--group=0', '--numeric-owner', '--sort=name'],
    ...[`--mtime=${builtAt.toISOString()}`, '--mode=u+rw,go+r,go-w', '--use-compress-program=gzip -n'],
    `--transform=s/^petstock-${target}/petstock/`,
    ...['--file', join(out, `petstock-${target}.tar.gz`), '-C', out, basename(file), 'petstock.1', 'LICENSES.txt'],
  ];
  execFileSync('tar', args);
}
