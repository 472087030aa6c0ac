import type { CountMode } from '../../../../counts/session-tables.ts';
import { UsageError } from '../../../../shared/errors.ts';
import { petstock } from '../../../../shared/hint.ts';
import type { Target } from '../../../../shared/target.ts';
import { commandLine } from '../../../invocation/command-line.ts';
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
  ['--new', 'begin another session, even if one is not finished'],
  ['--add', 'what is scanned has come in: the sums are added to the stock'],
  ['--take', 'what is scanned has gone out: the sums are taken from the stock'],
  ['--label <text>', 'a name for the session, such as that of an aisle; resumes the open one with that name'],
  ['--merge <session...>', 'make one session of several: what each has counted is added up, settings (=) included'],
  ['--codes <file>', 'bar codes: a CSV with the columns code, petId and optionally name (setting codes)'],
  ['--all', 'count what was not scanned as 0'],
  ['--to <file>', 'write a file for apply instead of the stock; - is stdout'],
  ['--failed-out <file>', 'write what could not be written to a file for apply, instead of keeping it in the session'],
  ['--force', 'let --to or --failed-out replace a file, such as that of another count'],
  ['--reason <text>', 'why, for the history (default: stock-take; scanned in; scanned out)'],
  ['--ref <text>', 'a number or name of your own, for the history'],
  ['--list', 'list the open sessions of this machine; sends nothing'],
  ['--closed', 'with --list: those that are finished, too'],
  ['--sheet', 'print a blank sheet of all pets, by name, with their codes and a box; takes a request'],
  fieldsOption,
  ['--discard <session>', 'give a session up, after a question; remove one that is finished or damaged'],
  ...bulkOptions,
);
export type CountFlags = OptionsOf<typeof countOptions>;

export interface CountOptions extends Omit<CountFlags, keyof BulkFlags>, ParsedBulkFlags {
  readonly session: string | undefined;
  /** undefined: in a resumed session its own mode; in a new one `count`. */
  readonly mode: CountMode | undefined;
}

/** Throws UsageError for options that can't be used together. */
export function parseCountFlags(invocation: Invocation, flags: CountFlags, session: string | undefined): CountOptions {
  const { merge, codes, all, label } = flags;
  if (flags.closed)
    throw new UsageError('--closed goes with --list', { hint: 'petstock inventory count --list --closed' });
  if (label !== undefined && session !== undefined) {
    throw new UsageError('A session keeps its label: leave --label out, or the session');
  }
  if (label?.trim() === '') throw new UsageError('--label takes a name, and it is empty');
  if ([session !== undefined, flags.new, merge !== undefined].filter(Boolean).length > 1) {
    throw new UsageError("A session, --new and --merge can't be used together: leave out all but one");
  }
  if (flags.add && flags.take) throw new UsageError("--add and --take can't be used together. Leave one out");
  const mode = flags.add ? 'add' : flags.take ? 'take' : undefined;
  if (mode !== undefined && all) {
    throw new UsageError(`--all goes with a count of the whole shop: leave it out, or --${mode}`);
  }
  if (codes !== undefined) requireFileName(codes, '--codes');
  if (codes === '-') throw new UsageError('--codes takes a file: what is scanned comes from stdin');
  return { ...flags, ...parseBulkFlags(invocation, flags), session, mode };
}

/** Returns the command that counts `chosen`: a session, or `--new`. */
export function commandFor(
  invocation: Invocation,
  chosen: readonly string[],
  options = invocation.options,
  target: Target = invocation.target,
): string {
  // A session that is named keeps its label.
  const isNamed = chosen[0]?.startsWith('-') === false;
  const others = { ...options, new: undefined, merge: undefined, ...(isNamed && { label: undefined }) };
  return petstock`${commandLine(invocation, ['inventory', 'count', ...chosen], others, target)}`;
}

export function chosenWords({ session, new: isNew, merge = [] }: CountOptions): readonly string[] {
  return [session ?? [], isNew ? '--new' : [], merge.length > 0 ? ['--merge', ...merge] : []].flat();
}
