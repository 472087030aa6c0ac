import type { HelpPart } from '../../src/output/help-text.ts';
import { wrap } from '../../src/output/text-width.ts';
import { version } from '../../src/shared/version.ts';
import { reference } from './reference.ts';

/** The longest source line in bytes, by a convention that `mandoc -Tlint` checks. */
const widest = 78;

/**
 * Returns the page for `man petstock`, in the macros of man(7), which every manual viewer knows.
 * @param date the date of the manual; only its day is shown
 */
export async function manPage(date: Date): Promise<string> {
  const { description, globalOptions, commands, topics } = await reference();
  const section = (title: string, parts: readonly HelpPart[]) => [`.SH ${title}`, ...parts.flatMap(partLines)];
  const lines = [
    `.TH PETSTOCK 1 ${date.toISOString().slice(0, 10)} "petstock ${version}" "petstock"`,
    ...section('NAME', ['petstock - look at and adjust the stock of a pet store']),
    ...section('SYNOPSIS', ['`petstock` [options] <command> [arguments]']),
    ...section('DESCRIPTION', [description]),
    ...section('GLOBAL OPTIONS', globalOptions),
    ...section('COMMANDS', []),
    ...commands.flatMap(({ title, parts }) => [`.SS ${escaped(title)}`, ...parts.flatMap(partLines)]),
    // The usual heading in manuals for exit codes is EXIT STATUS.
    ...topics.flatMap(({ name, parts }) => section(name === 'exit-codes' ? 'EXIT STATUS' : name.toUpperCase(), parts)),
  ];
  // The first text below a heading needs no `.PP`.
  return `${lines.join('\n')}\n`.replace(/^(\.S[HS] .*\n)\.PP\n/gm, '$1');
}

function partLines(part: HelpPart): readonly string[] {
  if (typeof part === 'string') return ['.PP', ...prose(part)];
  if ('lines' in part)
    return ['.PP', '.RS 4', '.nf', ...part.lines.map((line) => guarded(escaped(line))), '.fi', '.RE'];
  return Object.entries(part.terms).flatMap(([term, meaning]) => {
    const shown = escaped(term.trim().replace(/ +/g, ' '));
    return ['.TP', `\\fB${shown}\\fR`, ...(meaning === '' ? ['\\&'] : prose(meaning))];
  });
}

/** Starts each sentence on a new line, as is usual in manual sources, and makes code bold. */
function prose(text: string): readonly string[] {
  return text.split(/(?<=[.!?]\)?) (?=[A-Z`("-])/).flatMap((sentence) => {
    const bold = escaped(sentence).replace(/`([^`]*)`/g, '\\fB$1\\fR');
    return wrap(bold, widest).map(guarded);
  });
}

/**
 * Escapes backslashes and hyphens, so that a hyphen can be copied, and writes characters that are not ASCII by their
 * code points.
 */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/[^\0-\x7f]/gu, (character) => {
      const hex = character.codePointAt(0)?.toString(16).toUpperCase() ?? '';
      return `\\[u${hex.padStart(4, '0')}]`;
    });
}

/** Escapes a line that begins with a point or an apostrophe, which would be a request. */
function guarded(line: string): string {
  return /^[.']/.test(line) ? `\\&${line}` : line;
}
