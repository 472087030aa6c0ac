import type { CountMode } from '../../../../inventory/count/tally.ts';
import { UsageError } from '../../../../shared/errors.ts';
import { commandLine, type FlagValues, petstock } from '../../../../shared/hint.ts';
import type { Target } from '../../../../shared/target.ts';
import type { Invocation } from '../../../invocation/invocation.ts';
import { fieldsOption, type OptionsOf, optionRows } from '../../define.ts';
import {
  type BulkFlags,
  bulkOptions,
  type ParsedBulkFlags,
  parseBulkFlags,
  requireFileName,
} from '../../option-values.ts';

export const countOptions = optionRows(
  ['--new', 'start a new session, even if one is not finished'],
  ['--add', 'add the sums to the stock, for a delivery'],
  ['--take', 'subtract the sums from the stock, for units that have left'],
  ['--label <text>', 'a name for the session, such as that of an aisle; resumes the open session with that name'],
  ['--merge <session...>', 'merge sessions into one: adds up their counts, including totals that were set with ='],
  ['--codes <file>', 'bar codes: a CSV with the columns code, petId and optionally name (default: the setting codes)'],
  ['--all', 'set pets that were not scanned to 0'],
  ['--to <file>', 'write a file for apply instead of the stock; - is stdout'],
  [
    '--failed-out <file>',
    'save the units that could not be written, as a file for apply, instead of keeping them in the session',
  ],
  ['--force', 'let --to or --failed-out replace a file, such as that of another count'],
  ['--reason <text>', 'reason in the history (default: stock-take; scanned in; scanned out)'],
  ['--ref <text>', 'your own number or name, for the history'],
  ['--list', 'list the open sessions of this machine; sends nothing'],
  ['--closed', 'with --list: also finished sessions'],
  ['--sheet', 'print a blank sheet of all pets, by name, with their codes and a box; sends one request'],
  fieldsOption,
  ['--discard <session>', 'discard a session, after a confirmation; remove a finished or damaged one'],
  ...bulkOptions,
);
export type CountFlags = OptionsOf<typeof countOptions>;

export interface CountOptions extends Omit<CountFlags, keyof BulkFlags>, ParsedBulkFlags {
  readonly session: string | undefined;
  /**
   * The mode; undefined if no option names one. A resumed session then keeps its mode, and a new session is a
   * stock-take.
   */
  readonly mode: CountMode | undefined;
}

/**
 * Returns the parsed options.
 * @throws UsageError for options that are not valid, or can't be used together
 */
export function parseCountFlags(invocation: Invocation, flags: CountFlags, session: string | undefined): CountOptions {
  const { merge, codes, all, label } = flags;
  if (flags.closed) throw new UsageError('--closed needs --list', { hint: 'petstock inventory count --list --closed' });
  if (label !== undefined && session !== undefined) {
    throw new UsageError('A session keeps its label. Leave out --label, or the session');
  }
  if (label?.trim() === '') throw new UsageError('The name after --label is empty');
  if ([session !== undefined, flags.new, merge !== undefined].filter(Boolean).length > 1) {
    throw new UsageError("A session, --new and --merge can't be used together: leave out all but one");
  }
  if (flags.add && flags.take) throw new UsageError("--add and --take can't be used together. Leave one out");
  const mode = flags.add ? 'add' : flags.take ? 'take' : undefined;
  if (mode !== undefined && all) {
    throw new UsageError(`--all is for a count of the whole shop. Leave it out, or leave out --${mode}`);
  }
  if (codes !== undefined) requireFileName(codes, '--codes');
  if (codes === '-') throw new UsageError('--codes needs a file, because scans come from stdin');
  return { ...flags, ...parseBulkFlags(invocation, flags), session, mode };
}

/**
 * Returns a command for a hint.
 * @param chosen the session to count, or `--new`
 * @param changes options to add, to replace, or to leave out (undefined)
 */
export function commandFor(
  invocation: Invocation,
  chosen: readonly string[],
  changes: FlagValues = {},
  target: Target = invocation.target,
): string {
  // A chosen session keeps its label.
  const isNamed = chosen[0]?.startsWith('-') === false;
  const others = { ...changes, new: undefined, merge: undefined, ...(isNamed && { label: undefined }) };
  return petstock`${commandLine(invocation, ['inventory', 'count', ...chosen], others, target)}`;
}

export function chosenWords({ session, new: isNew, merge = [] }: CountOptions): readonly string[] {
  return [session ?? [], isNew ? '--new' : [], merge.length > 0 ? ['--merge', ...merge] : []].flat();
}
