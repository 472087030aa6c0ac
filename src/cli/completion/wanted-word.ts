import type { TableCommand, TableOption, ValueKind } from './table.ts';

/** The kind of word that is wanted at the end of a command line. */
export type WantedWord =
  /** @property prefix what stands before the value in the same word: `--env=` */
  | { readonly asks: 'value'; readonly value: ValueKind; readonly prefix: string; readonly earlier: readonly string[] }
  | { readonly asks: 'command'; readonly command: TableCommand; readonly options: readonly TableOption[] }
  | { readonly asks: 'option'; readonly options: readonly TableOption[] };

/**
 * Reads a command line up to its last word, as Commander would.
 * @param words those before the last, without the name of the program
 * @param current the last word, as far as it is typed
 */
export function wantedWord(table: TableCommand, words: readonly string[], current: string): WantedWord {
  const reader = new Reader(table);
  for (const word of words) reader.read(word);
  return reader.wantedWord(current);
}

class Reader {
  readonly #program: TableCommand;
  #command: TableCommand;
  /** Of the command and those above it: options of both are taken. */
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
    const open = this.#open;
    const isOption = !this.#isAfterDashes && word.startsWith('-') && word !== '-';
    // A variadic option has its first value, whatever that looks like, and then all up to the next option.
    if (open !== undefined && !(open.isVariadic && this.#hasValue && isOption)) {
      this.#hasValue = true;
      if (!open.isVariadic) this.#open = undefined;
    } else if (isOption) this.#readOption(word);
    else this.#readOperand(word);
  }

  #hasValue = false;

  #readOption(word: string): void {
    this.#open = undefined;
    if (word === '--') {
      this.#isAfterDashes = true;
      return;
    }
    const { option, value } = this.#splitOption(word);
    if (option === undefined) return;
    this.#given.add(option);
    this.#hasValue = value !== undefined;
    if (option.value !== undefined && (value === undefined || option.isVariadic)) this.#open = option;
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

  /** The option of a word, and its value if it has one: `--env=sandbox`, `-esandbox`; of `-qy` the last. */
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
    if (open?.value !== undefined && !(open.isVariadic && this.#hasValue && isOption)) {
      return { asks: 'value', value: open.value, prefix: '', earlier: [] };
    }
    if (isOption) return this.#wantedOption(current);
    if (this.#operands.length === 0 && this.#command.commands.length > 0) {
      return { asks: 'command', command: this.#command, options: this.#freeOptions() };
    }
    const { operands } = this.#command;
    const last = operands.at(-1);
    const operand = operands[this.#operands.length] ?? (last?.isVariadic ? last : undefined);
    if (operand === undefined) return { asks: 'option', options: this.#freeOptions() };
    return { asks: 'value', value: operand.value, prefix: '', earlier: this.#operands };
  }

  #wantedOption(current: string): WantedWord {
    const { option, value } = this.#splitOption(current);
    if (option?.value === undefined || value === undefined) return { asks: 'option', options: this.#freeOptions() };
    const prefix = current.slice(0, current.length - value.length);
    return { asks: 'value', value: option.value, prefix, earlier: [] };
  }

  /** Those that can still be given. Where a command names an option as the program does, the command's. */
  #freeOptions(): readonly TableOption[] {
    const own = this.#options.filter((option, index) => {
      const [first = ''] = option.flags;
      return this.#options.findIndex(({ flags }) => flags.includes(first)) === index;
    });
    const [program, command] = [this.#program, this.#command];
    // All commands take the global options, which would hide its own: they come after them.
    const rank = (option: TableOption) => (command !== program && program.options.includes(option) ? 1 : 0);
    return own
      .filter((option) => option.isRepeatable === true || !this.#given.has(option))
      .sort((one, other) => rank(one) - rank(other));
  }
}
