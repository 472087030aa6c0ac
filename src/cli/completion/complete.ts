import { singleLine } from '../../shared/sanitize.ts';
import type { Known, ShellName, TableCommand, TableOption, ValueKind, Word } from './command-table.ts';

export interface Question {
  /** The words before the current one, without the name of the program. */
  readonly words: readonly string[];
  /** The word being typed, up to the cursor. It may be empty. */
  readonly current: string;
}

export interface Answer {
  readonly candidates: readonly Word[];
  /**
   * Set if a file is possible, too; the shell completes its name. `prefix` is the text before the file's name in the
   * same word, such as `--to=`.
   */
  readonly files?: { readonly prefix: string; readonly endings: readonly string[] } | undefined;
}

/**
 * Returns the words of one kind that are known on this machine, the likeliest first. Never throws.
 * @param typed the beginning of the word
 */
export type Knowledge = (what: Known, typed: string) => Promise<readonly Word[]>;

/**
 * Matches words without a character that a shell may interpret. No other words are suggested, because shells insert
 * suggestions into the command line.
 */
const harmlessWord = /^[\w.,=+/-]+$/;

/** Maximum length of the description of a word, in code units. */
const maxAbout = 72;

export async function complete(
  table: TableCommand,
  { words, current }: Question,
  knowledge: Knowledge,
): Promise<Answer> {
  const reader = new Reader(table);
  for (const word of words) reader.read(word);
  const { value, prefix = '', earlier = [] } = reader.wantedWord(current);
  const typed = current.slice(prefix.length);
  const byOperand = value.kind === 'by-operand' ? new Map(Object.entries(value.values)) : undefined;
  const chosen = byOperand === undefined ? value : byOperand.get(earlier.at(-1) ?? '');
  if (chosen?.kind === 'files') {
    const others = chosen.or === undefined ? [] : await knowledge(chosen.or, typed);
    return { ...answer(others), files: { prefix, endings: chosen.endings } };
  }
  const found = await valueWords(table, chosen, { typed, earlier, knowledge });
  return answer(found.map(([word, about]) => [prefix + word, about]));
}

function answer(words: readonly Word[]): Answer {
  const safe = words.filter(([word]) => harmlessWord.test(word));
  const shortened = (text: string) => (text.length > maxAbout ? `${text.slice(0, maxAbout - 1)}…` : text);
  return { candidates: safe.map(([word, about]) => [word, shortened(singleLine(about).trim())]) };
}

function commandWords({ commands }: TableCommand): readonly Word[] {
  return commands.map(({ name, about }) => [name, about]);
}

interface Asked {
  readonly typed: string;
  /** The operands before the word. */
  readonly earlier: readonly string[];
  readonly knowledge: Knowledge;
}

async function valueWords(table: TableCommand, value: ValueKind | undefined, asked: Asked): Promise<readonly Word[]> {
  if (value === undefined || value.kind === 'files' || value.kind === 'by-operand') return [];
  if (value.kind === 'command') return helpWords(table, asked.earlier, value.topics);
  if (value.isList !== true) return wordsOf(value, asked.typed, asked);
  // `available,pe` is completed to `available,pending`, and no part is suggested twice.
  const start = asked.typed.lastIndexOf(',') + 1;
  const before = asked.typed.slice(0, start);
  const named = before.split(',');
  const found = await wordsOf(value, asked.typed.slice(start), asked);
  return found.flatMap(([word, about]): Word[] => (named.includes(word) ? [] : [[before + word, about]]));
}

async function wordsOf(value: Extract<ValueKind, { isList?: true }>, typed: string, { knowledge, earlier }: Asked) {
  const found = value.kind === 'words' ? value.words : await knowledge(value.kind, typed);
  return found.filter(([word]) => !earlier.includes(word));
}

/**
 * Returns the words that may follow `help`, or `help inventory`: the subcommands and, directly after `help`, the
 * topics.
 */
function helpWords(table: TableCommand, words: readonly string[], topics: readonly Word[]): readonly Word[] {
  let command: TableCommand | undefined = table;
  for (const word of words) command = command?.commands.find(({ name }) => name === word);
  return [...(command === undefined ? [] : commandWords(command)), ...(words.length === 0 ? topics : [])];
}

/**
 * Shells that show every word that they are given. The others filter the words themselves, depending on their settings.
 */
const takesAsGiven: ReadonlySet<string> = new Set<ShellName>(['bash', 'powershell']);

/**
 * Returns the response for a script of `petstock completion`. The first line is `words`, or `files`, a tab, the text
 * before the name, a tab, and the endings separated by spaces. Each further line is a word, a tab, and its description.
 * @param current the beginning of the word
 */
