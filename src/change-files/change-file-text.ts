import type { Change } from '../inventory/change.ts';
import { fieldOf, type Quantity, type ReadOnlyField, readOnlyFields } from '../inventory/item-fields.ts';
import { csvQuoting, guarded } from '../output/delimited.ts';
import { type Batches, chunksOf, headed } from '../output/view.ts';

/** One row of an export. Undefined values are left blank. */
export interface ExportRow
  extends Partial<Omit<Change, 'line' | 'petId' | 'quantity' | 'expected'>>,
    Partial<Readonly<Record<ReadOnlyField, string | undefined>>> {
  readonly petId: bigint;
  /** A stock beyond the safe integers is written as it is; `apply` then refuses the row. */
  readonly quantity?: Quantity | undefined;
  readonly expected?: Quantity | undefined;
}

/** Returns the columns for the reader: first the names of the shop, if there are any. */
export function readOnlyColumns(names: boolean): readonly ReadOnlyField[] {
  const [ofShop, ofService] = [true, false].map((wanted) =>
    readOnlyFields.filter((field) => (fieldOf(field).isOfShop === true) === wanted),
  );
  return [...((names && ofShop) || []), ...(ofService ?? [])];
}

export interface ExportOptions {
  /**
   * Whether the file is for a spreadsheet. It then begins with a byte order mark, and ids are formulas that return a
   * text.
   */
  readonly spreadsheet?: boolean;
  /** Whether to write text that a spreadsheet would run as a formula as it is. Otherwise an apostrophe is in front. */
  readonly raw?: boolean;
  readonly deltas?: boolean;
  /** Whether to write a column with the names of the pets. It is only for people to read. */
  readonly names?: boolean;
  readonly delimiter?: string;
}

/**
 * Yields a change file as text, in pieces: CSV by RFC 4180 with LF line ends. `readChanges` reads the same rows from
 * it, whether it is for a spreadsheet, raw or not.
 */
export async function* changeFileText(
  batches: Batches<ExportRow>,
  options: ExportOptions = {},
): AsyncGenerator<string> {
  const { spreadsheet = false, raw = false, deltas = false, names = false, delimiter = ',' } = options;
  const readOnly = readOnlyColumns(names);
  const columns = ['petId', ...readOnly, 'expected', 'quantity', ...(deltas ? ['delta'] : []), 'reason', 'ref'];
  const quote = csvQuoting(delimiter);
  const cell = (text = ''): string => {
    // `readChanges` removes one apostrophe, so a text that begins with one is guarded in any case.
    return quote(raw && !text.startsWith("'") ? text : guarded(text));
  };
  const head = `${spreadsheet ? '\ufeff' : ''}${columns.join(delimiter)}\n`;
  const lines = chunksOf(batches, (row) => {
    const id = spreadsheet ? `"=""${row.petId}"""` : `${row.petId}`;
    const numbers = [row.expected ?? '', row.quantity ?? '', ...(deltas ? [row.delta ?? ''] : [])];
    const texts = readOnly.map((field) => cell(row[field]));
    return `${[id, ...texts, ...numbers, cell(row.reason), cell(row.ref)].join(delimiter)}\n`;
  });
  yield* headed(head, lines);
}
