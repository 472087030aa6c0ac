import type { Change } from '../inventory/change.ts';
import { formula } from '../output/delimited.ts';
import { type Batches, chunksOf, headed } from '../output/view.ts';

/** One line of an export. What is undefined is left blank. */
export interface ExportRow extends Partial<Omit<Change, 'line' | 'petId'>> {
  readonly petId: bigint;
  readonly name?: string | null | undefined;
  readonly status?: string | undefined;
}

export interface ExportOptions {
  /** For a spreadsheet: ids as formulas that give a text, a byte order mark, and no text that would run as a formula. */
  readonly spreadsheet?: boolean;
  readonly deltas?: boolean;
  /** The rows have names, for the reader. */
  readonly names?: boolean;
  /** Between two cells; default: a comma. */
  readonly delimiter?: string;
}

/** A text that reading would take for one that was guarded. */
const alreadyGuarded = /^'+[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;

/**
 * Returns a change file as text in pieces: CSV after RFC 4180 with LF line ends. Read again by `readChanges`, it gives the same rows,
 * whether for a spreadsheet or not.
 */
export async function* changeFileText(
  batches: Batches<ExportRow>,
  options: ExportOptions = {},
): AsyncGenerator<string> {
  const { spreadsheet = false, deltas = false, names = false, delimiter = ',' } = options;
  const columns = [
    ...['petId', ...(names ? ['name'] : []), 'status', 'expected', 'quantity'],
    ...[...(deltas ? ['delta'] : []), 'reason', 'ref'],
  ];
  const guard = spreadsheet ? formula : alreadyGuarded;
  // Blanks at the ends are kept by those readers that trim what isn't quoted.
  const needsQuotes = new RegExp(String.raw`["\r\n${delimiter}]|^\s|\s$`);
  const cell = (text: string | undefined): string => {
    if (text === undefined) return '';
    // The apostrophe makes a text of a formula; `readChanges` takes one off again.
    const guarded = guard.test(text) ? `'${text}` : text;
    return needsQuotes.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
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
