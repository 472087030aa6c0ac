import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { manPage } from '../reference/man-page.ts';
import { bunNotice } from './bun-notice.ts';
import { committedAt, sumsOf } from './commands.ts';
import { firstStart } from './first-start.ts';
import { bundleForBun } from './one-file.ts';
import { hostName, runtimeFor, type Target, targets } from './runtime.ts';
import { packagesOf, sbomOf } from './sbom.ts';
import { signed, wrongPages } from './sign-macho.ts';

/**
 * `npm run build:binaries`: executables that need no Node, in `dist/binaries`, with `SHA256SUMS`, `LICENSES.txt`, the manual
 * and `petstock-linux-x64.cdx.json` and so on, which say what is inside. Each is started if something here can, those for macOS
 * are signed. `npm run build:binaries -- linux-x64` makes only that one, `--out <folder>` makes them elsewhere, `--archives` packs
 * each into a `.tar.gz` besides. The same commit gives the same bytes.
 */
const root = fileURLToPath(new URL('../..', import.meta.url));
const { values, positionals } = parseArgs({
  options: { out: { type: 'string' }, archives: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const out = values.out ?? join(root, 'dist/binaries');

process.chdir(root);
process.umask(0o022);
await main(positionals.length === 0 ? targets : positionals.map(targetOf));

async function main(wanted: readonly Target[]): Promise<void> {
  const cache = join(root, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'petstock-binaries-'));
  try {
    await bundleForBun(folder, root);
    rmSync(out, { recursive: true, force: true });
    mkdirSync(out, { recursive: true });
    const texts = readFileSync(join(folder, 'LICENSES.txt'), 'utf8');
    const packages = packagesOf(texts);
    for (const place of [folder, out]) {
      writeFileSync(join(place, 'LICENSES.txt'), `${texts}\n${'-'.repeat(80)}\n\n${bunNotice(root)}`);
    }
    const builtAt = committedAt(root);
    writeFileSync(join(out, 'petstock.1'), await manPage(new Date(builtAt * 1000).toISOString().slice(0, 10)));
    // bun itself has to run here, whatever the target.
    const here = targets.find(({ name }) => name === hostName());
    if (here === undefined) throw new Error(`bun is not had for ${process.platform} on ${process.arch}`);
    for (const target of wanted) {
      compile(target, runtimeFor(here, root), folder);
      const sbom = sbomOf({ root, packages, runtime: target.package, builtAt });
      writeFileSync(join(out, `petstock-${target.name}.cdx.json`), sbom);
      if (values.archives) pack(target, folder, builtAt);
    }
    writeFileSync(join(out, 'SHA256SUMS'), sumsOf(out));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
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
function compile(target: Target, bun: string, folder: string): void {
  const started = performance.now();
  const file = join(out, fileName(target));
  const args = [
    ...['build', '--compile', '--bytecode', '--format=esm', '--splitting', '--minify-whitespace', '--minify-syntax'],
    ...['--compile-jit-policy=10', '--asset=LICENSES.txt'],
    ...['--no-compile-autoload-dotenv', '--no-compile-autoload-bunfig'],
    ...['--no-compile-autoload-tsconfig', '--no-compile-autoload-package-json'],
    ...['--external', 'pg-native'],
    `--target=bun-${target.name.replace('x64', 'x64-baseline')}`,
    `--compile-executable-path=${runtimeFor(target, root)}`,
    ...['./petstock.mjs', '--outfile', file],
  ];
  execFileSync(bun, args, {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, BUN_OPTIONS: '' },
  });
  if (target.name.startsWith('darwin')) sign(file);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const megabytes = (statSync(file).size / 1e6).toFixed(0);
  process.stdout.write(`binaries: ${fileName(target)}, ${megabytes} MB, ${seconds} s; ${firstStart(target, file)}\n`);
}

/** @throws Error if a page is not as it is signed */
function sign(file: string): void {
  writeFileSync(file, signed(readFileSync(file)));
  const wrong = wrongPages(readFileSync(file));
  if (wrong > 0) throw new Error(`${wrong} pages of ${file} are not as they are signed`);
}

/** `petstock-linux-x64.tar.gz`: the executable with manual and licences, less than half as large. Takes the tar of GNU. */
function pack(target: Target, folder: string, builtAt: number): void {
  const tree = join(folder, target.name);
  mkdirSync(tree);
  const program = target.name.startsWith('windows') ? 'petstock.exe' : 'petstock';
  copyFileSync(join(out, fileName(target)), join(tree, program));
  for (const name of ['petstock.1', 'LICENSES.txt']) copyFileSync(join(out, name), join(tree, name));
  const owners = ['--owner=0', '--group=0', '--numeric-owner', '--sort=name', `--mtime=@${builtAt}`];
  const archive = join(out, `petstock-${target.name}.tar.gz`);
  const args = ['--create', '--format=ustar', ...owners, '--mode=u+rw,go+r,go-w', '--use-compress-program=gzip -n'];
  execFileSync('tar', [...args, '--file', archive, '-C', tree, program, 'petstock.1', 'LICENSES.txt']);
  rmSync(tree, { recursive: true });
}

function fileName({ name }: Target): string {
  return `petstock-${name}${name.startsWith('windows') ? '.exe' : ''}`;
}

function targetOf(name: string): Target {
  const target = targets.find((each) => each.name === name);
  if (target === undefined) throw new Error(`no target ${name}: ${targets.map((each) => each.name).join(', ')}`);
  return target;
}
