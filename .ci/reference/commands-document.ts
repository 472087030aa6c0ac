import type { HelpPart } from '../../src/output/help-text.ts';
import { reference } from './reference.ts';

/** Returns the text of `docs/reference/commands.md`: every command with its options and examples, from its help. */
export async function commandsDocument(): Promise<string> {
  const { globalOptions, commands, topics } = await reference();
  const global = { title: 'Global options', depth: 2, parts: globalOptions };
  const parts = [
    '# Commands',
    'Made by `npm run docs` of the commands themselves; `petstock help <command>` shows the same.',
    table(commands.map(({ title, summary }) => [link(title), prose(summary)])),
    wrapped(`Below them: ${[global, ...topics].map(({ title }) => link(title)).join(', ')}.`),
    ...[global, ...commands, ...topics].flatMap(({ title, depth, parts }) => [
      `${'#'.repeat(depth)} ${title}`,
      ...parts.map(partText),
    ]),
  ];
  return `${parts.join('\n\n')}\n`;
}

function partText(part: HelpPart): string {
  if (typeof part === 'string') return wrapped(prose(part));
  if ('lines' in part) {
    const isShell = part.lines.every((line) => /^(petstock|source|#) /.test(line));
    return ['```'.concat(isShell ? 'sh' : 'text'), ...part.lines, '```'].join('\n');
  }
  const code = (term: string) => `\`${term.trim().replace(/ +/g, ' ')}\``;
  return table(Object.entries(part.terms).map(([term, meaning]) => [code(term), prose(meaning)]));
}

/** Returns a link to a heading, with the anchor that GitHub gives it. */
function link(heading: string): string {
  const anchor = heading.toLowerCase().replace(/[^\w -]/g, '');
  return `[${heading}](#${anchor.replaceAll(' ', '-')})`;
}

function table(rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [['', 'Meaning'], ['---', '---'], ...rows].map(line).join('\n');
}

/** Breaks lines after at most 120 characters, but not inside code. */
function wrapped(text: string): string {
  const lines: string[] = [];
  for (const word of text.match(/(?:`[^`]*`|\S)+/g) ?? []) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && longer.length <= 120) lines.splice(-1, 1, longer);
    else lines.push(word);
  }
  return lines.join('\n');
}

/** Escapes the characters that have a meaning in Markdown, except in code. */
function prose(text: string): string {
  return text.replace(/`[^`]*`|[<>*_[\]\\]/g, (found) => (found.startsWith('`') ? found : `\\${found}`));
}
