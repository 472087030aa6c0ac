import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject } from 'vitest';
import { runOn, writeJson } from '../support/installation.ts';
import { test, usesProgram } from './usage.ts';

test('installs the tarball with pnpm', async ({ machine, project, manager }) => {
  await runOn(machine, [...manager.pnpm, 'add', inject('tarball')], project);
  await usesProgram((...args) => runOn(machine, [...manager.pnpm, 'exec', 'petstock', ...args], project));
});

test('installs the tarball with yarn 1', async ({ machine, project, manager }) => {
  await runOn(machine, [...manager.yarn1, 'add', `file:${inject('tarball')}`], project);
  await usesProgram((...args) => runOn(machine, [...manager.yarn1, '--silent', 'petstock', ...args], project));
});

test('installs the tarball with yarn 4 without node_modules', async ({ machine, project, manager }) => {
  // The lock file makes this a project of its own, not a part of the one above.
  writeJson(join(project, 'yarn.lock'), {});
  await runOn(machine, [...manager.yarn4, 'add', `petstock@file:${inject('tarball')}`], project);
  expect(existsSync(join(project, '.pnp.cjs'))).toBe(true);
  expect(existsSync(join(project, 'node_modules'))).toBe(false);
  await usesProgram((...args) => runOn(machine, [...manager.yarn4, 'petstock', ...args], project));
});
