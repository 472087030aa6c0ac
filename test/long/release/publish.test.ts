import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { releasedChangelog } from '../../../.ci/release/versions.ts';
import { repository } from '../../support/installation.ts';

const version = '987.0.0-rc.1';

/** Returns the script of a workflow's step, which is found by its name or beginning. */
function stepOf(job: string, words: string): string {
  const { jobs } = parse(readFileSync(join(repository, '.github/workflows/release.yml'), 'utf8'));
  const steps: readonly { readonly name?: string; readonly run?: string }[] = jobs[job].steps;
  const step = steps.find(({ name = '', run = '' }) => name === words || run.startsWith(words));
  return step?.run ?? `echo "release.yml has no step ${words}"; false`;
}

test('builds and publishes a release with the steps of the workflow (npm and gh replaced)', {
  timeout: 1_200_000,
}, () => {
  const folder = mkdtempSync(join(tmpdir(), 'petstock-workflow-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const clone = join(folder, 'clone');
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));
  const run = (script: string, cwd: string): string => {
    const options = { cwd, env: { ...env, TAG: `v${version}` }, encoding: 'utf8', maxBuffer: 1e8 } as const;
    const { status, stdout } = spawnSync('bash', ['-ec', `exec 2>&1; ${script}`], options);
    if (status !== 0) throw new Error(`${script} failed:\n${stdout.slice(-5000)}`);
    return stdout;
  };
  run(`git clone --quiet '${repository}' clone`, folder);
  const changelog = readFileSync(join(clone, 'CHANGELOG.md'), 'utf8').replace(
    '## Unreleased',
    '## Unreleased\n\n- A thing.',
  );
  writeFileSync(join(clone, 'CHANGELOG.md'), releasedChangelog(changelog, version, '2026-01-02'));
  run(
    `npm version ${version} --no-git-tag-version --ignore-scripts
    npm pkg set homepage=https://github.com/ann/petstock
    git config user.name Ada; git config user.email ada@example.com
    git commit --quiet --all --message Release; git tag "$TAG"`,
    clone,
  );
  run(stepOf('build', 'npm ci'), clone);
  run(stepOf('build', 'Make the release of this tag'), clone);
  renameSync(join(clone, 'dist/release'), join(folder, 'release'));
  const release = join(folder, 'release');

  const workflow = readFileSync(join(repository, '.github/workflows/release.yml'), 'utf8');
  const named = [...workflow.matchAll(/: dist\/(release\S*)$/gm)].map(([, path = '']) => path);
  expect(named.filter((path) => !existsSync(join(folder, path)))).toEqual([]);
  expect(readdirSync(release).sort()).toEqual(['NOTES.md', 'SHA256SUMS', `petstock-${version}.tgz`]);
  expect(run(stepOf('publish', 'sha256sum'), release)).not.toContain('FAILED');
  // Provenance works only on GitHub's machines.
  const publish = stepOf('publish', 'Publish at npm').replace('--provenance', '');
  const npm = (has: string) =>
    `npm() { if [ $1 = view ]; then echo "${has}"; else command npm "$@" --dry-run; fi; }; ${publish}`;
  expect(run(npm(''), folder)).toMatch(/Publishing to .* with tag next/);
  expect(run(npm(version), folder)).toBe(`npm has petstock ${version}\n`);
  const gh = (step: string, hasPage: boolean) =>
    run(
      `gh() { [ $2 != view ] || return ${hasPage ? 0 : 1}; for word; do echo "$word"; done; }; ${stepOf('publish', step)}`,
      folder,
    );
  expect(gh('Show the page', true)).toContain('--draft=false\n--prerelease');
  expect(gh('Make the page', true)).toContain('upload\n');
  expect(gh('Make the page', false).split('\n')).toEqual(
    expect.arrayContaining(['--draft', 'release/NOTES.md', ...readdirSync(release).map((name) => `release/${name}`)]),
  );
});
