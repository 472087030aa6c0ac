import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'tsup';
import { description, version } from '../../package.json';
import { alias, licencesOf } from '../bundle.ts';
import { buildConstants, committedAt, fetchPackage, filled, homepage, newFolder, root, sumsOf } from '../commands.ts';
import { completionTable } from '../reference/completion-table.ts';
import { manPage } from '../reference/man-page.ts';
import { bunVersion, executableName, hostName, runtimeFor, targets } from './runtime.ts';
import { sbomOf } from './sbom.ts';

/**
 * `npm run build:binaries`: builds executables that need no Node into `dist/binaries`, with `SHA256SUMS`,
 * `LICENSES.txt`, the manual, and an SBOM for each, like `petstock-linux-x64.cdx.json`. `npm run build:binaries --
 * linux-x64` builds only that executable, and `--out <folder>` writes to another folder. `--archives` also packs each
 * executable into a `.tar.gz`, and, if all were built and their address is known, writes a Homebrew formula and a Scoop
 * manifest. The same commit gives the same bytes.
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
// bun's package contains no licences. The notice has the parts that bun's repository lists, with SPDX's licence texts.
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
    // The checksum of each file, by its name: `petstock-linux-x64.tar.gz` and so on.
    ...Object.fromEntries([...sums.matchAll(/^(\S+) +(\S+)$/gm)].map(([, sum, name]) => [name, sum])),
  };
  for (const name of ['petstock.rb', 'petstock.json']) writeFileSync(join(out, name), filled(name, words));
}

/**
 * Bundles the source of each executable, `petstock.mjs` and the chunks that it loads on demand. Bundled by bun alone,
 * `inventory list` takes 8 % more CPU and `set` 12 % more (November 2026).
 * @returns the licences of the bundled packages
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
      // A path on the build machine would make each machine's build different.
      ...{ __filename: '"/petstock"', __dirname: '"/"' },
    },
    esbuildOptions: (options) => {
      options.alias = alias;
    },
  });
  return licencesOf(Object.keys(JSON.parse(readFileSync(join(folder, 'metafile-esm.json'), 'utf8')).inputs));
}

/**
 * Compiles an executable. Without `--no-compile-autoload-dotenv` and `-bunfig`, it would read `.env` and `bunfig.toml`
 * of the folder in which it is started, and so use an address or code of a stranger. bun does not read `tsconfig.json`
 * and `package.json` by default. A start loads only the chunks that it uses, and code is compiled to machine code after
 * ten times as many runs as bun's default: together this reduces the CPU of `inventory list` from 70 to 50 ms (November
 * 2026), while a list of 300,000 pets takes as long as before. Names are kept for the stacks that `--debug` shows:
 * without them the executable would be 1 % smaller, and no faster.
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
  // The build runs bun on this machine, whatever the target is.
  const env = { ...process.env, BUN_OPTIONS: '' };
  execFileSync(runtimeFor(hostName()), args, { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] });
  if (target !== 'darwin-x64') return;
  // bun 1.4.4 signs executables for macOS on arm64, where unsigned ones don't start. Executables for x64 need no
  // signature, but keep bun's own signature. That is then wrong (in 3,325 pages), and macOS would kill the program.
  const integrity = 'sha512-YkIVGFnpVHJMMwfy4bHo79Vy05ddVk/PZGSCmmiCT4zepx+FMP/JAt9hOoXuc31s2bbcOtnzznOGca5fRhgZOg==';
  const { unsign } = createRequire(import.meta.url)(fetchPackage('macho-unsign@2.0.6', integrity));
  writeFileSync(file, Buffer.from(unsign(readFileSync(file))));
}

/**
 * Writes `petstock-linux-x64.tar.gz` with the executable, the manual and the licences. It is less than half as large as
 * the executable. Needs GNU tar.
 */
function pack(target: string): void {
  const args = [
    ...['--create', '--format=ustar', '--owner=0', '--group=0', '--numeric-owner', '--sort=name'],
    ...[`--mtime=${builtAt.toISOString()}`, '--mode=u+rw,go+r,go-w', '--use-compress-program=gzip -n'],
    `--transform=s/^petstock-${target}/petstock/`,
    ...['--file', `petstock-${target}.tar.gz`, executableName(target), 'petstock.1', 'LICENSES.txt'],
  ];
  execFileSync('tar', args, { cwd: out });
}
