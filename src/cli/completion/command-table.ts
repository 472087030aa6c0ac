/** All that completion knows of the commands. The build makes it of the commands themselves, as JSON. */
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
  /** Takes all words that follow, up to the next option. */
  readonly isVariadic?: true;
  readonly isRepeatable?: true;
}

export interface TableOperand {
  readonly value: ValueKind;
  readonly isVariadic?: true;
}

/** The words that may stand at a place of the command line. */
export type ValueKind =
  /** One of these; none of what only the person at the keyboard knows. @property isList several, with commas between them */
  | { readonly kind: 'words'; readonly words: readonly Word[]; readonly isList?: true }
  /** A file; those with one of these endings first, if there are any (`.csv`). @property or what may stand there, too */
  | { readonly kind: 'files'; readonly endings: readonly string[]; readonly or?: Known }
  /** A source of words that this machine knows. */
  | { readonly kind: Known; readonly isList?: true }
  /** One of the words for the operand before it: the value of a setting by its name. */
  | { readonly kind: 'by-operand'; readonly values: Readonly<Record<string, ValueKind>> }
  /** A command, word by word. @property topics what may stand in its place */
  | { readonly kind: 'command'; readonly topics: readonly Word[] };

/** Incomplete runs are those that can be resumed; places are environments, and those of each store: `north/staging`. */
export type Known = 'runs' | 'incomplete-runs' | 'pets' | 'stores' | 'sessions' | 'places';

export type Word = readonly [word: string, about: string];

export const shellNames = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type ShellName = (typeof shellNames)[number];
