import path from 'node:path';
import { shellWord } from '../shared/hint.ts';
import { type Parsed, parsed, problem } from '../shared/parsed.ts';

/**
 * Splits a command into words at white space. Quotes and backslashes work as in a shell, but nothing is expanded. A
 * backslash before a character without a special meaning stays, for Windows paths.
 * @param useShell how to run the command in a shell instead, for the message
 * @returns a problem if a quote is not closed, there is no word, or an unquoted character needs a shell
 */
export function parseCommandLine(text: string, useShell = 'add --shell'): Parsed<readonly string[]> {
  const words: string[] = [];
  let rest = text.trimStart();
  while (rest !== '') {
    let word = '';
    if (/^[~#]/.test(rest)) return shellProblem(rest, useShell);
    for (;;) {
      const part = partPattern.exec(rest);
      if (part === null) break;
      rest = rest.slice(part[0].length);
      word += unquote(part[0]);
    }
    if (/^["']/.test(rest)) return problem(`a quote is not closed: ${rest.slice(0, 1)}`);
    if (/^\S/.test(rest)) return shellProblem(rest, useShell);
    words.push(word);
    rest = rest.trimStart();
  }
  return words[0] ? parsed(words) : problem('it names no program');
}

/**
 * Returns a command as it is stored: a relative path of its program is made absolute, so that it always runs the same
 * program. A name without a slash stays; it is looked up in PATH.
 */
export function absoluteCommand(text: string): Parsed<string> {
  const words = parseCommandLine(text);
  if (!words.ok) return words;
  const [program = '', ...args] = words.value;
  if (!hasFolder(program) || path.isAbsolute(program)) return parsed(text);
  return parsed([path.resolve(program), ...args].map(shellWord).join(' '));
}

/** Like `absoluteCommand`, for a command that a shell runs. Only its first program can be recognized. */
export function absoluteShellCommand(text: string): string {
  const [typed = ''] = /^[\w./+-]+/.exec(text.trimStart()) ?? [];
  if (!hasFolder(typed) || path.isAbsolute(typed)) return text;
  return shellWord(path.resolve(typed)) + text.trimStart().slice(typed.length);
}

/** Reports whether a program is given as a path instead of looked up in PATH. */
export function hasFolder(program: string): boolean {
  return program.includes('/') || program.includes(path.sep);
}

function shellProblem(rest: string, useShell: string): Parsed<never> {
  return problem(
    `"${rest.charAt(0)}" has a special meaning in a shell: put it in quotes, or ${useShell} to run the command in a shell`,
  );
}

/** Matches text in single or double quotes, a backslash with its character, or text that no shell interprets. */
const partPattern = /^(?:'[^']*'|"(?:\\[\s\S]|[^"\\])*"|\\[\s"'\\|&;<>()$`*?[\]#~{}!]|\\|[^\s"'\\|&;<>()$`*?[\]{}!]+)/;

function unquote(part: string): string {
  if (part.startsWith("'")) return part.slice(1, -1);
  if (part.startsWith('"')) return part.slice(1, -1).replace(/\\(["\\$`])/g, '$1');
  return part.length === 2 && part.startsWith('\\') ? part.slice(1) : part;
}
