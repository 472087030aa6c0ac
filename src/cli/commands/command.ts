import { type Parsed, parseQuantity } from '../../inventory/items.ts';
import type { Format, View } from '../../output/view.ts';
import { UsageError } from '../../shared/errors.ts';
import { capitalized } from '../../shared/parsed.ts';
import type { Known, ValueKind } from '../completion/command-table.ts';
import type { Invocation } from '../invocation/invocation.ts';

/** A heading in the help of the program. */
export type Group = 'Stock' | 'Service and setup' | 'Tools';

export type Example = readonly [command: string, does?: string];

/** The value of an option or an operand: how it is read, and what completion suggests. */
export interface Kind<Value> {
  readonly suggests: ValueKind;
  /**
   * Reads the text of an option.
   * @param option its name, such as `--limit`, for messages
   * @throws UsageError for an invalid text
   */
  read(text: string, option: string): Value;
}

/** The kind of an option that may be given several times. */
export interface RepeatedKind<Value> extends Kind<Value> {
  readonly isRepeated: true;
  /** Whether each text has several values, separated by commas. */
  readonly isList?: true;
}

/** An option. Without a kind its value is any text; completion then suggests what its placeholder names. */
export type OptionRow = readonly [flags: string, about: string, kind?: Kind<unknown> | RepeatedKind<unknown>];

/** Returns the rows unchanged. Their exact type determines the values: `OptionsOf<typeof rows>`. */
export function optionRows<const Rows extends readonly OptionRow[]>(...rows: Rows): Rows {
  return rows;
}

/** The values of options by their names: `minQuantity` of `--min-quantity <n>`, and `pager` of `--no-pager`. */
export type OptionsOf<Rows extends readonly OptionRow[]> = {
  readonly [Row in Rows[number] as NameOf<Row[0]>]?: ValueOf<Row>;
};
type NameOf<Flags extends string> = Flags extends `${string}--no-${infer Rest}`
  ? CamelCase<FirstWord<Rest>>
  : Flags extends `${string}--${infer Rest}`
    ? CamelCase<FirstWord<Rest>>
    : never;
type FirstWord<Text extends string> = Text extends `${infer Word} ${string}` ? Word : Text;
type CamelCase<Text extends string> = Text extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Text;
type ValueOf<Row extends OptionRow> =
  Row[2] extends RepeatedKind<infer Value>
    ? readonly Value[]
    : Row[2] extends Kind<infer Value>
      ? Value
      : Row[0] extends `${string}>`
        ? string
        : boolean;

/** An operand: its description, and its kind unless its name tells what completion suggests. */
export type Operand = string | readonly [about: string, kind: Kind<unknown>];

/**
 * A command, or a noun with commands below it: what help, completion and the documents show of it, what it needs, and
 * what it does.
 */
export interface Command<Rows extends readonly OptionRow[] = readonly OptionRow[]> {
  readonly summary: string;
  /** The heading in the help of the program, for a command that is below no other. */
  readonly group?: Group;
  /** The options and operands in the usage line. Default: those that are declared. */
  readonly usage?: string;
  /** The operands, in their order, by their names: `'<petId>'`, `'[file]'`. */
  readonly operands?: Readonly<Record<string, Operand>>;
  readonly description: string;
  readonly options?: Rows;
  /** The text before the examples; `after` is the text after them. */
  readonly before?: string;
  readonly examples?: readonly Example[];
  readonly after?: string;
  /** Whether a damaged configuration stops it. Default: as for the command above it, or else true. */
  readonly needsConfig?: boolean;
  /** The formats of the result; empty if the command prints its own text. Default: all except `html`. */
  readonly formats?: readonly Format[];
  /** Whether words that it does not take are passed to it as operands, because it refuses them itself. */
  readonly takesAnyWord?: boolean;
  readonly commands?: Commands;
  /**
   * Does what the command is for, and yields what it shows. Absent for a noun, whose help is shown, and for `help`.
   */
  run?(
    invocation: Invocation,
    options: OptionsOf<Rows>,
    ...operands: string[]
  ): Promise<void> | AsyncGenerator<View, void>;
}

/** Commands by their names. Those in files of their own are loaded when they run, or when help shows them. */
export type Commands = Readonly<Record<string, Command | (() => Promise<Command>)>>;

