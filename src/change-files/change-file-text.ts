import type { Change } from '../inventory/change.ts';
import { type Batches, chunksOf, headed } from '../output/batches.ts';
import { guarded } from '../output/delimited.ts';

/** One row of an export. Undefined values are left blank. */
export interface ExportRow extends Partial<Omit<Change, 'line' | 'petId'>> {
  readonly petId: bigint;
  readonly name?: string | null | undefined;
  readonly status?: string | undefined;
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
  const columns = [
    ...['petId', ...(names ? ['name'] : []), 'status', 'expected', 'quantity'],
    ...[...(deltas ? ['delta'] : []), 'reason', 'ref'],
  ];
  // Quotes, line breaks and the delimiter need quotes by RFC 4180. White space at either end needs quotes, too, because
  // some readers trim unquoted text.
  const needsQuotes = new RegExp(String.raw`["\r\n${delimiter}]|^\s|\s$`);
  const cell = (text = ''): string => {
    // `readChanges` removes one apostrophe, so a text that begins with one is guarded in any case.
    const written = raw && !text.startsWith("'") ? text : guarded(text);
    return needsQuotes.test(written) ? `"${written.replaceAll('"', '""')}"` : written;
  };
  const head = `${spreadsheet ? '\ufeff' : ''}${columns.join(delimiter)}\n`;
  const lines = chunksOf(batches, (row) => {
    const id = spreadsheet ? `"=""${row.petId}"""` : `${row.petId}`;
    const numbers = [row.expected ?? '', row.quantity ?? '', ...(deltas ? [row.delta ?? ''] : [])];
    const name = names ? [cell(row.name ?? undefined)] : [];
    return `${[id, ...name, cell(row.status), ...numbers, cell(row.reason), cell(row.ref)].join(delimiter)}\n`;
  });
  yield* headed(head, lines);
}
