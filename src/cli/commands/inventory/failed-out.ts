import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { changeFileText, type ExportRow } from '../../../change-files/change-file-text.ts';
import type { BulkRow } from '../../../inventory/change.ts';
import { batchesOf } from '../../../output/batches.ts';
import { writeFileAtomically } from '../../../shared/atomic-file.ts';
import { UsageError } from '../../../shared/errors.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { confirmReplacing, type ReplacingOptions, rememberWritten, requireCsvName } from '../replace-file.ts';

/** The file of `--failed-out`. */
export interface FailedOut {
  /** Takes last night's rows out of it. */
  empty(): Promise<void>;
  /** Writes rows to it; without rows it is empty but for its header. */
  keep(rows: readonly BulkRow[]): Promise<void>;
}

/**
 * Returns what writes rows that were not written, in the form that `apply` takes. Each expects the stock that it relied on, so that
 * it is a conflict again if that has changed; an increment relies on none.
 *
 * @throws UsageError at once if there is no folder for the file, or it may not be replaced
 */
export async function openFailedOut(
  invocation: Invocation,
  file: string | undefined,
  replacing: ReplacingOptions,
): Promise<FailedOut | undefined> {
  if (file === undefined) return undefined;
  if (!existsSync(dirname(file))) throw new UsageError(`There is no folder ${dirname(file)} for --failed-out`);
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UsageError(`${file} is a folder; --failed-out takes a file`);
  }
  requireCsvName(file, '--failed-out');
  await confirmReplacing(invocation, file, replacing);
  const keep: FailedOut['keep'] = async (rows) => {
    const deltas = rows.some(({ delta }) => delta !== undefined);
    await writeFileAtomically(
      file,
      changeFileText(
        batchesOf(() => rows, exportRow),
        { deltas },
      ),
    );
    await rememberWritten(invocation, file);
  };
  const isFile = () => statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  return { keep, empty: async () => (isFile() ? keep([]) : undefined) };
}

function exportRow({ petId, before, expected, after, delta, reason, ref }: BulkRow): ExportRow {
  if (delta !== undefined) return { petId, expected, delta, reason, ref };
  return { petId, expected: expected ?? before, quantity: after, reason, ref };
}
