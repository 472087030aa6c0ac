import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { manifest, newMachine, newProject, runOn, tarball } from '../../support/installation.ts';
import { nodeRelease } from '../../support/packages.ts';
import { usesProgram } from './usage.ts';

/** The registry may be slow. */
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

const folder = mkdtempSync(join(tmpdir(), 'petstock-nodes-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The oldest supported release, the last one without a usable SQLite, the first one with it, and the next major. */
const releases = ['20.18.1', '22.17.1', '22.18.0', '24'];

test('tests the oldest Node version that the package supports', () => {
  expect(manifest.engines.node).toBe(`>=${releases[0]}`);
});

test.each(releases)('installs the tarball and runs its program on Node %s', async (release) => {
  const bin = nodeRelease(join(folder, release), release);
  const machine = newMachine([bin]);
  const project = newProject(machine);
  const { stdout } = await runOn(machine, ['node', '--version']);
  expect(`${stdout.trim()}.`).toContain(`v${release}.`);
  await runOn(machine, ['npm', 'install', '--engine-strict', tarball()], project);
  await usesProgram((...args) => runOn(machine, [join(project, 'node_modules/.bin/petstock'), ...args]));
});
