import type { Format, View } from '../../output/view.ts';
import type { ValueKind } from '../completion/command-table.ts';
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
