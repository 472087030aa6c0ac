import type { BulkRow } from '../../src/inventory/change.ts';

/** A row that is to be written, unless it is told otherwise. */
export function bulkRow(petId: bigint, before?: number, after?: number, rest: Partial<BulkRow> = {}): BulkRow {
  return { line: 2, petId, before, after, result: 'planned', reason: undefined, ref: undefined, ...rest };
}
