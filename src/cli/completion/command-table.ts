/** Everything that completion knows about the commands. The build generates it from the commands, as JSON. */
export interface TableCommand {
  readonly name: string;
  readonly about: string;
  readonly options: readonly TableOption[];
  readonly operands: readonly TableOperand[];
  readonly commands: readonly TableCommand[];
}

export interface TableOption {
  /** `-e`, `--env` */
  readonly flags: readonly string[];
  readonly about: string;
  /** The kind of its value; absent if it takes none. */
  readonly value?: ValueKind;
  /** Takes all following words up to the next option. */
  readonly isVariadic?: true;
  readonly isRepeatable?: true;
}

export interface TableOperand {
  readonly value: ValueKind;
  readonly isVariadic?: true;
}

/** The words that are possible at a position of the command line. */
export type ValueKind =
  /** One of these; none if only the user knows the value. @property isList several, separated by commas */
  | { readonly kind: 'words'; readonly words: readonly Word[]; readonly isList?: true }
  /**
   * A file; preferably with one of these endings, if there are any (`.csv`). @property or other words that are possible
   * there, too
   */
  | { readonly kind: 'files'; readonly endings: readonly string[]; readonly or?: Known }
  /** A source of words on this machine. */
  | { readonly kind: Known; readonly isList?: true }
  /** The words for the previous operand: the values of a setting by its name. */
  | { readonly kind: 'by-operand'; readonly values: Readonly<Record<string, ValueKind>> }
  /** A command, word by word. @property topics alternatives */
  | { readonly kind: 'command'; readonly topics: readonly Word[] };

/** Incomplete runs can be resumed; places are environments, and those of each store: `north/staging`. */
export type Known = 'runs' | 'incomplete-runs' | 'pets' | 'stores' | 'sessions' | 'places';

export type Word = readonly [word: string, about: string];

export const shellNames = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type ShellName = (typeof shellNames)[number];
