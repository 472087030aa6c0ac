import type { Command } from 'commander';
import type { HelpPart } from '../../src/output/help-text.ts';
import { version } from '../../src/shared/version.ts';
import { allCommands, notesOf, partsOf, pathOf, termsOf, topicParts, usagesOf } from './reference.ts';

/** Of a line of the source, in bytes: a convention that `mandoc -Tlint` checks. */
const widest = 78;

/** The sections of manuals have names of their own. */
const sectionNames: Readonly<Record<string, string>> = { 'exit-codes': 'EXIT STATUS' };

/**
 * `man petstock`, in the macros of man(7), which every reader of manuals knows.
 * @param date of the manual, of which the day is shown
 */
export async function manPage(date: Date): Promise<string> {
  const [program, ...commands] = await allCommands();
  const lines = [
    `.TH PETSTOCK 1 ${date.toISOString().slice(0, 10)} "petstock ${version}" "petstock"`,
    ...['.SH NAME', 'petstock \\- look at and adjust the stock of a pet store'],
    ...['.SH SYNOPSIS', '.B petstock', '.RI [ options ]', '.I command', '.RI [ arguments ]'],
    '.SH DESCRIPTION',
    ...prose(program.description()),
    '.SH GLOBAL OPTIONS',
    'Before or after the command.',
    ...termsOf(program).flatMap(partLines),
    '.SH COMMANDS',
    ...commands.filter((command) => usagesOf(command).length > 0).flatMap(commandLines),
    ...topicParts().flatMap(({ name, title, parts }) => {
      const section = sectionNames[name] ?? name.toUpperCase();
      const first = section === title.toUpperCase() || name in sectionNames ? [] : [`${title}.`];
      return [`.SH ${section}`, ...below([...first, ...parts])];
    }),
    '.SH EXAMPLES',
    ...below(notesOf(program)),
  ];
  return `${lines.join('\n')}\n`;
}

function commandLines(command: Command): readonly string[] {
  const parts = [{ lines: usagesOf(command) }, ...partsOf(command)];
  return [`.SS petstock ${escaped(pathOf(command))}`, ...below(parts)];
}

/** The parts under a heading, which is no paragraph by itself. */
function below([first = '', ...others]: readonly HelpPart[]): readonly string[] {
  const separated = others.flatMap((part) =>
    typeof part === 'object' && 'terms' in part ? partLines(part) : ['.PP', ...partLines(part)],
  );
  return [...partLines(first), ...separated];
}

function partLines(part: HelpPart): readonly string[] {
  if (typeof part === 'string') return prose(part);
  if ('lines' in part) return ['.RS 4', '.nf', ...part.lines.map((line) => guarded(escaped(line))), '.fi', '.RE'];
  return Object.entries(part.terms).flatMap(([term, meaning]) => {
    const shown = escaped(term.trim().replace(/ +/g, ' '));
    return ['.TP', `\\fB${shown}\\fR`, ...(meaning === '' ? ['\\&'] : prose(meaning))];
  });
}

/** A sentence begins a line, as is usual in the source of manuals, and code is bold. */
function prose(text: string): readonly string[] {
  return text.split(/(?<=[.!?]\)?) (?=[A-Z`("-])/).flatMap((sentence) => {
    const parts = sentence.split('`').map(escaped);
    const bold = parts.map((part, index) => (index % 2 === 0 ? part : `\\fB${part}\\fR`)).join('');
    return (bold.match(new RegExp(`\\S.{0,${widest - 1}}(?= |$)|\\S+`, 'g')) ?? []).map(guarded);
  });
}

/** A hyphen stays one that can be copied; what is not ASCII is written by its number. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/[^\0-\x7f]/gu, (character) => {
      const hex = character.codePointAt(0)?.toString(16).toUpperCase() ?? '';
      return `\\[u${hex.padStart(4, '0')}]`;
    });
}

/** A line that begins with a point or an apostrophe would be a request. */
function guarded(line: string): string {
  return /^[.']/.test(line) ? `\\&${line}` : line;
}
