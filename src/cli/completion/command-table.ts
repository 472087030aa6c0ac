/**
 * The parts of a command that completion needs. The build generates a table of all commands from their definitions, as
 * JSON.
 */
export interface TableCommand {
  readonly name: string;
  readonly about: string;
  readonly options: readonly TableOption[];
  readonly operands: readonly TableOperand[];
  readonly commands: readonly TableCommand[];
}

export interface TableOption {
  /** The forms of the option, such as `-e` and `--env`. */
  readonly flags: readonly string[];
  readonly about: string;
  /** The kind of the option's value; absent if it takes none. */
  readonly value?: ValueKind;
  readonly isRepeatable?: true;
}

export interface TableOperand {
  readonly value: ValueKind;
  readonly isVariadic?: true;
}

/** The words that are possible at a position of the command line. */
export type ValueKind =
  /**
   * One of these words; the list is empty if only the user knows the value. With `isList`, several of them, separated
   * by commas.
   */
  | { readonly kind: 'words'; readonly words: readonly Word[]; readonly isList?: true }
  /**
   * A file. If `endings` is not empty, files with one of them, such as `.csv`, are preferred. `or` is a source of other
   * words that are possible there, too.
   */
  | { readonly kind: 'files'; readonly endings: readonly string[]; readonly or?: Known }
  /** A word from a source on this machine. */
  | { readonly kind: Known; readonly isList?: true }
  /** A word that depends on the previous operand, such as the value of a setting. */
  | { readonly kind: 'by-operand'; readonly values: Readonly<Record<string, ValueKind>> }
  /** The words of a command, or one of the topics. */
  | { readonly kind: 'command'; readonly topics: readonly Word[] };

/**
 * The sources of words. Incomplete runs can be resumed. Targets are environments, alone or with a store:
 * `north/staging`.
 */
export type Known = 'runs' | 'incomplete-runs' | 'pets' | 'stores' | 'targets';

export type Word = readonly [word: string, about: string];

export const shellNames = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type ShellName = (typeof shellNames)[number];
