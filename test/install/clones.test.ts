import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Machine, newMachine, repository, runOn } from '../support/installation.ts';
import { type Manager, nodeRelease, packageManagers } from '../support/package-managers.ts';
import { usesProgram } from './usage.ts';

const folder = mkdtempSync(join(tmpdir(), 'petstock-managers-'));
let manager: Record<Manager, readonly string[]>;

beforeAll(() => {
  manager = packageManagers(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What is committed of this repository. */
async function cloneOn(machine: Machine): Promise<string> {
  const clone = join(machine.folder, 'petstock');
  await runOn(machine, ['git', 'clone', '--quiet', repository, clone]);
  return clone;
}

const built = (machine: Machine, clone: string) =>
  usesProgram((...args) => runOn(machine, ['node', join(clone, 'dist/petstock.cjs'), ...args]));

test('npm installs and builds a clone', async () => {
  const machine = newMachine();
  const clone = await cloneOn(machine);
  await runOn(machine, ['npm', 'ci'], clone);
  await built(machine, clone);
  expect((await runOn(machine, ['git', 'status', '--porcelain'], clone)).stdout).toBe('');
});

test('npm links a clone for all projects, and builds it first', async () => {
  const machine = newMachine();
  const clone = await cloneOn(machine);
  const prefix = join(machine.folder, 'prefix');
  await runOn(machine, ['npm', 'install', '--global', '--prefix', prefix, '.'], clone);
  await usesProgram((...args) => runOn(machine, [join(prefix, 'bin/petstock'), ...args]));
});

test('pnpm installs and builds a clone', async () => {
  const machine = newMachine();
  const clone = await cloneOn(machine);
  await runOn(machine, [...manager.pnpm, 'install'], clone);
  await built(machine, clone);
});

test('yarn 1 installs and builds a clone', async () => {
  const machine = newMachine();
  const clone = await cloneOn(machine);
  // It knows no `overrides` and no lock file of npm, so it takes tools that are newer than this Node.
  await runOn(machine, [...manager.yarn1, 'install', '--ignore-engines'], clone);
  await built(machine, clone);
});

test('yarn 4 builds a clone without a node_modules', async () => {
  const machine = newMachine();
  const clone = await cloneOn(machine);
  // Without one it takes the folder above, where the machine has a package of its own, for the project.
  writeFileSync(join(clone, 'yarn.lock'), '');
  await runOn(machine, [...manager.yarn4, 'install'], clone);
  await runOn(machine, [...manager.yarn4, 'build'], clone);
  expect(existsSync(join(clone, 'node_modules/tsup'))).toBe(false);
  await built(machine, clone);
});

test('a Node that is too old for the tools is refused at once', async () => {
  const machine = newMachine([nodeRelease(join(folder, 'node'), '20.18.1')]);
  const clone = await cloneOn(machine);
  // npm before 10.9 knows no `devEngines`: it names the first tool that is too new for it.
  await expect(runOn(machine, ['npm', 'ci'], clone)).rejects.toThrow(/EBAD(DEV)?ENGINES?[\s\S]*\^20\.19\.0/);
});
