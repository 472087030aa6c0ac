import type { BulkRow } from '../../../../inventory/change.ts';
import { counted, grouped } from '../../../../inventory/items.ts';
import { requireWithinGuards } from '../../../../runs/execute.ts';
import { writeFileAtomically } from '../../../../shared/atomic-file.ts';
import { UsageError } from '../../../../shared/errors.ts';
import { fileOperand, petstock, targetWords } from '../../../../shared/hint.ts';
import type { Invocation } from '../../../invocation/invocation.ts';
import { changeText, fileText, requireChangeFile, type WriteRows } from '../written-change-file.ts';
import type { CountOptions } from './count-options.ts';
import type { Counting } from './counting.ts';

/**
 * Returns a function that writes the file of `--to`; undefined without that option.
 * @throws UsageError if the file can't be written or must not be replaced, or if another option excludes `--to`
 */
export async function changeFileWriter(
  invocation: Invocation,
  { to, codes, force = false, dryRun, failedOut }: CountOptions,
): Promise<WriteRows | undefined> {
  if (to === undefined) return undefined;
  if (failedOut !== undefined) throw new UsageError("--to and --failed-out can't be used together. Leave one out");
  if (dryRun) throw new UsageError("--to does not write stock, so it can't be combined with --dry-run. Leave one out");
  if (to === '-') {
    return async (rows) => {
      for await (const piece of changeText(rows)) await invocation.results.write(piece);
    };
  }
  const inputs = codes === undefined ? ['-'] : ['-', codes];
  await requireChangeFile(invocation, '--to', to, { force, inputs });
  return (rows) => writeFileAtomically(to, fileText(rows));
}

/** Writes a count to the file of `--to`, and prints how to apply it. */
export async function writeToFile(
  { messages, target }: Invocation,
  counting: Counting,
  rows: readonly BulkRow[],
  { guards, to = '-' }: Pick<CountOptions, 'guards' | 'to'>,
  write: WriteRows,
): Promise<void> {
  requireWithinGuards(rows, guards);
  await write(rows);
  counting.noteWritten(rows, { how: 'written', file: to });
  if (to === '-') return;
  const differ = grouped(rows.filter(({ before, after }) => before !== after).length);
  await messages.note(`Written to ${to}: ${counted(rows.length, 'pet')} (${differ} with a new stock).`);
  await messages.note(`To apply it: ${petstock`inventory apply ${fileOperand(to)} ${targetWords(target)}`}`);
}
