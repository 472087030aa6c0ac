/** A word as a POSIX shell takes it: in single quotes where a shell would interpret any of it. For the commands in hints. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
