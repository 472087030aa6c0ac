import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { changeFileText, type ExportRow } from '../../../change-files/change-file-text.ts';
import type { BulkRow } from '../../../inventory/change.ts';
import { batchesOf } from '../../../output/batches.ts';
import { UsageError } from '../../../shared/errors.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { confirmReplacing, type ReplacingOptions, requireCsvName } from '../replace-file.ts';

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
