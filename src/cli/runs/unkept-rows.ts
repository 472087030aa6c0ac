import type { BulkRow, BulkRows } from '../../inventory/change.ts';
import { firstRows } from '../../inventory/change.ts';
import { grouped } from '../../inventory/grouped.ts';
import { FailureError, type PetstockError } from '../../shared/errors.ts';

/** So many rows are named; the history has all of them. */
const mostNamed = 20;

/**
 * The failure of a run whose rows could not be written to `--failed-out`. What the run ends with stays what it is, exit code and
 * hint too.
 *
 * @param rows those that were to be in the file
 * @param reason why it could not be written
 */
export function withUnkeptRows(error: PetstockError | undefined, rows: BulkRows, reason: unknown): PetstockError {
  const why = (reason as Error).message;
  if (error === undefined) {
    return new FailureError(`All changes were written, but the file of --failed-out was not: ${why}`, {
      cause: reason,
    });
  }
  const message = `${error.message}. These rows could not be kept for --failed-out: ${why}`;
  const lines = firstRows(rows, mostNamed).map(lineOf);
  if (rows.length > mostNamed) lines.push(`… and ${grouped(rows.length - mostNamed)} more`);
  return error.with({ message, lines, service: error.service && { ...error.service, message } });
}

/** `line 3: pet 5, 1 → 9 (failed)` */
function lineOf({ line, petId, before, after, result }: BulkRow): string {
  const change = before === undefined ? `to ${after}` : `${before} → ${after}`;
  return `line ${line}: pet ${petId}${after === undefined ? '' : `, ${change}`} (${result})`;
}
