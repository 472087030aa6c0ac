import { shellWord } from '../../../../shared/shell-word.ts';
import type { BulkFlags } from '../../bulk-flags.ts';

/** The options that decide what a count comes to. */
export interface PlanFlags extends BulkFlags {
  readonly codes?: string;
  readonly all?: boolean;
  readonly to?: string;
  readonly force?: boolean;
  readonly reason?: string;
  readonly ref?: string;
}

/** The options for a hint, as they were given, with a blank before each: a command without them would make another plan. */
export function planWords(flags: PlanFlags): string {
  const { codes, all, to, force, reason, ref, dryRun, exitCode, failFast, concurrency, maxChanges, maxZero } = flags;
  const words: Readonly<Record<string, string | boolean | undefined>> = {
    codes,
    all,
    to,
    force,
    reason,
    ref,
    'dry-run': dryRun,
    'exit-code': exitCode,
    'max-changes': maxChanges,
    'max-zero': maxZero,
    'fail-fast': failFast,
    concurrency,
  };
  return Object.entries(words)
    .map(([name, value]) => {
      if (value === undefined || value === false) return '';
      return value === true ? ` --${name}` : ` ${optionWord(name, value)}`;
    })
    .join('');
}

/** A value that begins with a dash would be taken for an option. */
function optionWord(name: string, value: string): string {
  return /^-./.test(value) || value === '' ? shellWord(`--${name}=${value}`) : `--${name} ${shellWord(value)}`;
}
