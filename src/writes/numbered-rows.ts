import type { JournalChange } from '../history/records.ts';
import type { BulkRow } from '../inventory/change.ts';
import type { Progression, RowWrite } from './row-write.ts';

/** Rows of a plan and their numbers in the journal. */
interface NumberedRows {
  readonly rows: readonly BulkRow[];
  /** Of a run that goes on, in the order of the rows. */
  readonly numbers?: readonly number[];
}

/** Of a run that goes on they are known; in a new one the rows are counted that want another stock. */
export function numbersOf({ rows, numbers }: NumberedRows): readonly (number | undefined)[] {
  if (numbers !== undefined) return numbers;
  let count = 0;
  return rows.map(({ result, before, after }) => {
    // A pet that the service does not have is nothing to go on with or to take back.
    if (result === 'unchanged' || before === undefined || after === undefined) return undefined;
    count += 1;
    return count;
  });
}

/** @returns undefined for a row that is not written down */
export function journalChange(row: BulkRow, number: number | undefined): JournalChange | undefined {
  const { line, petId, before, after, reason, ref } = row;
  if (number === undefined || after === undefined) return undefined;
  return { row: number, line, petId, before, after, reason, ref };
}

/** @returns undefined for a row that is not to be sent */
export function rowWrite({ petId, before, after, result }: BulkRow, number: number | undefined): RowWrite | undefined {
  if (number === undefined || before === undefined || after === undefined || result !== 'planned') return undefined;
  return { row: number, petId, before, after };
}

/** The row as the run leaves it. */
export function rowAfter(row: BulkRow, number: number | undefined, { settled, open }: Progression): BulkRow {
  if (row.result !== 'planned' || number === undefined) return row;
  const settlement = settled.get(number);
  if (settlement !== undefined) return { ...row, ...settlement };
  const fault = open.get(number);
  if (fault === undefined) return { ...row, result: 'notAttempted' };
  const message = `it is not known whether it was written: ${fault.message}`;
  return { ...row, result: 'failed', error: { ...fault, code: 'outcome_unknown', message } };
}
