/** Where a command goes: an environment, of one of several stores or of the one without a name. */
export interface Where {
  /** Undefined: the store without a name. */
  readonly store?: string | undefined;
  readonly env: string;
}

/** Returns the name that people are shown: `north/staging`, or `staging` for the store without a name. */
export function whereName({ store, env }: Where): string {
  return store === undefined ? env : `${store}/${env}`;
}

/** The options that lead there, for a hint: `--store north --env staging`. */
export function whereOptions({ store, env }: Where): string {
  const options = `--env ${shellWord(env)}`;
  return store === undefined ? options : `--store ${shellWord(store)} ${options}`;
}

/** A word as a POSIX shell takes it: in single quotes if a shell would interpret any of it. For the commands in hints. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** A file as the operand of a command: one whose name begins with a dash would be taken for an option. `-` is stdin. */
export function fileWord(file: string): string {
  return shellWord(/^-./.test(file) ? `./${file}` : file);
}

/** The words of a command line with one more option, before the `--` behind which all is operands. */
export function withOption(argv: readonly string[], option: string): readonly string[] {
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length;
  return argv.toSpliced(end, 0, option);
}
