import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { manPage } from '../reference/man-page.ts';
import { committedAt } from './commit.ts';
import { bundleOneFile } from './one-file.ts';
import { hostName, runtimeFor, type Target, targets } from './runtime.ts';
import { sbomOf } from './sbom.ts';

/**
 * `npm run build:binaries`: executables that need no Node, in `dist/binaries`, with `SHA256SUMS`, `LICENSES.txt`, the manual
 * and `petstock.cdx.json`, which says what is inside. `npm run build:binaries -- linux-x64` makes only that one, `--out <folder>`
 * makes them elsewhere. The same commit gives the same bytes.
 */
const root = fileURLToPath(new URL('../..', import.meta.url));
const { values, positionals } = parseArgs({ options: { out: { type: 'string' } }, allowPositionals: true });
const out = values.out ?? join(root, 'dist/binaries');

process.chdir(root);
await main(positionals.length === 0 ? targets : positionals.map(targetOf));

async function main(wanted: readonly Target[]): Promise<void> {
  const cache = join(root, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'petstock-binaries-'));
  try {
    const text = await bundleOneFile(folder);
    rmSync(out, { recursive: true, force: true });
    mkdirSync(out, { recursive: true });
    writeFileSync(join(out, 'LICENSES.txt'), text);
    const builtAt = committedAt(root);
    writeFileSync(join(out, 'petstock.cdx.json'), sbomOf({ root, packages: packagesIn(folder), builtAt }));
    writeFileSync(join(out, 'petstock.1'), await manPage(new Date(builtAt * 1000).toISOString().slice(0, 10)));
    // bun itself has to run here, whatever the target.
    const here = targets.find(({ name }) => name === hostName());
    if (here === undefined) throw new Error(`bun is not had for ${process.platform} on ${process.arch}`);
    for (const target of wanted) compile(target, runtimeFor(here, root), folder);
    writeFileSync(join(out, 'SHA256SUMS'), sums());
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Without the flags an executable reads `.env` and `bunfig.toml` of whatever folder it is started in: an address and code of a
 * stranger. `tsconfig.json` and `package.json` are not read by default.
 *
 * Names stay, for the stacks that `--debug` shows: without them it would be 1 % smaller, and no faster.
 */
function compile(target: Target, bun: string, folder: string): void {
  const started = performance.now();
  const file = join(out, fileName(target));
  const args = [
    ...['build', '--compile', '--bytecode', '--minify-whitespace', '--minify-syntax'],
    ...['--no-compile-autoload-dotenv', '--no-compile-autoload-bunfig'],
    ...['--no-compile-autoload-tsconfig', '--no-compile-autoload-package-json'],
    ...['--external', 'pg-native'],
    `--target=bun-${target.name.replace('x64', 'x64-baseline')}`,
    `--compile-executable-path=${runtimeFor(target, root)}`,
    ...['petstock.cjs', '--outfile', file],
  ];
  execFileSync(bun, args, {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, BUN_OPTIONS: '' },
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const megabytes = (statSync(file).size / 1e6).toFixed(0);
  process.stdout.write(`binaries: ${fileName(target)}, ${megabytes} MB, ${seconds} s\n`);
}

function fileName({ name }: Target): string {
  return `petstock-${name}${name.startsWith('windows') ? '.exe' : ''}`;
}

function targetOf(name: string): Target {
  const target = targets.find((each) => each.name === name);
  if (target === undefined) throw new Error(`no target ${name}: ${targets.map((each) => each.name).join(', ')}`);
  return target;
}

/** As `sha256sum --check` reads them. */
function sums(): string {
  const names = readdirSync(out).sort();
  const lines = names.map((name) => {
    const digest = createHash('sha256')
      .update(readFileSync(join(out, name)))
      .digest('hex');
    return `${digest}  ${name}\n`;
  });
  return lines.join('');
}

/** `undici@7.30.2`, by the first lines of the texts that `LICENSES.txt` is made of. */
function packagesIn(folder: string): ReadonlySet<string> {
  const texts = readFileSync(join(folder, 'LICENSES.txt'), 'utf8').split(`\n${'-'.repeat(80)}\n\n`);
  const names = texts.map((text) => text.slice(0, text.indexOf('\n')).replace(' ', '@'));
  return new Set(names.filter((name) => !name.startsWith('petstock@')));
}
