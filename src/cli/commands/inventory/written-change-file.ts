import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { changeFileText, type ExportRow } from '../../../change-files/change-file-text.ts';
import { type BulkRow, isUnclear, owedDelta } from '../../../inventory/change.ts';
import { counted } from '../../../inventory/items.ts';
import { batchesOf } from '../../../output/view.ts';
import { UsageError } from '../../../shared/errors.ts';
import { fileOperand, petstock, targetWords } from '../../../shared/hint.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { isPending } from '../../runs/print-report.ts';
import { confirmReplacing, isOneOf, type ReplacingOptions, requireCsvName, writeReplaceable } from '../replace-file.ts';

/** Writes rows to a change file. */
export type WriteRows = (rows: readonly BulkRow[]) => Promise<void>;

/**
 * Checks the change file that an option names.
 * @throws UsageError if its folder is missing, if it is itself a folder, or if its name is not that of a CSV; the
 * errors of `confirmReplacing`
 */
export async function requireChangeFile(
  invocation: Invocation,
  option: string,
  file: string,
  replacing: ReplacingOptions,
): Promise<void> {
  if (!existsSync(dirname(file))) throw new UsageError(`The folder ${dirname(file)} for ${option} does not exist`);
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UsageError(`${file} is a folder, but ${option} needs a file`);
  }
  requireCsvName(file, option);
  await confirmReplacing(invocation, file, replacing);
}

/** Returns the content of a change file; without rows, the file is empty. */
export function fileText(rows: readonly BulkRow[]): AsyncIterable<string> | readonly string[] {
  return rows.length === 0 ? [] : changeText(rows);
}

/** Returns rows as the text of a change file. Rows with a delta keep it, instead of the new stock. */
export function changeText(rows: readonly BulkRow[]): AsyncIterable<string> {
  const batches = batchesOf(() => rows, exportRow);
  return changeFileText(batches, { deltas: rows.some(({ delta }) => delta !== undefined) });
}

function exportRow({ petId, before, expected, after, delta, reason, ref }: BulkRow): ExportRow {
  if (delta !== undefined) return { petId, expected, delta, reason, ref };
  return { petId, expected: expected ?? before, quantity: after, reason, ref };
}

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
  let isWritten = false;
  const write: WriteRows = async (rows) => {
    await writeReplaceable(invocation, file, fileText(rows));
    isWritten = true;
  };
  const found = () => statSync(file, { throwIfNoEntry: false });
  const isInput = isOneOf(invocation, replacing.inputs ?? [], file);
  return {
    /**
     * Whether this is the command's own input file. Its rows stay until the run has ended, because they identify a
     * killed run.
     */
    isInput,
    /** Removes the rows of an earlier run. */
    empty: async () => (found()?.isFile() ? write([]) : undefined),
    keep: async (rows: readonly BulkRow[], isLost: boolean) => {
      const kept = rows.filter((row) => owedDelta(row) === undefined || isSurelyUnwritten(row, isLost));
      await write(kept);
      const left = rows.length - kept.length;
      if (left === 0) return;
      const [they, them, were] = left === 1 ? ['it', 'it', 'was'] : ['they', 'them', 'were'];
      const why = `${isLost ? '' : `a resume sends ${them}, or `}${they} may have been written`;
      await invocation.messages.note(`${counted(left, 'delta')} ${were} left out of ${file}, because ${why}.`);
    },
    /** After an error: warns if the rows in the file are those of an earlier run, because no run has begun. */
    warnIfKept: async () => {
      const { size = 0 } = found() ?? {};
      if (isWritten || isInput || size === 0) return;
      await invocation.messages.warn(`${file} still has the rows of an earlier run: this one has not begun`);
    },
  };
}

/** Reports whether a row was not written and will not be sent again by its run. */
function isSurelyUnwritten(row: BulkRow, isLost: boolean): boolean {
  if (isPending(row)) return isLost;
  return row.result === 'conflict' ? !isUnclear(row) : row.result === 'failed';
}

/**
 * Returns a function that writes a plan as a change file: each row that would be written, with the stock that it
 * depends on. The file is emptied at once, so that `apply` rejects it if the dry run fails, instead of applying an
 * older plan.
 * @throws UsageError without `--dry-run`, for stdout or the input file; the errors of `requireChangeFile`
 */
export async function openPlanOut(
  invocation: Invocation,
  file: string | undefined,
  { dryRun, force, input }: { readonly dryRun: boolean; readonly force: boolean; readonly input: string },
): Promise<WriteRows | undefined> {
  if (file === undefined) return undefined;
  if (!dryRun) throw new UsageError('--plan-out writes the plan of a dry run. Add --dry-run');
  if (file === '-') throw new UsageError('--plan-out needs a file, because the report goes to stdout');
  if (isOneOf(invocation, [input], file)) {
    throw new UsageError(`This command reads ${file}. Nothing was sent. Give --plan-out another file`);
  }
  await requireChangeFile(invocation, '--plan-out', file, { force });
  await writeReplaceable(invocation, file, []);
  return async (rows) => {
    const planned = rows.filter(({ result }) => result === 'planned');
    const { names } = await invocation.remarks('person');
    const exported = ({ petId, before, after, reason, ref }: BulkRow) => {
      return { petId, name: names?.get(petId), expected: before, quantity: after, reason, ref };
    };
    const text = changeFileText(
      batchesOf(() => planned, exported),
      { names: names !== undefined },
    );
    await writeReplaceable(invocation, file, text);
    const next = petstock`inventory apply ${fileOperand(file)} ${targetWords(invocation.target)}`;
    await invocation.messages.note(
      `The plan of ${counted(planned.length, 'change')} is in ${file}. To apply it: ${next}`,
    );
  };
}
