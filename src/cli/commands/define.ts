import { type Command, Option } from 'commander';
import { bold } from '../../output/terminal.ts';
import type { Action, CommandTraits, Run } from '../invocation/invocation.ts';

/** Adds to a command the parts that only its own help and its action need. */
export type Define = (command: Command & { traits: CommandTraits; invalid: unknown }, run: Run) => void;

/**
 * An option for Commander. `read` converts a value; `earlier` is what it returned for the previous value of a repeated
 * option.
 */
export type OptionRow = readonly [flags: string, about: string, read?: (text: string, earlier: never) => unknown];

/** Returns the rows unchanged. Their exact type determines the parsed values: `OptionsOf<typeof rows>`. */
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
type ValueOf<Row extends OptionRow> = Row[2] extends (text: string, earlier: never) => infer Value
  ? Value
  : Row[0] extends `${string}...>`
    ? readonly string[]
    : Row[0] extends `${string}>`
      ? string
      : boolean;

export type Example = readonly [command: string, does?: string];

export interface Definition<Rows extends readonly OptionRow[]> extends CommandTraits {
  /** The operands in the usage line. Default: as Commander shows them. */
  readonly usage?: string;
  /** The description of each operand, by its name: `'<petId>'`, `'[file]'`. The operands are in this order. */
  readonly operands?: Readonly<Record<string, string>>;
  readonly description: string;
  readonly options?: Rows;
  /** The text before the examples; `after` is the text after them. */
  readonly before?: string;
  readonly examples: readonly Example[];
  readonly after?: string;
  readonly action: Action<OptionsOf<Rows>>;
}

export function define<const Rows extends readonly OptionRow[] = []>(definition: Definition<Rows>): Define {
  const { usage, operands = {}, description, options = [], before = '', examples, after = '', action } = definition;
  return (command, run) => {
    command.traits = definition;
    if (usage !== undefined) command.usage(usage);
    for (const [operand, about] of Object.entries(operands)) command.argument(operand, about);
    for (const [flags, about, read] of options) {
      const option = new Option(flags, about);
      if (read !== undefined) option.argParser(keepingError(command, read));
      command.addOption(option);
    }
    command
      .description(description)
      .addHelpText('after', `${before}${examplesText(examples)}${after}`)
      .action(run(action));
  };
}

export interface VerbOutline {
  /** The name and the operands, as shown in the help of the parent: `set <petId> <quantity>`. */
  readonly usage: string;
  readonly summary: string;
  load(): Promise<Define>;
  /** The heading under which the program's help lists the command. */
  readonly group?: string | undefined;
}

export interface NounOutline {
  readonly usage: string;
  readonly summary: string;
  readonly description: string;
  readonly examples?: readonly Example[];
  /** The traits of all subcommands. */
  readonly traits?: CommandTraits;
  readonly commands: readonly Outline[];
  readonly group?: string | undefined;
}

export type Outline = VerbOutline | NounOutline;

export function outlineName({ usage }: Outline): string {
  return usage.replace(/ .*/, '');
}

/**
 * Creates a parser that keeps its first error until all options are read, because `--json` and `--log` determine how
 * the error is shown.
 */
function keepingError(command: { invalid: unknown }, read: NonNullable<OptionRow[2]>) {
  return (text: string, earlier: unknown): unknown => {
    try {
      return read(text, earlier as never);
    } catch (error) {
      command.invalid ??= error;
      return earlier;
    }
  };
}

export function examplesText(lines: readonly Example[]): string {
  const shown = lines.map(([command, does]) => (does === undefined ? `  ${command}` : `  # ${does}\n  ${command}`));
  return ['', bold('Examples:'), ...shown].join('\n');
}

/** Parses a value of a repeatable option: appends it to the earlier values. */
export function collect(text: string, earlier: readonly string[] | undefined): readonly string[] {
  return [...(earlier ?? []), text];
}

/** The option of commands that print a list; `results.print` applies it. */
export const fieldsOption = ['--fields <f,…>', 'only these columns, in this order', collect] as const;
