import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';
import { type Machine, newMachine, repository, runOn } from '../../support/installation.ts';
import { nodeRelease } from '../../support/packages.ts';
import { test as machineTest, usesProgram } from './usage.ts';

/** The registry may be slow. */
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

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

test('stops npm ci on a Node version that is too old for the tools', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'petstock-nodes-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const machine = newMachine([nodeRelease(folder, '20.18.1')]);
  const clone = await cloneOn(machine);
  // npm before 10.9 ignores `devEngines`, and reports a tool that needs a newer Node.
  await expect(runOn(machine, ['npm', 'ci'], clone)).rejects.toThrow(/EBAD(DEV)?ENGINES?[\s\S]*\^20\.19\.0/);
});
