import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { changeFileText, type ExportRow } from '../../../change-files/change-file-text.ts';
import { type BulkRow, owedDelta } from '../../../inventory/change.ts';
import { counted } from '../../../inventory/items.ts';
import { type Batches, batchesOf } from '../../../output/view.ts';
import { writeFileAtomically } from '../../../shared/atomic-file.ts';
import { UsageError } from '../../../shared/errors.ts';
import { unclear } from '../../../writes/classify-failure.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { isPending } from '../../runs/print-report.ts';
import { confirmReplacing, isOneOf, type ReplacingOptions, rememberWritten, requireCsvName } from '../replace-file.ts';

/** Writes rows to a change file, which is empty without any. */
type WriteRows = (rows: readonly BulkRow[], options?: { readonly deltas: boolean }) => Promise<void>;

/** @throws UsageError if the change file of an option has no folder, or may not be replaced */
export async function requireChangeFile(
  invocation: Invocation,
  option: string,
  file: string,
  replacing: ReplacingOptions,
): Promise<void> {
  if (!existsSync(dirname(file))) throw new UsageError(`There is no folder ${dirname(file)} for ${option}`);
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UsageError(`${file} is a folder; ${option} takes a file`);
  }
  requireCsvName(file, option);
  await confirmReplacing(invocation, file, replacing);
}

/** Returns what writes the change file of an option. @throws UsageError as `requireChangeFile` does */
export async function openChangeFile(
  invocation: Invocation,
  option: string,
  file: string,
  replacing: ReplacingOptions,
): Promise<WriteRows> {
  await requireChangeFile(invocation, option, file, replacing);
  return (rows, options) => {
    return writeFileAtomically(file, rows.length === 0 ? [] : changeFileText(exportRows(rows), options));
  };
}

/**
 * Returns what writes rows that were not written, in the form that `apply` takes. Each expects the stock that it relied on, so that it is a
 * conflict again if that has changed. An increment relies on none: one that may have been written, or that a resume writes, is left out.
 * @throws UsageError as `requireChangeFile` does
 */
export async function openFailedOut(invocation: Invocation, file: string | undefined, replacing: ReplacingOptions) {
  if (file === undefined) return undefined;
  const writeRows = await openChangeFile(invocation, '--failed-out', file, replacing);
  // The history has these rows, too. What was counted is in its file alone, and is not replaced without a question.
  const write: WriteRows = async (rows, options) => {
    await writeRows(rows, options);
    await rememberWritten(invocation, file);
  };
  const isFile = () => statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  return {
    /** It is what the command reads: its rows stay until their run has ended, since one that is killed is known by them. */
    isInput: isOneOf(invocation, replacing.inputs ?? [], file),
    /** Takes last night's rows out of it. */
    empty: async () => (isFile() ? write([]) : undefined),
    keep: async (rows: readonly BulkRow[]): Promise<void> => {
      const kept = rows.filter((row) => owedDelta(row) === undefined || isSurelyUnwritten(row));
      await write(kept, { deltas: kept.some(({ delta }) => delta !== undefined) });
      const left = rows.length - kept.length;
      if (left === 0) return;
      const why = left === 1 ? 'a resume sends it, or it may' : 'a resume sends them, or they may';
      await invocation.messages.note(`${counted(left, 'delta')} left out of ${file}, since ${why} have been written.`);
    },
  };
}

/** Reports whether a row was not written, and its run will not send it any more. */
function isSurelyUnwritten(row: BulkRow): boolean {
  return row.result === 'conflict' ? row.error?.code !== unclear : row.result === 'failed' && !isPending(row);
}

/** Returns the rows as a change file has them. */
export function exportRows(rows: readonly BulkRow[]): Batches<ExportRow> {
  return batchesOf(() => rows, exportRow);
}

function exportRow({ petId, before, expected, after, delta, reason, ref }: BulkRow): ExportRow {
  if (delta !== undefined) return { petId, expected, delta, reason, ref };
  return { petId, expected: expected ?? before, quantity: after, reason, ref };
}
