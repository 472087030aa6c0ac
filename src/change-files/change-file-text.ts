/** One line of an export. What is undefined is left blank. */
export interface ExportRow {
  readonly petId: bigint;
  readonly status?: string | undefined;
  readonly expected?: number | undefined;
  readonly quantity?: number | undefined;
  readonly delta?: number | undefined;
  readonly reason?: string | undefined;
  readonly ref?: string | undefined;
}

/** Rows in batches, as they come from their source. */
export type ExportBatches = AsyncIterable<readonly ExportRow[]> | Iterable<readonly ExportRow[]>;

export interface ExportOptions {
  /** For a spreadsheet: ids as formulas that give a text, a byte order mark, and no text that would run as a formula. */
  readonly spreadsheet: boolean;
  /** With a column for deltas. */
  readonly deltas?: boolean;
}

const pieceLength = 65_536;

/** What a spreadsheet takes for a formula, with or without the apostrophe that keeps it from doing so. */
const formula = /^'*[=+\-@\t\r＝＋－＠]/;
/** What reading would take for a text that was guarded. */
const alreadyGuarded = /^'+[=+\-@\t\r＝＋－＠]/;

/**
 * A change file, as text in pieces: CSV after RFC 4180 with LF line ends. Read again by `readChanges`, it gives the
 * same rows, whether for a spreadsheet or not.
 */
export async function* changeFileText(batches: ExportBatches, options: ExportOptions): AsyncGenerator<string> {
  const { spreadsheet, deltas } = options;
  let text = `${spreadsheet ? '\ufeff' : ''}petId,status,expected,quantity,${deltas ? 'delta,' : ''}reason,ref\n`;
  for await (const batch of batches) {
    for (const row of batch) {
      text += rowText(row, options);
      if (text.length < pieceLength) continue;
      yield text;
      text = '';
    }
  }
  if (text !== '') yield text;
}

function rowText(row: ExportRow, { spreadsheet, deltas }: ExportOptions): string {
  const { petId, status, expected, quantity, delta, reason, ref } = row;
  const id = spreadsheet ? `"=""${petId}"""` : petId;
  const guard = spreadsheet ? formula : alreadyGuarded;
  const texts = `${deltas ? `${delta ?? ''},` : ''}${cell(reason, guard)},${cell(ref, guard)}`;
  return `${id},${cell(status, guard)},${expected ?? ''},${quantity ?? ''},${texts}\n`;
}

/** The apostrophe makes a text of a formula; `readChanges` takes one off again. */
function cell(text: string | undefined, guard: RegExp): string {
  if (text === undefined) return '';
  const guarded = guard.test(text) ? `'${text}` : text;
  // Blanks at the ends are kept by those readers that trim what isn't quoted.
  return /[",\r\n]|^\s|\s$/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}
