import { blanks, padEnd, visibleWidth, wrap } from './text-width.ts';

/** A part of a help text: a paragraph that is wrapped, lines that are not, or terms with their meanings. */
export type HelpPart =
  | string
  | { readonly lines: readonly string[] }
  | { readonly terms: Readonly<Record<string, string>>; readonly indent?: number };

/** Meanings with fewer columns than this are printed below their terms. */
const narrowMeaning = 30;

/** Returns the text of the parts, with a blank line between them. */
export function helpText(parts: readonly HelpPart[], width: number): string {
  return `${parts.map((part) => partLines(part, width).join('\n')).join('\n\n')}\n`;
}

function partLines(part: HelpPart, width: number): readonly string[] {
  if (typeof part === 'string') return wrap(part, width);
  if ('lines' in part) return part.lines;
  const indent = part.indent ?? 2;
  const terms = Object.entries(part.terms);
  const termWidth = Math.max(...terms.map(([term]) => visibleWidth(term)));
  const start = indent + termWidth + 2;
  if (width - start < narrowMeaning) {
    return terms.flatMap(([term, meaning]) => [
      blanks(indent) + term,
      ...wrap(meaning, width - indent - 2).map((line) => blanks(indent + 2) + line),
    ]);
  }
  return terms.flatMap(([term, meaning]) =>
    wrap(meaning, width - start).map((line, index) =>
      index === 0 ? `${blanks(indent)}${padEnd(term, termWidth)}  ${line}`.trimEnd() : blanks(start) + line,
    ),
  );
}

/**
 * Wraps lines that are too long, with their indentation. Command lines and lines that begin with `#` stay whole, so
 * that they can be copied.
 */
export function wrapLong(text: string, width: number): string {
  return text
    .split('\n')
    .flatMap((line) => {
      const indent = line.length - line.trimStart().length;
      if (visibleWidth(line) <= width || /^ *(petstock|#) /.test(line)) return [line];
      return wrap(line.trimStart(), width - indent).map((part) => blanks(indent) + part);
    })
    .join('\n');
}
