/** The error that a command with `--json` ends with: one object on the last line of stderr. */
export function errorJson(stderr: string) {
  return JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '');
}
