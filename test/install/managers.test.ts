import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject } from 'vitest';
import { repository, runOn, writeJson } from '../support/installation.ts';
import { hasTypes, test, usesLibrary, usesProgram } from './usage.ts';

const typescript = join(repository, 'node_modules/typescript');

test('npm installs the tarball, and nothing else', async ({ machine, project }) => {
  const { stderr } = await runOn(machine, ['npm', 'install', inject('tarball')], project);
  // Newer releases of npm run no script of a package that was not asked for, and say so.
  expect(stderr).not.toMatch(/install-scripts|allow-?scripts|EBADENGINE|deprecated/i);
  const { stdout } = await runOn(machine, ['npm', 'ls', '--all', '--parseable'], project);
  expect(stdout.trim().split('\n')).toHaveLength(2);
  await usesProgram((...args) => runOn(machine, ['npm', 'exec', '--no', '--', 'petstock', ...args], project));
  await usesLibrary(machine, project, ['node']);
  await hasTypes(machine, project, typescript);
});

test('npm installs it for all projects, with its manual, and takes it away again', async ({ machine }) => {
  const prefix = join(machine.folder, 'prefix');
  const npm = ['npm', '--global', '--prefix', prefix];
  await runOn(machine, [...npm, 'install', inject('tarball')]);
  await usesProgram((...args) => runOn(machine, [join(prefix, 'bin/petstock'), ...args]));
  const manual = join(prefix, 'share/man/man1/petstock.1');
  expect(readFileSync(manual, 'utf8')).toMatch(/^\.TH PETSTOCK 1 /);
  await runOn(machine, [...npm, 'uninstall', 'petstock']);
  for (const gone of [manual, join(prefix, 'bin/petstock')]) expect(existsSync(gone)).toBe(false);
});

test('npx runs the tarball as it is', async ({ machine, project }) => {
  copyFileSync(inject('tarball'), join(project, 'petstock.tgz'));
  await usesProgram((...args) => runOn(machine, ['npx', '--yes', './petstock.tgz', ...args], project));
});

test('pnpm installs the tarball', async ({ machine, project, manager }) => {
  await runOn(machine, [...manager.pnpm, 'add', inject('tarball')], project);
  await usesProgram((...args) => runOn(machine, [...manager.pnpm, 'exec', 'petstock', ...args], project));
  await usesLibrary(machine, project, ['node']);
  await hasTypes(machine, project, typescript);
});

test('yarn 1 installs the tarball', async ({ machine, project, manager }) => {
  await runOn(machine, [...manager.yarn1, 'add', `file:${inject('tarball')}`], project);
  await usesProgram((...args) => runOn(machine, [...manager.yarn1, '--silent', 'petstock', ...args], project));
  await usesLibrary(machine, project, ['node']);
});

test('yarn 4 installs the tarball without a node_modules', async ({ machine, project, manager }) => {
  // It is a project of its own, not a part of the one above.
  writeJson(join(project, 'yarn.lock'), {});
  await runOn(machine, [...manager.yarn4, 'add', `petstock@file:${inject('tarball')}`], project);
  expect(existsSync(join(project, '.pnp.cjs'))).toBe(true);
  expect(existsSync(join(project, 'node_modules'))).toBe(false);
  await usesProgram((...args) => runOn(machine, [...manager.yarn4, 'petstock', ...args], project));
  await usesLibrary(machine, project, [...manager.yarn4, 'node']);
});
