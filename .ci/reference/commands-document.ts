import type { HelpPart } from '../../src/output/help-text.ts';
import type { CommandFacts } from './command-facts.ts';
import { makeReference, noteBlocks, ownOptions, type Reference, type Topic } from './reference.ts';
import { type TextBlock, textBlocks } from './text-blocks.ts';

/** `docs/commands.md`: every command with its options and examples, as its help has them. */
export async function commandsDocument(): Promise<string> {
  const reference = await makeReference();
  const parts = [
    '# Commands',
    'Made by `npm run docs` of the commands themselves; `petstock help <command>` shows the same.',
    contents(reference),
    '## Global options',
    'Before or after the command.',
    table(['Option', 'Meaning'], terms(reference.program.options)),
    ...reference.commands.flatMap(commandParts),
    ...reference.topics.flatMap(topicParts),
  ];
  return `${parts.join('\n\n')}\n`;
}

function contents({ commands, topics }: Reference): string {
  const lines = commands
    .filter(({ isNoun }) => !isNoun)
    .map(({ path, summary }) => [link(`petstock ${path}`), prose(summary)]);
  const others = ['Global options', ...topics.map(({ title }) => title)].map(link).join(', ');
  return `${table(['Command', 'What it does'], lines)}\n\nBelow them: ${others}.`;
}

/** By the rules of GitHub for the names of headings. */
function link(heading: string): string {
  const anchor = heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');
  return `[${heading}](#${anchor})`;
}

function commandParts(command: CommandFacts): readonly string[] {
  const { path, usages, description, operands, isNoun } = command;
  const heading = `${'#'.repeat(Math.min(4, path.split(' ').length + 1))} petstock ${path}`;
  const options = ownOptions(command);
  const rows = [...operands, ...options].map(({ term, description: meaning }) => [code(term), prose(meaning)]);
  return [
    heading,
    ...(isNoun ? [] : [fence('text', usages)]),
    ...textBlocks(description).map(blockText),
    ...(rows.length === 0 ? [] : [table(['Argument or option', 'Meaning'], rows)]),
    ...noteBlocks(command).map(blockText),
  ];
}

function topicParts({ title, parts }: Topic): readonly string[] {
  return [`## ${title}`, ...parts.map(partText)];
}

function partText(part: HelpPart): string {
  if (typeof part === 'string') return prose(part);
  if ('lines' in part)
    return fence(
      'text',
      part.lines.map((line) => line.replace(/^ {2}/, '')),
    );
  return table(
    ['', ''],
    part.terms.map(([term, meaning]) => [code(term.trim().replace(/ +/g, ' ')), prose(meaning)]),
  );
}

function blockText(block: TextBlock): string {
  if ('text' in block) return prose(block.text);
  const isShell = block.lines.every((line) => /^(petstock|source|#) /.test(line));
  return fence(isShell ? 'sh' : 'text', block.lines);
}

function terms(options: CommandFacts['options']): readonly (readonly string[])[] {
  return options.map(({ term, description }) => [code(term), prose(description)]);
}

function fence(language: string, lines: readonly string[]): string {
  return ['```'.concat(language), ...lines, '```'].join('\n');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function code(text: string): string {
  return `\`${text}\``;
}

/** Escapes what has a meaning in Markdown, except in code. */
function prose(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith('`') ? part : part.replace(/[<>*_[\]\\]/g, '\\$&')))
    .join('');
}
