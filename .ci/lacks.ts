import { readFileSync } from 'node:fs';
import process from 'node:process';
import { changedFiles, root, trackedFiles } from './changed-files.ts';
import { commandsDocument } from './reference/commands-document.ts';
import { completionTable } from './reference/completion-table.ts';

/**
 * The first step of `npm run check:static`: prints what a change lacks, in the words of what to do. A stale document and a
 * value that completion does not know fail. A missing line in the change log does not: no user may see the change.
 */
// Throws where a value is unknown.
await completionTable();
const lacking = missingFiles();
if (readFileSync(new URL('docs/commands.md', root), 'utf8') !== (await commandsDocument()))
  lacking.push('docs/commands.md is not what the commands are now: npm run docs');
for (const line of lacking) process.stdout.write(`${line}\n`);
if (lacking.length > 0) process.exitCode = 1;
const touched = changedFiles() ?? [];
if (touched.some((name) => /^(bin|src)\//.test(name)) && !touched.includes('CHANGELOG.md'))
  process.stdout.write('Note: CHANGELOG.md is unchanged. If a user can see the change: a line under "## Unreleased"\n');

/** Returns the source files and tests that a document names by a path, and that are not there. */
function missingFiles(): string[] {
  const tracked = trackedFiles();
  return tracked
    .filter((name) => name.endsWith('.md'))
    .flatMap((document) => {
      const names = readFileSync(new URL(document, root), 'utf8').match(/[\w./-]+\.ts\b/g) ?? [];
      const missing = names.filter((name) => !tracked.some((file) => `/${file}`.endsWith(`/${name}`)));
      return missing.map((name) => `${document} names ${name}, which is not there`);
    });
}
