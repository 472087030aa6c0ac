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

/** Runs petstock with these arguments in the way that is tried. */
export type Petstock = (...args: readonly string[]) => Promise<Output>;

/** What a person does first: asks for the version, looks at the stock, changes it. All of it works on the state folder. */
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
  // It knows Node's SQLite as experimental in some releases, which is no matter of its users.
  for (const { stderr } of [list, set, again]) expect(stderr).not.toMatch(/warning/i);
}

const script = `import { createPetstoreClient, startSandbox } from 'petstock';
const sandbox = await startSandbox({ pets: 6 });
const client = createPetstoreClient({ baseUrl: sandbox.url, key: sandbox.key, stateFolder: process.argv[2] });
const items = [];
for await (const batch of client.listInventory()) items.push(...batch);
const { petId } = items[0];
const set = await client.updateInventory(petId, 12);
const { run, counts } = await client.apply([{ petId, delta: 3 }]);
const undone = await client.undo(run);
await client.close();
await sandbox.close();
console.log(items.length, typeof petId, set.quantity, counts.applied, undone.counts.applied);
`;

/** @param node the command that runs a script in the project */
export async function usesLibrary(machine: Machine, project: string, node: readonly string[]): Promise<void> {
  writeFileSync(join(project, 'library.js'), script);
  mkdirSync(join(project, 'state'), { mode: 0o700 });
  const { stdout } = await runOn(machine, [...node, 'library.js', join(project, 'state')], project);
  expect(stdout).toBe('6 bigint 12 1 1\n');
}

/** @param typescript the folder of a compiler */
export async function hasTypes(machine: Machine, project: string, typescript: string): Promise<void> {
  writeFileSync(
    join(project, 'types.ts'),
    `import { createPetstoreClient, type InventoryItem } from 'petstock';
    const client = createPetstoreClient({ baseUrl: 'https://store.example/v1', key: 'psk' });
    export const set = (): Promise<InventoryItem> => client.updateInventory(42n, 12);
    // @ts-expect-error: a petId is a bigint, a number or a string
    client.updateInventory({ id: 42 }, 12);`,
  );
  const compilerOptions = { target: 'ES2023', module: 'NodeNext', lib: ['ES2023', 'DOM'], types: [] };
  writeJson(join(project, 'tsconfig.json'), {
    compilerOptions: { ...compilerOptions, strict: true, noEmit: true },
    files: ['types.ts'],
  });
  await runOn(machine, [process.execPath, join(typescript, 'bin/tsc'), '-p', project], project);
}
