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
