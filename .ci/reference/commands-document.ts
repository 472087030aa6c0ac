import type { Command } from 'commander';
import type { HelpPart } from '../../src/output/help-text.ts';
import { allCommands, partsOf, pathOf, termsOf, topicParts, usagesOf, withoutIndent } from './reference.ts';

/** `docs/commands.md`: every command with its options and examples, as its help has them. */
export async function commandsDocument(): Promise<string> {
  const [program, ...commands] = await allCommands();
  const topics = topicParts();
  const rows = commands
    .filter((command) => usagesOf(command).length > 0)
    .map((command) => [link(`petstock ${pathOf(command)}`), prose(command.summary())]);
  const others = ['Global options', ...topics.map(({ title }) => title)].map(link).join(', ');
  const parts = [
    '# Commands',
    'Made by `npm run docs` of the commands themselves; `petstock help <command>` shows the same.',
    table(['Command', 'What it does'], rows),
    `Below them: ${others}.`,
    '## Global options',
    'Before or after the command.',
    ...termsOf(program).map((part) => partText(part, ['Option', 'Meaning'])),
    ...commands.flatMap(commandParts),
    ...topics.flatMap(({ title, parts }) => [`## ${title}`, ...parts.map((part) => partText(part))]),
  ];
  return `${parts.join('\n\n')}\n`;
}

function commandParts(command: Command): readonly string[] {
  const path = pathOf(command);
  const usages = usagesOf(command);
  return [
    `${'#'.repeat(Math.min(4, path.split(' ').length + 1))} petstock ${path}`,
    ...(usages.length === 0 ? [] : [fence('text', usages)]),
    ...partsOf(command).map((part) => partText(part, ['Argument or option', 'Meaning'])),
  ];
}

/** @param head of a table of terms */
function partText(part: HelpPart, head: readonly string[] = ['', '']): string {
  if (typeof part === 'string') return prose(part);
  if ('lines' in part) {
    const isShell = part.lines.every((line) => /^(petstock|source|#) /.test(line));
    return fence(isShell ? 'sh' : 'text', withoutIndent(part.lines));
  }
  const code = (term: string) => `\`${term.trim().replace(/ +/g, ' ')}\``;
  return table(
    head,
    Object.entries(part.terms).map(([term, meaning]) => [code(term), prose(meaning)]),
  );
}

/** By the rules of GitHub for the names of headings. */
function link(heading: string): string {
  const anchor = heading.toLowerCase().replace(/[^\w -]/g, '');
  return `[${heading}](#${anchor.replaceAll(' ', '-')})`;
}

function fence(language: string, lines: readonly string[]): string {
  return ['```'.concat(language), ...lines, '```'].join('\n');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Escapes what has a meaning in Markdown, except in code. */
function prose(text: string): string {
  return text.replace(/`[^`]*`|[<>*_[\]\\]/g, (found) => (found.startsWith('`') ? found : `\\${found}`));
}
