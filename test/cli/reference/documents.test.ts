import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { git, root } from '../../../.ci/commands.ts';
import { commandsDocument } from '../../../.ci/reference/commands-document.ts';
import { manPage } from '../../../.ci/reference/man-page.ts';
import { allCommands } from '../../../.ci/reference/reference.ts';
import { test } from '../../support/shop.ts';

const markdown = await commandsDocument();
const manual = await manPage(new Date('2026-01-15'));

test('documents every command, option and help example in the reference and the manual', async ({ shop }) => {
  const read = unescaped(manual);
  const [, ...commands] = await allCommands();
  expect(commands.length).toBeGreaterThan(45);
  for (const { path, command } of commands) {
    expect(markdown).toMatch(new RegExp(`^#+ ${path}\n\n.*\n${path} `, 'm'));
    expect(read).toContain(`\n.SS ${path}\n`);
    for (const [flags] of command.options ?? []) {
      expect(markdown).toContain(`| \`${flags}\` |`);
      expect(read).toContain(`\n.TP\n\\fB${flags}\\fR\n`);
    }
    const { stdout } = await shop.run(`help ${path.slice('petstock '.length)}`);
    for (const example of stdout.match(/^ {2}petstock .*$/gm) ?? []) {
      expect(markdown).toContain(`\n${example.trim()}\n`);
      expect(read).toContain(`\n${example.trim()}\n`);
    }
  }
});

test('has the reference that npm run docs writes', () => {
  expect(readFileSync(join(root, 'docs/reference/commands.md'), 'utf8')).toBe(markdown);
});

test('names only files that exist in documents', () => {
  const tracked = git(root, 'ls-files').split('\n');
  for (const document of tracked.filter((name) => name.endsWith('.md') && name !== 'CHANGELOG.md')) {
    const names = readFileSync(join(root, document), 'utf8').match(/[\w./-]+\.ts\b/g) ?? [];
    const missing = names.filter((name) => !tracked.some((file) => `/${file}`.endsWith(`/${name}`)));
    expect(missing, document).toEqual([]);
  }
});

test('writes an ASCII manual whose text contains no troff requests', () => {
  expect(manual).toMatch(/^\.TH PETSTOCK 1 2026-01-15 "petstock \d/);
  expect(manual).toMatch(/^[\n -~]*$/);
  const requests = manual.match(/^[.'](?!(TH|SH|SS|TP|PP|RS|RE|nf|fi)( |$)).*$/gm);
  expect(requests).toBeNull();
});

/** Replaces escapes by the characters that a reader sees. */
function unescaped(text: string): string {
  return text
    .replace(/\\\[u([0-9A-F]+)\]/g, (_whole, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replaceAll('\\-', '-')
    .replaceAll('\\e', '\\');
}

test('describes the path of a change by files that import each other', () => {
  const text = readFileSync(join(root, 'docs/architecture.md'), 'utf8');
  const [, part = ''] = /## How one change is written\n([\s\S]*?)\n## /.exec(text) ?? [];
  const [first = '', ...path] = part.match(/src\/[\w./-]+\.ts/g) ?? [];
  expect(path.length).toBeGreaterThan(10);
  const imported = new Set([first]);
  for (const file of imported) {
    const names = readFileSync(join(root, file), 'utf8').matchAll(/(?:from|import\() ?'(\.[^']+)'/g);
    for (const [, name = ''] of names) imported.add(join(dirname(file), name));
  }
  expect(path.filter((file) => !imported.has(file))).toEqual([]);
});