/** Returns the command unchanged; the types of its options come from their rows. */
export function define<const Rows extends readonly OptionRow[] = []>(command: Command<Rows>): Command {
  return command;
}

/** Returns the command with a name; undefined if there is none. */
export async function commandNamed(name: string, commands: Commands = {}): Promise<Command | undefined> {
  const found = Object.hasOwn(commands, name) ? commands[name] : undefined;
  return typeof found === 'function' ? found() : found;
}

/** Returns the commands below a command, in their order. */
export function commandsBelow({ commands = {} }: Pick<Command, 'commands'>) {
  return Promise.all(
    Object.entries(commands).map(async ([name, entry]) => {
      return { name, command: typeof entry === 'function' ? await entry() : entry };
    }),
  );
}

const asTyped = (text: string) => text;
const nothing: ValueKind = { kind: 'words', words: [] };

/** Any text. */
export const anyText: Kind<string> = { suggests: nothing, read: asTyped };

/** A kind whose text the command reads itself, with suggestions. */
export function suggesting(suggests: ValueKind): Kind<string> {
  return { suggests, read: asTyped };
}

/** Text for which these words are suggested. */
export function words(names: readonly string[]): Kind<string> {
  return suggesting({ kind: 'words', words: names.map((name) => [name, '']) });
}

/** One of these words. */
export function oneOf<const Word extends string>(names: readonly Word[]): Kind<Word> {
  return {
    ...words(names),
    read: (text, option) => {
      const word = names.find((known) => known === text);
      if (word !== undefined) return word;
      throw new UsageError(`${option} takes ${names.join(', ')}, not "${text}"`);
    },
  };
}

/** The name of a file; files with these endings are suggested first. */
export function files(...endings: readonly string[]): Kind<string> {
  return suggesting({ kind: 'files', endings });
}

/** Words from a source on this machine. */
export function known(source: Known): Kind<string> {
  return suggesting({ kind: source });
}

/** A quantity of stock. */
export const quantity: Kind<number> = {
  suggests: nothing,
  read: (text, option) => required(parseQuantity(text), option),
};

/** A whole number from 0. */
export const wholeNumber: Kind<number> = {
  suggests: nothing,
  read: (text, option) => {
    if (/^\d{1,15}$/.test(text)) return Number(text);
    throw new UsageError(`${option} takes a whole number from 0, such as 100, not "${text}"`);
  },
};

/** The kind of an option that may be given several times. */
export function repeated<Value>(kind: Kind<Value>): RepeatedKind<Value> {
  return { ...kind, isRepeated: true };
}

/** The kind of an option with values that are separated by commas, or by repeating it. */
export function listOf<Value>(kind: Kind<Value>): RepeatedKind<Value> {
  return { ...kind, suggests: asList(kind.suggests), isRepeated: true, isList: true };
}

function asList(suggests: ValueKind): ValueKind {
  return suggests.kind === 'files' || suggests.kind === 'command' || suggests.kind === 'by-operand'
    ? suggests
    : { ...suggests, isList: true };
}

/** What completion suggests for options and operands without a kind, by their placeholder. */
export const suggestedByPlaceholder: Readonly<Record<string, ValueKind>> = {
  run: { kind: 'runs' },
  petId: { kind: 'pets' },
  store: { kind: 'stores' },
  file: { kind: 'files', endings: [] },
  path: { kind: 'files', endings: [] },
};

/**
 * Returns the value, or throws a UsageError with its problem.
 * @param what the option that begins the message, such as `--limit`; undefined if the problem already mentions it
 */
export function required<T>(parsed: Parsed<T>, what?: string): T {
  if (parsed.ok) return parsed.value;
  const { problem } = parsed;
  const message = what === undefined ? capitalized(problem) : `${what}: ${problem}`;
  throw new UsageError(`${message}.`);
}

/**
 * Returns the option of commands that print a list; `results.print` applies it.
 * @param names the fields that completion suggests
 */
export function fieldsOptionOf(names: readonly string[], about = 'only these columns, in this order') {
  return ['--fields <f,…>', about, fieldsOf(names)] as const;
}

export const fieldsOption = fieldsOptionOf([]);

/** The values of `--fields`, which are not split: each field may be named once in a value. */
function fieldsOf(names: readonly string[]): RepeatedKind<string> {
  return repeated(suggesting(asList(words(names).suggests)));
}
