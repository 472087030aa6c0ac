import { fstatSync, statSync, writeSync } from 'node:fs';
import { builtHelp } from './built-help.ts';

/** What is no terminal is as wide as `plain`; no help is wider than `widest`. */
const widths = { plain: 80, widest: 100 };

/**
 * Shows help that the build has made, which takes a small part of the time that Commander takes to make it.
 *
 * @param words the command line
 * @returns false where nothing was shown: the words ask for something else, the terminal has another width, or stdout takes
 * nothing. Then the program knows what to do
 */
export async function showQuickHelp(words: readonly string[]): Promise<boolean> {
  const questions = questionsOf(words);
  if (questions.length === 0) return false;
  const built = await builtHelp[columns()]?.();
  if (built === undefined) return false;
  const question = questions.find((key) => Object.hasOwn(built.texts, key));
  return question !== undefined && write(built.texts[question] ?? '');
}

/**
 * What a command line may ask for, likeliest first: `inventory list` of `inventory list --help` and of `help inventory list`.
 * Nothing of one that has anything else on it.
 */
function questionsOf(words: readonly string[]): readonly string[] {
  const isAsked = words.at(-1) === '--help' || words.at(-1) === '-h';
  const named = isAsked ? words.slice(0, -1) : words[0] === 'help' ? words.slice(1) : words;
  if (named.length === words.length && words.length > 0) return [];
  if (!named.every((word) => /^[a-z][a-z-]*$/.test(word))) return [];
  const command = named.join(' ');
  return isAsked || named.length !== 1 ? [command] : [`topic:${command}`, command];
}

/** Of stdout. Node takes 2 ms to open it, so it is not opened where it can't be a terminal. */
function columns(): number {
  const stdout = fstatSync(1);
  const isNull = stdout.rdev !== 0 && stdout.rdev === statSync('/dev/null', { throwIfNoEntry: false })?.rdev;
  if (isNull || stdout.isFIFO() || stdout.isFile() || stdout.isSocket()) return widths.plain;
  return Math.min((process.stdout.isTTY && process.stdout.columns) || widths.plain, widths.widest);
}

/** @returns false where stdout takes none of it */
function write(text: string): boolean {
  const whole = Buffer.from(text);
  let rest = whole;
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(1, rest));
  } catch {
    if (rest.length === whole.length) return false;
    // A pipe that is full now, or whose reader has left.
    process.stdout.on('error', () => {}).write(rest);
  }
  return true;
}
