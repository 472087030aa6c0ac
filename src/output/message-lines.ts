import { blanks, visibleWidth, wrap } from './text-width.ts';

/**
 * A message for a terminal of so many columns, broken between words, each line under the beginning of the first. A command
 * that ends the message is never broken, so that it can be copied: it has a line of its own instead.
 * @param text one line without paint
 */
export function messageLines(text: string, width: number): string[] {
  if (visibleWidth(text) <= width) return [text];
  const indent = blanks(text.length - text.trimStart().length);
  const [, words = text, command] = /^(.*?:) (petstock .*)$/.exec(text) ?? [];
  const lines = wrap(words.trimStart(), width - indent.length);
  return [...lines, ...(command === undefined ? [] : [command])].map((line) => indent + line);
}
