import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { changeFileText, type ExportRow } from '../../../change-files/change-file-text.ts';
import type { BulkRow, BulkRows } from '../../../inventory/change.ts';
import { countWhere } from '../../../inventory/change.ts';
import { batchesOfArray } from '../../../output/batches.ts';
import { writeFileAtomically } from '../../../shared/atomic-file.ts';
import { UsageError } from '../../../shared/errors.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { confirmReplacing, type ReplacingOptions, rememberWritten } from '../replace-file.ts';
import { requireCsvName } from './csv-name.ts';

/**
 * Writes rows that were not written in the form that `apply` takes. Each expects the stock that it relied on, so that it is
 * a conflict again where that has changed.
 *
 * @throws UsageError at once where there is no folder for the file, or a file that may not be replaced
 */
export async function failedRowsWriter(
  invocation: Invocation,
  file: string | undefined,
  replacing: ReplacingOptions,
): Promise<((rows: BulkRows) => Promise<void>) | undefined> {
  if (file === undefined) return undefined;
  if (!existsSync(dirname(file))) throw new UsageError(`There is no folder ${dirname(file)} for --failed-out`);
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UsageError(`${file} is a folder; --failed-out takes a file`);
  }
  requireCsvName(file, '--failed-out');
  await confirmReplacing(invocation, file, replacing);
  return async (rows) => {
    const deltas = countWhere(rows, ({ delta }) => delta !== undefined) > 0;
    await writeFileAtomically(file, changeFileText(batchesOfArray(rows, exportRow), { deltas }));
    await rememberWritten(invocation, file);
  };
}

function exportRow({ petId, before, expected = before, after, delta, reason, ref }: BulkRow): ExportRow {
  return { petId, expected, quantity: after, delta, reason, ref };
}
