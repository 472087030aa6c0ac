import type { CountMode } from '../../../../inventory/count/tally.ts';
import { UsageError } from '../../../../shared/errors.ts';
import { commandLine, type FlagValues, fileOperand, petstock } from '../../../../shared/hint.ts';
import type { Invocation } from '../../../invocation/invocation.ts';
import { fieldsOption, files, type OptionsOf, optionRows } from '../../command.ts';
import {
  type BulkFlags,
  bulkOptions,
  type ParsedBulkFlags,
  parseBulkFlags,
  requireFileName,
} from '../../option-values.ts';

export const countOptions = optionRows(
  ['--add', 'add the sums to the stock, for a delivery'],
  ['--take', 'subtract the sums from the stock, for units that have left'],
  ['--apply-only', 'on a terminal: read the file (or stdin) as it is, without scanning more'],
  [
    '--codes <file>',
    'bar codes: a CSV with the columns code, petId and optionally name, low and units (default: the setting codes)',
    files('.csv'),
  ],
  ['--all', 'set pets that were not scanned to 0'],
  ['--to <file>', 'write a file for apply instead of the stock; - is stdout', files('.csv')],
  ['--failed-out <file>', 'save the rows that were not written, as a file for apply'],
  ['--force', 'let --to or --failed-out replace a file that petstock did not write, or that was changed since'],
  ['--skip-applied', 'with --add or --take: leave out pets that were already changed by the same number under --ref'],
  ['--again', 'with --add or --take: add or take units once more that were already written under --ref'],
  ['--reason <text>', 'reason in the history (default: stock-take; scanned in; scanned out)'],
  [
    '--ref <text>',
    'your own number, such as that of the delivery note: scans that come twice are recognized by it. Needed with --add and --take in a script',
  ],
  ['--sheet', 'print a blank sheet of all pets, by name, with their codes and a box; sends one request'],
  fieldsOption,
  ...bulkOptions,
);
export type CountFlags = OptionsOf<typeof countOptions>;

export interface CountOptions extends Omit<CountFlags, keyof BulkFlags>, ParsedBulkFlags {
  /** The file that was named; undefined for stdin, and for a new file. */
  readonly file: string | undefined;
  /** Whether scans are read from the terminal, and kept in the file. */
  readonly isScanning: boolean;
  readonly mode: CountMode;
}

/**
 * Returns the parsed options.
 * @throws UsageError for options that are not valid, or can't be used together
 */
export function parseCountFlags(invocation: Invocation, flags: CountFlags, operand: string | undefined): CountOptions {
  const { codes, all, add, take, skipApplied, again, applyOnly } = flags;
  if (add && take) throw new UsageError("--add and --take can't be used together. Leave one out");
  const mode = add ? 'add' : take ? 'take' : 'count';
  if (mode !== 'count' && all) {
    throw new UsageError(`--all is for a count of the whole shop. Leave it out, or leave out --${mode}`);
  }
  if (mode === 'count' && (skipApplied || again)) {
    const option = skipApplied ? '--skip-applied' : '--again';
    throw new UsageError(`${option} is for --add and --take: a stock-take may be written again. Leave it out`);
  }
  if (skipApplied && again) throw new UsageError("--skip-applied and --again can't be used together. Leave one out");
  if (operand !== undefined) requireFileName(operand, 'inventory count');
  if (codes !== undefined) requireFileName(codes, '--codes');
  if (codes === '-') throw new UsageError('--codes needs a file, because scans come from stdin');
  const file = operand === '-' ? undefined : operand;
  const isScanning = invocation.context.stdin.isTerminal && applyOnly !== true && operand !== '-';
  return { ...flags, ...parseBulkFlags(invocation, flags), file, isScanning, mode };
}

/**
 * Returns a command for a hint.
 * @param file the file to count; undefined for stdin or a new file
 * @param changes options to add, to replace, or to leave out (undefined)
 */
export function countLine(invocation: Invocation, file: string | undefined, changes: FlagValues = {}): string {
  const words = ['inventory', 'count', ...(file === undefined ? [] : [fileOperand(file)])];
  const input = file === undefined && !invocation.context.stdin.isTerminal ? " < '<file>'" : '';
  return petstock`${commandLine(invocation, words, changes)}` + input;
}
