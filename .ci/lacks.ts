import { readFileSync } from 'node:fs';
import process from 'node:process';
import { changedFiles, root, trackedFiles } from './changed-files.ts';
import { type CommandFacts, commandFacts } from './reference/command-facts.ts';
import { commandsDocument } from './reference/commands-document.ts';
import { valueKindOf } from './reference/value-kinds.ts';

/**
 * The first step of `npm run check:static`: prints what a change lacks, in the words of what to do. A stale document and a
 * value that completion does not know fail. A missing line in the change log does not: no user may see the change.
 */
const lacking = unknownValues(await commandFacts());
if (readFileSync(new URL('docs/commands.md', root), 'utf8') !== (await commandsDocument()))
  lacking.push('docs/commands.md is not what the commands are now: npm run docs');
lacking.push(...missingFiles());
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

/** Returns the values in the help of a command and of those below it that `value-kinds.ts` does not know. */
function unknownValues({ path, options, operands, commands }: CommandFacts): string[] {
  const places = [
    ...options.map(({ flags, placeholder, term }) => ({ names: flags, placeholder, term })),
    ...operands.map(({ name, term }) => ({ names: [name], placeholder: term, term })),
  ].filter(
    ({ names, placeholder }) => placeholder !== undefined && valueKindOf(path, names, placeholder) === undefined,
  );
  const own = places.map(
    ({ term }) => `petstock ${path}: ${term}: say in .ci/reference/value-kinds.ts what it stands for`,
  );
  return [...own, ...commands.flatMap(unknownValues)];
}
