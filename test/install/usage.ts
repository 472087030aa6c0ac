import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test as plain } from 'vitest';
import {
  type Machine,
  manifest,
  newMachine,
  newProject,
  type Output,
  repository,
  runOn,
  writeJson,
} from '../support/installation.ts';
import { packageManagers } from '../support/package-managers.ts';

/** A test that is given a machine, a project on it, and the command that runs each package manager. */
export const test = plain
  // biome-ignore lint/correctness/noEmptyPattern: Vitest takes nothing but a pattern
  .extend('manager', { scope: 'file' }, ({}, { onCleanup }) => {
    const folder = mkdtempSync(join(tmpdir(), 'petstock-managers-'));
    onCleanup(() => rmSync(folder, { recursive: true, force: true }));
    return packageManagers(folder);
  })
  .extend('machine', () => newMachine())
  .extend('project', ({ machine }) => newProject(machine));

/** Runs petstock with these arguments, in the way in which a test has installed it. */
export type Petstock = (...args: readonly string[]) => Promise<Output>;

/** Prints the version, lists and changes the sandbox's stock, and reads the history and a setting. */
export async function usesProgram(petstock: Petstock): Promise<void> {
  const { stdout: version } = await petstock('--version');
  expect(version.replace(/\+[\da-f]{7,}\n$/, '\n')).toBe(`${manifest.version}\n`);
  const sandbox = ['--env', 'sandbox', '--json'];
  const list = await petstock(...sandbox, 'inventory', 'list');
  expect(JSON.parse(list.stdout)).toHaveLength(24);
  const set = await petstock(...sandbox, 'inventory', 'set', '4', '12');
  expect(JSON.parse(set.stdout)).toMatchObject({ petId: 4, quantity: 12, status: 'available' });
  const again = await petstock(...sandbox, 'inventory', 'get', '4');
  expect(JSON.parse(again.stdout)).toMatchObject({ petId: 4, quantity: 12 });
  const history = JSON.parse((await petstock('history', 'list', '--json')).stdout) as unknown[];
  expect(history).toHaveLength(1);
  await petstock('config', 'set', 'low-stock', '7');
  expect((await petstock('config', 'get', 'low-stock')).stdout).toBe('7\n');
  // SQLite is experimental in some releases of Node, but users must see no warning about it.
  for (const { stderr } of [list, set, again]) expect(stderr).not.toMatch(/warning/i);
}

const script = `import { createPetstoreClient, NotFoundError, startSandbox, UsageError } from 'petstock';
const sandbox = await startSandbox({ pets: 6 });
const client = createPetstoreClient({ baseUrl: sandbox.url, key: sandbox.key, stateFolder: process.argv[2] });
const items = [];
for await (const batch of client.listInventory()) items.push(...batch);
const { petId, quantity } = await client.updateInventory(9007199254740993n, 12);
const missing = await client.updateInventory(4242n, 1).catch((error) => error instanceof NotFoundError);
const inexact = await client.updateInventory(2 ** 53, 1).catch((error) => error instanceof UsageError);
const { run, counts } = await client.apply([{ petId, delta: 3 }]);
const undone = await client.undo(run);
await client.close();
await sandbox.close();
console.log(items.length, petId, quantity, missing, inexact, counts.applied, undone.counts.applied);
`;

/** @param node the command that runs a script in the project */
export async function usesLibrary(machine: Machine, project: string, node: readonly string[]): Promise<void> {
  writeFileSync(join(project, 'library.js'), script);
  mkdirSync(join(project, 'state'), { mode: 0o700 });
  const { stdout } = await runOn(machine, [...node, 'library.js', join(project, 'state')], project);
  expect(stdout).toBe('6 9007199254740993n 12 true true 1 1\n');
}

/** Statements that the exported types allow, and statements that they reject. */
const consumer = `import { createPetstoreClient, type ErrorCode, type ErrorDetails, type ExitCodeName, type HistoryFilter, type HistoryRow, type HistoryRun, type LimitState, PetstockError, RateLimitedError, type RunReport, startSandbox, type WrittenItem } from 'petstock';
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
createPetstoreClient({ baseUrl: 'https://store.example/v1' });
`;

/** Compiler options for a program with the types of Node, and for one with those of the DOM. */
const modes = [
  { module: 'NodeNext', lib: ['ES2023'], types: ['node'] },
  { module: 'ESNext', moduleResolution: 'Bundler', lib: ['ES2023', 'DOM'], types: [] },
];

/** Compiles a program and petstock's declarations with the strictest options. */
export async function hasTypes(machine: Machine, project: string): Promise<void> {
  writeFileSync(join(project, 'types.ts'), consumer);
  const modules = join(repository, 'node_modules');
  for (const mode of modes) {
    const strict = { strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true };
    const compilerOptions = { target: 'ES2023', ...strict, typeRoots: [join(modules, '@types')], ...mode };
    writeJson(join(project, 'tsconfig.json'), { compilerOptions, files: ['types.ts'] });
    await runOn(machine, [process.execPath, join(modules, 'typescript/bin/tsc'), '-p', project], project);
  }
}
