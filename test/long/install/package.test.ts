import { copyFileSync, existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { runOn, tarball } from '../../support/installation.ts';
import { test, usesProgram } from './usage.ts';

/** The registry may be slow. */
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

const documents = /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|docs\/([\w./-]+\.md|pictures\/[\w.]+))$/;
const built =
  /^dist\/(LICENSES\.txt|man\/petstock\.1|[\w-]+\.cjs|sqlite\/index\.cjs|prebuilds\/[\w-]+\/[\w@+.]+\.node)$/;

test('packs the bundle and the documents, and nothing else', async ({ machine }) => {
  const { stdout } = await runOn(machine, ['tar', '-tvzf', tarball()]);
  const listed = stdout.matchAll(/^(\S+) .* package\/(\S+)$/gm);
  const modes = new Map([...listed].map(([, mode, name = '']) => [name, mode]));
  const names = [...modes.keys()];
  expect(names.filter((name) => !documents.test(name) && !built.test(name))).toEqual([]);
  const program = ['petstock.cjs', 'man/petstock.1'].map((name) => `dist/${name}`);
  expect(names).toEqual(expect.arrayContaining(['README.md', 'LICENSE', ...program]));
  const manifest = JSON.parse((await runOn(machine, ['tar', '-xzOf', tarball(), 'package/package.json'])).stdout);
  expect(manifest['//dependencies']).toMatch(/bundles .* dist\/LICENSES\.txt/);
  const forDevelopment = ['dependencies', 'devDependencies', 'devEngines', 'scripts', 'allowScripts', 'overrides'];
  expect(Object.keys(manifest).filter((key) => forDevelopment.includes(key))).toEqual([]);
  expect(modes.get('dist/petstock.cjs')).toBe('-rwxr-xr-x');
  expect(statSync(tarball()).size).toBeLessThan(12_000_000);
});

test('installs the tarball with npm without any dependency', async ({ machine, project }) => {
  const { stderr } = await runOn(machine, ['npm', 'install', tarball()], project);
  // Newer releases of npm warn about install scripts that they do not run.
  expect(stderr).not.toMatch(/install-scripts|allow-?scripts|EBADENGINE|deprecated/i);
  const { stdout } = await runOn(machine, ['npm', 'ls', '--all', '--parseable'], project);
  expect(stdout.trim().split('\n')).toHaveLength(2);
  await usesProgram((...args) => runOn(machine, ['npm', 'exec', '--no', '--', 'petstock', ...args], project));
});

test('installs the program and its manual globally with npm, and removes both', async ({ machine }) => {
  const prefix = join(machine.folder, 'prefix');
  const npm = ['npm', '--global', '--prefix', prefix];
  await runOn(machine, [...npm, 'install', tarball()]);
  await usesProgram((...args) => runOn(machine, [join(prefix, 'bin/petstock'), ...args]));
  const manual = join(prefix, 'share/man/man1/petstock.1');
  expect(readFileSync(manual, 'utf8')).toMatch(/^\.TH PETSTOCK 1 /);
  await runOn(machine, [...npm, 'uninstall', 'petstock']);
  for (const gone of [manual, join(prefix, 'bin/petstock')]) expect(existsSync(gone)).toBe(false);
});

test('runs the tarball with npx', async ({ machine, project }) => {
  copyFileSync(tarball(), join(project, 'petstock.tgz'));
  await usesProgram((...args) => runOn(machine, ['npx', '--yes', './petstock.tgz', ...args], project));
});