export function answerText({ candidates, files }: Answer, shell: string, current: string): string {
  const head = files === undefined ? 'words' : `files\t${files.prefix}\t${files.endings.join(' ')}`;
  const shown = takesAsGiven.has(shell) ? candidates.filter(([word]) => word.startsWith(current)) : candidates;
  return [head, ...shown.map(([word, about]) => `${word}\t${about}`)].map((line) => `${line}\n`).join('');
}

interface WantedWord {
  readonly value: ValueKind;
  /** The text before the value in the same word: `--env=`. */
  readonly prefix?: string;
  /** The operands before the word. */
  readonly earlier?: readonly string[];
}

/** Parses a command line up to its last word, like Commander. */
class Reader {
  readonly #program: TableCommand;
  #command: TableCommand;
  /** The options of the command and its parents. */
  #options: TableOption[];
  #operands: string[] = [];
  readonly #given = new Set<TableOption>();
  /** The option whose value comes next. */
  #open: TableOption | undefined;
  #isAfterDashes = false;

  constructor(program: TableCommand) {
    this.#program = program;
    this.#command = program;
    this.#options = [...program.options];
  }

  read(word: string): void {
    const isOption = !this.#isAfterDashes && word.startsWith('-') && word !== '-';
    if (this.#open !== undefined) this.#open = undefined;
    else if (isOption) this.#readOption(word);
    else this.#readOperand(word);
  }

  #readOption(word: string): void {
    if (word === '--') {
      this.#isAfterDashes = true;
      return;
    }
    const { option, value } = this.#splitOption(word);
    if (option === undefined) return;
    this.#given.add(option);
    if (option.value !== undefined && value === undefined) this.#open = option;
  }

  #readOperand(word: string): void {
    const child = this.#operands.length === 0 ? this.#command.commands.find(({ name }) => name === word) : undefined;
    if (child === undefined) {
      this.#operands.push(word);
      return;
    }
    this.#command = child;
    this.#options = [...child.options, ...this.#options];
  }

  /**
   * Returns the option of a word, and its value if it has one: `--env=sandbox`, `-esandbox`; for `-qy` the last option.
   */
  #splitOption(word: string): { readonly option: TableOption | undefined; readonly value: string | undefined } {
    if (word.startsWith('--')) {
      const [flag = '', ...values] = word.split('=');
      return { option: this.#find(flag), value: values.length === 0 ? undefined : values.join('=') };
    }
    for (let at = 1; at < word.length; at += 1) {
      const option = this.#find(`-${word.charAt(at)}`);
      const rest = word.slice(at + 1);
      if (option === undefined || rest === '') return { option, value: undefined };
      if (option.value !== undefined) return { option, value: rest };
      this.#given.add(option);
    }
    return { option: undefined, value: undefined };
  }

  #find(flag: string): TableOption | undefined {
    return this.#options.find(({ flags }) => flags.includes(flag));
  }

  wantedWord(current: string): WantedWord {
    const open = this.#open;
    const isOption = !this.#isAfterDashes && current.startsWith('-');
    if (open?.value !== undefined) return { value: open.value };
    if (isOption) return this.#wantedOption(current);
    if (this.#operands.length === 0 && this.#command.commands.length > 0) {
      return { value: { kind: 'words', words: commandWords(this.#command) } };
    }
    const { operands } = this.#command;
    const last = operands.at(-1);
    const operand = operands[this.#operands.length] ?? (last?.isVariadic ? last : undefined);
    return operand === undefined ? this.#anyOption() : { value: operand.value, earlier: this.#operands };
  }

  #wantedOption(current: string): WantedWord {
    const { option, value } = this.#splitOption(current);
    if (option?.value === undefined || value === undefined) return this.#anyOption();
    return { value: option.value, prefix: current.slice(0, current.length - value.length) };
  }

  /** Returns the options that can still be given. A command's own option takes precedence over the program's. */
  #anyOption(): WantedWord {
    const own = this.#options.filter((option, index) => {
      const [first = ''] = option.flags;
      return this.#options.findIndex(({ flags }) => flags.includes(first)) === index;
    });
    const [program, command] = [this.#program, this.#command];
    // All commands take the global options, so these come after the command's own.
    const rank = (option: TableOption) => (command !== program && program.options.includes(option) ? 1 : 0);
    const free = own
      .filter((option) => option.isRepeatable === true || !this.#given.has(option))
      .sort((one, other) => rank(one) - rank(other));
    const words = free.map(({ flags, about }): Word => [flags.at(-1) ?? '', about]);
    return { value: { kind: 'words', words } };
  }
}
