import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/**
 * `npm run package`: packs what would be published, installs the tarball into an empty folder as a user would, and tries
 * the program, the library and its types there. Takes `dist` as it is.
 */
const root = fileURLToPath(new URL('../..', import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const folder = mkdtempSync(join(tmpdir(), 'petstock-packed-'));
const env = bareEnvironment();

try {
  await step('packs nothing but the bundle and the documents', packsRightFiles);
  await step('installs', installs);
  await step('installs its manual where it is global', installsManual);
  await step('starts with npx, and lists the sandbox', starts);
  await step('is a library', isLibrary);
  await step('exports every type of its signatures', exportsTypes);
  await step('has types, with types of Node', () => hasTypes({ module: 'NodeNext', lib: ['ES2023'], types: ['node'] }));
  await step('has types, with types of the DOM', () =>
    hasTypes({ module: 'ESNext', moduleResolution: 'Bundler', lib: ['ES2023', 'DOM'], types: [] }),
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function packsRightFiles() {
  const { stdout } = await run('npm', ['run', '--silent', 'build:package'], root);
  const [{ files, filename, size }] = JSON.parse(stdout);
  const names = files.map(({ path }) => path);
  const wanted =
    /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|docs\/[\w./-]+\.md|docs\/hosting\/[\w.]+|docs\/(?:packaging|pictures)\/[\w.]+|dist\/(LICENSES\.txt|man\/petstock\.1|index\.d\.ts|[\w-]+\.c?js|sqlite\/index\.cjs|prebuilds\/[\w-]+\/[\w@+.]+\.node))$/;
  assert.deepEqual(
    names.filter((name) => !wanted.test(name)),
    [],
  );
  for (const name of [
    'README.md',
    'LICENSE',
    'dist/petstock.cjs',
    'dist/man/petstock.1',
    'dist/index.js',
    'dist/index.d.ts',
  ]) {
    assert.ok(names.includes(name), `${name} is missing in the package`);
  }
  assert.ok(size < 12_000_000, `the package has grown to ${size} bytes`);
  const modes = Object.fromEntries(files.map(({ path, mode }) => [path, mode & 0o111]));
  assert.notEqual(modes['dist/petstock.cjs'], 0, 'dist/petstock.cjs is not executable');
  return `${names.length} files, ${Math.round(size / 1000)} kB: ${filename}`;
}

async function installs() {
  write('package.json', { name: 'consumer', private: true, type: 'module' });
  const tarball = join(root, 'dist/packages', `petstock-${manifest.version}.tgz`);
  const { stderr } = await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', tarball]);
  // Newer releases of npm run no script of a package that was not asked for, and say so.
  assert.doesNotMatch(stderr, /install-scripts|allow-?scripts/i);
  const { stdout } = await run('npm', ['ls', '--all', '--parseable']);
  const packages = stdout.trim().split('\n').slice(1);
  assert.equal(packages.length, 1, `it has brought along others: ${packages.join(', ')}`);
  return 'no other package';
}

async function installsManual() {
  const prefix = join(folder, 'global');
  const tarball = join(root, 'dist/packages', `petstock-${manifest.version}.tgz`);
  await run('npm', ['install', '--global', '--prefix', prefix, '--prefer-offline', '--no-audit', '--no-fund', tarball]);
  const manual = readFileSync(join(prefix, 'share', 'man', 'man1', 'petstock.1'), 'utf8');
  assert.match(manual, /^\.TH PETSTOCK 1 \d{4}-\d\d-\d\d/);
}

async function starts() {
  const version = await run('npx', ['petstock', '--version']);
  assert.equal(version.stdout.replace(/\+[\da-f]{7,}\n$/, '\n'), `${manifest.version}\n`);
  const list = await run('npx', ['petstock', '--env', 'sandbox', 'inventory', 'list', '--json']);
  assert.equal(JSON.parse(list.stdout).length, 24);
  assert.match(list.stderr, /^Rate limit: 999 of 1000 left/m);
}

async function isLibrary() {
  writeFileSync(
    join(folder, 'library.js'),
    `import { createPetstoreClient, NotFoundError, startSandbox, UsageError } from 'petstock';
    const client = createPetstoreClient({ baseUrl: process.argv[2], key: process.argv[3] });
    const items = [];
    for await (const batch of client.listInventory()) items.push(...batch);
    const set = await client.updateInventory(9007199254740993n, 12);
    const missing = await client.updateInventory(4242n, 1).catch((error) => error instanceof NotFoundError);
    const inexact = await client.updateInventory(2 ** 53, 1).catch((error) => error instanceof UsageError);
    await client.close();
    const sandbox = await startSandbox({ pets: 6 });
    const applying = createPetstoreClient({ baseUrl: sandbox.url, key: sandbox.key, stateFolder: './library-state' });
    const { run, counts } = await applying.apply([{ petId: 1, delta: 3 }]);
    const undone = await applying.undo(run);
    await applying.close();
    await sandbox.close();
    console.log(items.length, set.petId, set.quantity, missing, inexact, counts.applied, undone.counts.applied);`,
  );
  const args = 'petstock sandbox serve --port 0 --file :memory: --json'.split(' ');
  const [, ...rest] = args;
  const served = spawn(process.execPath, [join(folder, 'node_modules/petstock/dist/petstock.cjs'), ...rest], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  try {
    const [line] = await Promise.race([once(createInterface(served.stdout), 'line'), once(served, 'exit')]);
    const { url, key } = JSON.parse(line);
    const { stdout } = await run(process.execPath, ['library.js', url, key]);
    assert.equal(stdout, '24 9007199254740993n 12 true true 1 1\n');
  } finally {
    served.kill();
  }
}

/** What a program can't name it can't pass on: each type that the declarations have is exported, or only names values. */
function exportsTypes() {
  const declarations = readFileSync(join(folder, 'node_modules/petstock/dist/index.d.ts'), 'utf8');
  const exported = /^export \{(.*)\};$/m.exec(declarations)[1].split(',');
  const names = new Set(exported.map((name) => name.trim().replace(/^type /, '')));
  const declared = [...declarations.matchAll(/^(?:declare )?(?:abstract )?(?:interface|type|class) (\w+)/gm)];
  const missing = declared.map(([, name]) => name).filter((name) => !names.has(name));
  assert.deepEqual(missing, []);
  return `${declared.length} types`;
}

/** Compiles a consumer in the strictest way, the declarations of petstock included, and checks what it must refuse. */
async function hasTypes(compilerOptions) {
  writeFileSync(
    join(folder, 'consumer.ts'),
    `import { createPetstoreClient, type ErrorCode, type ErrorDetails, type ExitCodeName, type HistoryFilter, type HistoryRow, type HistoryRun, type LimitState, PetstockError, RateLimitedError, type RunReport, startSandbox, type WrittenItem } from 'petstock';
    const maxWait: number | undefined = undefined;
    const client = createPetstoreClient({ baseUrl: 'https://store.example/v1', key: 'psk', maxWait, retries: 2, stateFolder: undefined,
      onLimit: ({ remaining }: LimitState) => void remaining });
    export async function total(): Promise<number> {
      let units = 0;
      for await (const batch of client.listInventory()) for (const { quantity } of batch) units += quantity;
      return units;
    }
    export const set = (): Promise<WrittenItem> => client.updateInventory(42n, 12);
    export const adjust = (): Promise<WrittenItem> => client.adjust('42', -2, { signal: undefined });
    export const resume = (run: string): Promise<RunReport> => client.resume(run);
    export const runs = (): AsyncIterable<HistoryRun> => client.history({});
    export const limits = (): Promise<readonly LimitState[]> => client.limits();
    export const order = async (): Promise<unknown> => (await client.listOrders({ ids: 'string' })).value;
    export const kindOf = (error: unknown): readonly [ExitCodeName, ErrorCode] | undefined => (error instanceof PetstockError ? [error.kind, error.code] : undefined);
    export const apply = (): Promise<RunReport> => client.apply([{ petId: '42', delta: -1 }], { maxZero: 0, signal: new AbortController().signal });
    const details: ErrorDetails = { hint: undefined, lines: undefined, faults: undefined, run: undefined, cause: undefined };
    export const renamed = (error: PetstockError): PetstockError => error.with({ ...details, message: undefined });
    const filter: HistoryFilter = { petId: '42', since: undefined, until: undefined, state: undefined, limit: undefined };
    export async function* written(): AsyncGenerator<HistoryRow> {
      for await (const run of client.history(filter)) yield* run.rows();
    }
    export const served = async (): Promise<string> => (await startSandbox({ faults: ['*:reset'] })).url;
    export const wait = (error: unknown) => (error instanceof RateLimitedError ? error.retryAfterSeconds : undefined);
    // @ts-expect-error: a petId is a bigint, a number or a string
    client.updateInventory({ id: 42 }, 12);
    // @ts-expect-error: there is no client without a key
    createPetstoreClient({ baseUrl: 'https://store.example/v1' });`,
  );
  const modules = join(root, 'node_modules');
  write('tsconfig.json', {
    compilerOptions: {
      target: 'ES2023',
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      noEmit: true,
      typeRoots: [join(modules, '@types')],
      ...compilerOptions,
    },
    files: ['consumer.ts'],
  });
  await run(process.execPath, [join(modules, 'typescript/bin/tsc'), '-p', folder]);
}

async function step(name, action) {
  const started = performance.now();
  const detail = await action();
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  process.stdout.write(`package: ${name}${detail ? ` (${detail})` : ''}, ${seconds} s\n`);
}

/** @returns {Promise<{stdout: string, stderr: string}>} */
async function run(file, args, cwd = folder) {
  return promisify(execFile)(file, args, { cwd, env }).catch((error) => {
    throw new Error(`${file} ${args.join(' ')} failed:\n${error.stdout}${error.stderr}`, { cause: error });
  });
}

function once(emitter, event) {
  return new Promise((resolve) => emitter.once(event, (...values) => resolve(values)));
}

function write(name, value) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), JSON.stringify(value));
}

/** What npm needs, without what `npm run` puts there, and with folders of its own for the program. */
function bareEnvironment() {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|PETSTOCK_|FORCE_COLOR$|NO_COLOR$|INIT_CWD$)/i.test(name),
  );
  const own = { PETSTOCK_CONFIG_DIR: join(folder, 'config'), PETSTOCK_STATE_DIR: join(folder, 'state') };
  return { ...Object.fromEntries(kept), ...own };
}
