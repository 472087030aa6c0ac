import type { Answer } from './complete.ts';
import type { ShellName } from './shell-names.ts';

/** Shells that show whatever they are given; the others choose what fits the word themselves, in the way that is set there. */
const takesAsGiven: ReadonlySet<string> = new Set<ShellName>(['bash', 'powershell']);

/**
 * An answer for a script of `petstock completion`. The first line is `words`, or `files`, a tab, what stands before the name,
 * a tab, and the endings with spaces between them. Each further line is a word, a tab, and what it means.
 *
 * @param current what is typed of the word
 */
export function answerText({ candidates, files }: Answer, shell: string, current: string): string {
  const head = files === undefined ? 'words' : `files\t${files.prefix}\t${files.endings.join(' ')}`;
  const shown = takesAsGiven.has(shell) ? candidates.filter(([word]) => word.startsWith(current)) : candidates;
  return [head, ...shown.map(([word, about]) => `${word}\t${about}`)].map((line) => `${line}\n`).join('');
}
