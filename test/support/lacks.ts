import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fromGit, root } from '../../.ci/commands.ts';
import { commandsDocument } from '../../.ci/reference/commands-document.ts';
import { changedFiles } from './changed-files.ts';

/**
 * The first step of `npm run check:static`: prints what a change lacks, and what to do about it. A missing line in the
 * change log is not a failure, because users may not see the change.
 */
const textOf = (name: string) => readFileSync(join(root, name), 'utf8');
const tracked = fromGit(root, 'ls-files')?.split('\n') ?? [];
const lacking = tracked
  .filter((name) => name.endsWith('.md'))
  .flatMap((document) => {
    const names = textOf(document).match(/[\w./-]+\.ts\b/g) ?? [];
    const missing = names.filter((name) => !tracked.some((file) => `/${file}`.endsWith(`/${name}`)));
    return missing.map((name) => `${document} names ${name}, which is not there`);
  });
for (const document of tracked.filter((name) => name.endsWith('.md') && name !== 'CHANGELOG.md')) {
  const [file] = /petstock[-_]\d+\.\d+\.\d+[\w.-]*\.(?:tgz|deb)/.exec(textOf(document)) ?? [];
  if (file !== undefined) lacking.push(`${document} names ${file}, which another release has not: write <version>`);
}
/** Returns the first cells in the tables of a document, without their headings. */
const firstCells = (document: string) =>
  [...textOf(document).matchAll(/^\| ([^|]*[^|\s]) \|/gm)]
    .map(([, cell = '']) => cell)
    .filter((cell) => cell !== 'guarantee');
const [guarantees, held] = ['docs/reference/guarantees.md', 'docs/dev/guarantee-tests.md'].map(firstCells);
for (const name of guarantees ?? [])
  if (!held?.includes(name)) lacking.push(`no test is named for the guarantee "${name}"`);
for (const name of held ?? [])
  if (!guarantees?.includes(name)) lacking.push(`"${name}" of guarantee-tests.md is no guarantee`);
for (const [, path = ''] of textOf('docs/dev/guarantee-tests.md').matchAll(/`(test\/[^`]+)`/g))
  if (!tracked.some((file) => `${file}/`.startsWith(`${path}/`)))
    lacking.push(`guarantee-tests.md names ${path}, which is not there`);
if (textOf('docs/reference/commands.md') !== (await commandsDocument()))
  lacking.push('docs/reference/commands.md is not what the commands are now: npm run docs');
for (const line of lacking) process.stdout.write(`${line}\n`);
if (lacking.length > 0) process.exitCode = 1;
const touched = changedFiles() ?? [];
if (touched.some((name) => /^(bin|src)\//.test(name)) && !touched.includes('CHANGELOG.md'))
  process.stdout.write('Note: CHANGELOG.md is unchanged. If a user can see the change: a line under "## Unreleased"\n');
