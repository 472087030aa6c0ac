import { statSync } from 'node:fs';
import { type BulkRow, isUnclear, owedDelta } from '../../../inventory/change.ts';
import { counted } from '../../../inventory/items.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { isPending } from '../../runs/print-report.ts';
import { isOneOf, type ReplacingOptions, writeReplaceable } from '../replace-file.ts';
import { fileText, requireChangeFile, type WriteRows } from './written-change-file.ts';

/**
 * Opens the file of `--failed-out`, which receives the rows that were not written, in the format of `apply`. Each row
 * expects the stock that it depended on, so it becomes a conflict again if that stock has changed. A delta depends on
 * no stock, so it is left out if it may have been written, or if a resume would send it.
 * @returns the functions that write the file; undefined without a file
 * @throws the errors of `requireChangeFile`
 */
export async function openFailedOut(invocation: Invocation, file: string | undefined, replacing: ReplacingOptions) {
  if (file === undefined) return undefined;
  await requireChangeFile(invocation, '--failed-out', file, replacing);
  // The next command may replace this file without asking, because the history has its rows, too.
  const write: WriteRows = (rows) => writeReplaceable(invocation, file, fileText(rows));
  const isFile = () => statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  return {
    /**
     * Whether this is the command's own input file. Its rows stay until the run has ended, because they identify a
     * killed run.
     */
    isInput: isOneOf(invocation, replacing.inputs ?? [], file),
    /** Removes the rows of an earlier run. */
    empty: async () => (isFile() ? write([]) : undefined),
    keep: async (rows: readonly BulkRow[], isLost: boolean) => {
      const kept = rows.filter((row) => owedDelta(row) === undefined || isSurelyUnwritten(row, isLost));
      await write(kept);
      const left = rows.length - kept.length;
      if (left === 0) return;
      const [they, them, were] = left === 1 ? ['it', 'it', 'was'] : ['they', 'them', 'were'];
      const why = `${isLost ? '' : `a resume sends ${them}, or `}${they} may have been written`;
      await invocation.messages.note(`${counted(left, 'delta')} ${were} left out of ${file}, because ${why}.`);
    },
  };
}

/** Reports whether a row was not written and will not be sent again by its run. */
function isSurelyUnwritten(row: BulkRow, isLost: boolean): boolean {
  if (isPending(row)) return isLost;
  return row.result === 'conflict' ? !isUnclear(row) : row.result === 'failed';
}
