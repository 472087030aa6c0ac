import type { HelpPart } from '../../src/output/help-text.ts';
import { version } from '../../src/shared/version.ts';
import type { CommandFacts, OptionFacts } from './command-facts.ts';
import { makeReference, noteBlocks, ownOptions, type Topic } from './reference.ts';
import { type TextBlock, textBlocks } from './text-blocks.ts';

/** Of a line of the source, in bytes: a convention that `mandoc -Tlint` checks. */
const widest = 78;

/** The sections of manuals have names of their own. */
const sectionNames: Readonly<Record<string, string>> = { 'exit-codes': 'EXIT STATUS' };

/**
 * `man petstock`, in the macros of man(7), which every reader of manuals knows.
 * @param date of the manual: `2026-01-15`
 */
export async function manPage(date: string): Promise<string> {
  const { program, commands, topics } = await makeReference();
  const lines = [
    `.TH PETSTOCK 1 ${date} "petstock ${version}" "petstock"`,
    '.SH NAME',
    'petstock \\- look at and adjust the stock of a pet store',
    '.SH SYNOPSIS',
    '.B petstock',
    '.RI [ options ]',
    '.I command',
    '.RI [ arguments ]',
    '.SH DESCRIPTION',
    ...prose(program.description),
    '.SH GLOBAL OPTIONS',
    'Before or after the command.',
    ...program.options.flatMap(optionLines),
    '.SH COMMANDS',
    ...commands.filter(({ isNoun }) => !isNoun).flatMap(commandLines),
    ...topics.flatMap(topicLines),
    '.SH EXAMPLES',
    ...noteBlocks(program).flatMap((block, index) => blockLines(block, index > 0)),
  ];
  return `${lines.join('\n')}\n`;
}

function commandLines(command: CommandFacts): readonly string[] {
  const { usages, description, operands } = command;
  return [
    `.SS petstock ${escaped(command.path)}`,
    ...literal(usages),
    ...textBlocks(description).flatMap((block) => blockLines(block, true)),
    ...operands.flatMap(({ term, description: meaning }) => termLines(term, meaning)),
    ...ownOptions(command).flatMap(optionLines),
    ...noteBlocks(command).flatMap((block) => blockLines(block, true)),
  ];
}

function topicLines({ name, title, parts }: Topic): readonly string[] {
  const section = sectionNames[name] ?? name.toUpperCase();
  const first = section === title.toUpperCase() || name in sectionNames ? [] : [`${escaped(title)}.`];
  const body = parts.flatMap((part, index) => partLines(part, index > 0 || first.length > 0));
  return [`.SH ${section}`, ...first, ...body];
}

/** @param isBelow something stands before it in its section */
function partLines(part: HelpPart, isBelow: boolean): readonly string[] {
  if (typeof part === 'string') return blockLines({ text: part }, isBelow);
  if ('lines' in part) return blockLines(part, isBelow);
  return part.terms.flatMap(([term, meaning]) => termLines(term.trim().replace(/ +/g, ' '), meaning));
}

function optionLines({ term, description }: OptionFacts): readonly string[] {
  return termLines(term, description);
}

function termLines(term: string, meaning: string): readonly string[] {
  return ['.TP', `\\fB${escaped(term)}\\fR`, ...(meaning === '' ? ['\\&'] : prose(meaning))];
}

function blockLines(block: TextBlock, isBelow: boolean): readonly string[] {
  const start = isBelow ? ['.PP'] : [];
  return 'text' in block ? [...start, ...prose(block.text)] : [...start, ...literal(block.lines)];
}

function literal(lines: readonly string[]): readonly string[] {
  return ['.RS 4', '.nf', ...lines.map((line) => guarded(escaped(line))), '.fi', '.RE'];
}

/** A sentence begins a line, as is usual in the source of manuals, and code is bold. */
function prose(text: string): readonly string[] {
  return text.split(/(?<=[.!?]\)?) (?=[A-Z`("-])/).flatMap((sentence) => {
    const parts = sentence
      .split('`')
      .map((part, index) => (index % 2 === 0 ? escaped(part) : `\\fB${escaped(part)}\\fR`));
    return wrapped(parts.join('')).map(guarded);
  });
}

function wrapped(text: string): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length >= widest) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** A hyphen stays one that can be copied; what is not ASCII is written by its number. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/[^\0-\x7f]/gu, (character) => `\\[u${hex(character)}]`);
}

function hex(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
}

/** A line that begins with a point or an apostrophe would be a request. */
function guarded(line: string): string {
  return /^[.']/.test(line) ? `\\&${line}` : line;
}
