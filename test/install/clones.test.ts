import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { type Machine, newMachine, repository, runOn } from '../support/installation.ts';
import { nodeRelease } from '../support/package-managers.ts';
import { test as machineTest, usesProgram } from './usage.ts';

/** Clones the committed files of this repository. */
async function cloneOn(machine: Machine): Promise<string> {
  const clone = join(machine.folder, 'petstock');
  await runOn(machine, ['git', 'clone', '--quiet', repository, clone]);
  return clone;
}

const test = machineTest.extend('clone', ({ machine }) => cloneOn(machine));
const built = (machine: Machine, clone: string) =>
  usesProgram((...args) => runOn(machine, ['node', join(clone, 'dist/petstock.cjs'), ...args]));

test('installs and builds a clone with npm', async ({ machine, clone }) => {
  await runOn(machine, ['npm', 'ci'], clone);
  await built(machine, clone);
  expect((await runOn(machine, ['git', 'status', '--porcelain'], clone)).stdout).toBe('');
});

test('builds a clone and installs it globally with npm', async ({ machine, clone }) => {
  const prefix = join(machine.folder, 'prefix');
  await runOn(machine, ['npm', 'install', '--global', '--prefix', prefix, '.'], clone);
  await usesProgram((...args) => runOn(machine, [join(prefix, 'bin/petstock'), ...args]));
});

test.for([
  ['pnpm', []],
  // yarn 1 ignores `overrides` and npm's lock file, so it installs tools that need a newer Node.
  ['yarn1', ['--ignore-engines']],
] as const)('installs and builds a clone with %s', async ([name, flags], { machine, clone, manager }) => {
  await runOn(machine, [...manager[name], 'install', ...flags], clone);
  await built(machine, clone);
});

test('builds a clone with yarn 4 without node_modules', async ({ machine, clone, manager }) => {
  // Without a lock file, yarn would use the folder above, which has a package.json, as the project.
  writeFileSync(join(clone, 'yarn.lock'), '');
  await runOn(machine, [...manager.yarn4, 'install'], clone);
  await runOn(machine, [...manager.yarn4, 'build'], clone);
  expect(existsSync(join(clone, 'node_modules/tsup'))).toBe(false);
  await built(machine, clone);
});

test('stops npm ci on a Node version that is too old for the tools', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'petstock-nodes-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const machine = newMachine([nodeRelease(folder, '20.18.1')]);
  const clone = await cloneOn(machine);
  // npm before 10.9 ignores `devEngines`, and reports a tool that needs a newer Node.
  await expect(runOn(machine, ['npm', 'ci'], clone)).rejects.toThrow(/EBAD(DEV)?ENGINES?[\s\S]*\^20\.19\.0/);
});
