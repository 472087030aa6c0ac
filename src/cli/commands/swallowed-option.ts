interface Flags {
  readonly long?: string | undefined;
  readonly short?: string | undefined;
  /** It takes a value. */
  readonly required: boolean;
}

/**
 * Finds a whole option in the place of another one's value: with `$R` empty, `--reason $R --dry-run` would write, and `--env=sandbox` behind
 * it would be none.
 */
export function swallowedOption<Option extends Flags>(argv: readonly string[], options: readonly Option[]) {
  for (let at = 0; at < argv.length && argv[at] !== '--'; at += 1) {
    const option = options.find(({ long, short }) => argv[at] === long || argv[at] === short);
    if (option?.required !== true) continue;
    at += 1;
    const [swallowed = ''] = argv[at]?.split('=', 1) ?? [];
    if (swallowed === '--help' || options.some(({ long }) => long === swallowed)) return { option, swallowed };
  }
  return undefined;
}
