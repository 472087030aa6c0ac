import type { Change } from '../inventory/change.ts';
import type { Parsed } from '../inventory/parsed.ts';
import { bareNumber, readDelta, readPetId, readQuantity } from './cell-values.ts';
import { FaultList, type FileFault, type PlaceUnit, type Remedy } from './fault.ts';
import type { RawRow, RowField } from './field-names.ts';
import { type ReadOptions, readRows } from './read-rows.ts';
import { SeenIds } from './seen-ids.ts';

export type { FileFault, PlaceUnit, Remedy } from './fault.ts';
export { type ChangeFormat, changeFormats } from './read-rows.ts';

/**
 * Reads a file of changes, all of it, and finds every fault that it has. What is kept of it is the changes alone, so the
 * size of the file doesn't matter.
 * @throws what `source` throws: it is the caller who knows what it reads from
 */
export async function readChanges(source: AsyncIterable<Uint8Array>, options: ReadOptions): Promise<ChangeFile> {
  const collector = new ChangeCollector();
  await readRows(source, options, collector);
  return collector.finish();
}

/** What a change file holds: its changes in the order of lines, or what is wrong with it. */
export type ChangeFile =
  | { readonly ok: true; readonly changes: readonly Change[]; readonly unit: PlaceUnit }
  | {
      readonly ok: false;
      /** What `line` means in the faults. */
      readonly unit: PlaceUnit;
      /** The first thousand, in the order of lines. */
      readonly faults: readonly FileFault[];
      /** How many there are in all. */
      readonly total: number;
      /** How the file can be read all the same, where its names alone stand in the way. */
      readonly remedy: Remedy | undefined;
    };

const longestText = 1000;

/** The first word of the last row of many lists, in some languages. */
const total =
  /^(?:grand |sub)?(?:totals?|totale|totaal|sum|summe|gesamt|insgesamt|somme|suma|soma|итого|всего|合計|总计)[\s:.]*$/i;

function isTotal(cell: string): boolean {
  return cell.length <= 20 && total.test(cell.trim());
}

/** Makes changes of rows, and notes every fault of each. */
class ChangeCollector {
  readonly faults = new FaultList();
  readonly #changes: Change[] = [];
  readonly #seen = new SeenIds();
  #lastReason = '';
  #lastRef = '';

  add(row: RawRow): void {
    const { cells, line } = row;
    if (isTotal(cells.petId) || (cells.petId === '' && isTotal(cells.reason))) {
      this.faults.add({ line, message: 'this row is a total, and no pet: remove it' });
      return;
    }
    const petId = this.#petId(row);
    const quantity = this.#integer(row, 'quantity', readQuantity);
    const delta = this.#integer(row, 'delta', readDelta);
    const expected = this.#integer(row, 'expected', readQuantity);
    if (quantity !== undefined && delta !== undefined) {
      this.faults.add({ line, message: 'there is both a quantity and a delta: leave one out' });
    }
    // Most files give all rows the same reason. One text for all of them is less to keep than a piece of the file for each.
    if (cells.reason !== this.#lastReason) this.#lastReason = this.#text(row, 'reason');
    if (cells.ref !== this.#lastRef) this.#lastRef = this.#text(row, 'ref');
    if (petId === undefined) return;
    this.#seen.add(petId, line);
    if (this.faults.total > 0) return;
    const reason = this.#lastReason === '' ? undefined : this.#lastReason;
    const ref = this.#lastRef === '' ? undefined : this.#lastRef;
    this.#changes.push({ line, petId, quantity, delta, expected, reason, ref });
  }

  finish(): ChangeFile {
    const repeated = new FaultList();
    const { unit } = this.faults;
    this.#seen.reportRepeated(repeated, unit);
    const total = this.faults.total + repeated.total;
    if (total === 0) return { ok: true, changes: this.#changes, unit };
    const { remedy } = this.faults;
    return { ok: false, unit, faults: this.faults.inOrder(repeated), total, remedy };
  }

  #petId(row: RawRow): bigint | undefined {
    const text = bareNumber(row.cells.petId);
    if (text !== '') return this.#value(row, 'petId', readPetId(text));
    this.faults.add({
      line: row.line,
      column: row.names.petId,
      message: 'the pet id is missing: if this row is a total, remove it',
    });
    return undefined;
  }

  #integer(row: RawRow, field: RowField, read: (text: string) => Parsed<number>): number | undefined {
    const cell = row.cells[field];
    if (cell === '') return undefined;
    const text = bareNumber(cell);
    return text === '' ? undefined : this.#value(row, field, read(text));
  }

  #value<T>(row: RawRow, field: RowField, value: Parsed<T>): T | undefined {
    if (value.ok) return value.value;
    this.faults.add({ line: row.line, column: row.names[field], message: value.fault });
    return undefined;
  }

  #text(row: RawRow, field: 'reason' | 'ref'): string {
    const text = row.cells[field];
    if (text.length <= longestText) return ownCopy(text);
    this.faults.add({
      line: row.line,
      column: row.names[field],
      message: `the text has ${text.length} characters: at most ${longestText} are allowed`,
    });
    return '';
  }
}

/** V8 keeps a slice of 13 characters or more as a view of the whole text that it is of: of a copy, none of that stays. */
function ownCopy(text: string): string {
  if (text.length < 13) return text;
  const copy = Buffer.from(text).toString();
  // Half a surrogate pair, which JSON can have, is lost in UTF-8.
  return copy === text ? copy : text;
}
