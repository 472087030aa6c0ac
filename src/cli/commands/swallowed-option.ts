interface Flags {
  readonly long?: string | undefined;
  readonly short?: string | undefined;
  /** Whether the option takes a value. */
  readonly required: boolean;
}

/**
 * Returns an option that stands where the value of another option is expected; undefined if there is none. With an
 * empty `$R`, `--reason $R --dry-run` would write, and a following `--env=sandbox` would be ignored.
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
