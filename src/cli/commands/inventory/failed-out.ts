import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { changeFileText, type ExportRow } from '../../../change-files/change-file-text.ts';
import type { BulkRow } from '../../../inventory/change.ts';
import { type Batches, batchesOf } from '../../../output/batches.ts';
import { writeFileAtomically } from '../../../shared/atomic-file.ts';
import { UsageError } from '../../../shared/errors.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { confirmReplacing, type ReplacingOptions, rememberWritten, requireCsvName } from '../replace-file.ts';

/** Writes rows to a change file; without rows it is empty but for its header. */
type WriteRows = (rows: Batches<ExportRow>, options?: { readonly deltas: boolean }) => Promise<void>;

/**
 * Returns what writes the change file of an option, such as `--to`.
 * @throws UsageError at once if there is no folder for the file, or it may not be replaced
 */
export async function openChangeFile(
  invocation: Invocation,
  option: string,
  file: string,
  replacing: ReplacingOptions,
): Promise<WriteRows> {
  if (!existsSync(dirname(file))) throw new UsageError(`There is no folder ${dirname(file)} for ${option}`);
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UsageError(`${file} is a folder; ${option} takes a file`);
  }
  requireCsvName(file, option);
  await confirmReplacing(invocation, file, replacing);
  return async (rows, options) => {
    await writeFileAtomically(file, changeFileText(rows, options));
    await rememberWritten(invocation, file);
  };
}

/** The file of `--failed-out`. */
export interface FailedOut {
  /** Takes last night's rows out of it. */
  empty(): Promise<void>;
  keep(rows: readonly BulkRow[]): Promise<void>;
}

/**
 * Returns what writes rows that were not written, in the form that `apply` takes. Each expects the stock that it relied on, so that
 * it is a conflict again if that has changed; an increment relies on none.
 * @throws UsageError as `openChangeFile` does
 */
export async function openFailedOut(
  invocation: Invocation,
  file: string | undefined,
  replacing: ReplacingOptions,
): Promise<FailedOut | undefined> {
  if (file === undefined) return undefined;
  const write = await openChangeFile(invocation, '--failed-out', file, replacing);
  const isFile = () => statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  return {
    empty: async () => (isFile() ? write([]) : undefined),
    keep: (rows) =>
      write(
        batchesOf(() => rows, exportRow),
        { deltas: rows.some(({ delta }) => delta !== undefined) },
      ),
  };
}

function exportRow({ petId, before, expected, after, delta, reason, ref }: BulkRow): ExportRow {
  if (delta !== undefined) return { petId, expected, delta, reason, ref };
  return { petId, expected: expected ?? before, quantity: after, reason, ref };
}
