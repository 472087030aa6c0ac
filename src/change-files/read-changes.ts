import type { Change } from '../inventory/change.ts';
import { type ReaderField, readerFields } from '../inventory/item-fields.ts';
import { addDelta, parseDelta, parseQuantity } from '../inventory/items.ts';
import type { Parsed } from '../shared/parsed.ts';
import { bareNumber, readPetId } from './cell-values.ts';
import type { RawRow, RowField } from './field-names.ts';
import { type FileProblems, type PlaceUnit, ProblemList } from './problems.ts';
import { type ReadOptions, type RowSink, readRows } from './read-rows.ts';
import { ownCopy } from './text.ts';

/**
 * Reads a whole file of changes and finds all its errors, up to where the rest can't be understood. Only the changes
 * are kept in memory, not the text of the file.
 * @throws the errors of `source`
 */
export async function readChanges(source: AsyncIterable<Uint8Array>, options: ReadOptions): Promise<ChangeFile> {
  const collector = new ChangeCollector();
  await readRows(source, options, collector);
  const { problems, changes, addedUp, forReader, rowCount } = collector;
  return problems.or({ changes, addedUp, forReader, rowCount, unit: problems.unit });
}

/** Lines of one pet in a file of deltas. Their deltas are added up, since each is a part of what has come in or out. */
export interface AddedUp {
  readonly petId: bigint;
  readonly lines: readonly number[];
  readonly deltas: readonly number[];
}

/** The cells of a row that are only for its reader. A blank cell is empty. */
export interface ReaderCells extends Readonly<Record<ReaderField, string>> {
  readonly line: number;
  readonly petId: bigint;
}

/** The content of a change file. */
export interface ReadRows {
  /** At most one change for each pet. */
  readonly changes: readonly Change[];
  readonly addedUp: readonly AddedUp[];
  /** The rows with cells for their reader, in the order of the file. */
  readonly forReader: readonly ReaderCells[];
  readonly rowCount: number;
  readonly unit: PlaceUnit;
}

export type ChangeFile = ({ readonly ok: true } & ReadRows) | ({ readonly ok: false } & FileProblems);

/**
 * Returns two deltas of one pet as one change, with the reasons and refs of both; otherwise why they can't be added up,
 * as the end of a message.
 */
function sumOf(first: Change, second: Change): Change | string {
  if (first.quantity !== undefined || second.quantity !== undefined) return '';
  if (second.delta === undefined) return first;
  if (first.delta === undefined) return { ...second, line: first.line };
  const [one, other] = [first.expected, second.expected];
  if (one !== undefined && other !== undefined && one !== other) return ', with another expected stock';
  const sum = addDelta(first.delta, second.delta);
  if (!sum.ok) return ', and their sum is out of range';
  const [reason, ref] = [joined(first.reason, second.reason), joined(first.ref, second.ref)];
  return { ...first, delta: sum.value, expected: one ?? other, reason, ref };
}

/** Joins two texts, in an order that doesn't depend on that of the rows. Keeps one of them if both would be too long. */
function joined(first: string | undefined, second: string | undefined): string | undefined {
  const texts = [first, second].flatMap((text) => text?.split(separator) ?? []);
  const text = [...new Set(texts)].toSorted().join(separator);
  return text.length > maxText ? first : text || undefined;
}

const separator = ', ';

/** Returns the error about a second row of a pet. */
export function repeatedText(petId: bigint, line: number, unit: PlaceUnit): string {
  return `pet ${petId} is already ${unit === 'line' ? 'on line' : 'in item'} ${line}`;
}

const maxText = 1000;

/**
 * Matches the word for a total, in several languages, including Russian, Japanese and Chinese: the last row of many
 * lists begins with it.
 */
const total =
  /^(?:grand |sub)?(?:totals?|totale|totaal|sum|summe|gesamt|insgesamt|somme|suma|soma|\u0438\u0442\u043e\u0433\u043e|\u0432\u0441\u0435\u0433\u043e|\u5408\u8a08|\u603b\u8ba1)[\s:.]*$/i;

function isTotal(cell: string): boolean {
  return cell.length <= 20 && total.test(cell.trim());
}

class ChangeCollector implements RowSink {
  readonly problems = new ProblemList();
  readonly changes: Change[] = [];
  readonly forReader: ReaderCells[] = [];
  rowCount = 0;
  /** The index of the change of each pet. */
  readonly #places = new Map<bigint, number>();
  readonly #parts = new Map<bigint, Change[]>();
  // Most files give all rows the same reason, so one text is shared instead of keeping a piece of the file for each.
  #lastReason: string | undefined;
  #lastRef: string | undefined;

  add(row: RawRow): void {
    const { cells, line } = row;
    const { petId: id = '', reason = '' } = cells;
    // Deltas are recognized by their ref, so white space around it must not make it another one.
    const ref = (cells.ref ?? '').trim();
    if (isTotal(id) || (id === '' && isTotal(reason))) {
      this.problems.add({ line, message: 'this row is a total, not a pet: remove it' });
      return;
    }
    const petId = this.#petId(row);
    const quantity = this.#integer(row, 'quantity', (text) => parseQuantity(text, ' (a change belongs in delta)'));
    const delta = this.#integer(row, 'delta', parseDelta);
    const expected = this.#integer(row, 'expected', parseQuantity);
    if (quantity !== undefined && delta !== undefined) {
      this.problems.add({ line, message: 'there is both a quantity and a delta. Leave one out' });
    }
    if (reason !== (this.#lastReason ?? '')) this.#lastReason = this.#text(row, 'reason', reason);
    if (ref !== (this.#lastRef ?? '')) this.#lastRef = this.#text(row, 'ref', ref);
    if (petId === undefined) return;
    this.rowCount += 1;
    const forReader = readerFields.map((field) => [field, ownCopy((cells[field] ?? '').trim())] as const);
    if (forReader.some(([, text]) => text !== '')) {
      this.forReader.push({ line, petId, ...(Object.fromEntries(forReader) as Record<ReaderField, string>) });
    }
    const change = { line, petId, quantity, delta, expected, reason: this.#lastReason, ref: this.#lastRef };
    this.#add(change, cells.delta !== undefined);
  }

  /** Adds a change. Deltas of one pet are added up; any other second row of a pet is an error that names both lines. */
  #add(change: Change, hasDelta: boolean): void {
    const { petId, line } = change;
    const place = this.#places.get(petId);
    const first = place === undefined ? undefined : this.changes[place];
    if (place === undefined || first === undefined) {
      this.#places.set(petId, this.changes.push(change) - 1);
      return;
    }
    const sum = hasDelta ? sumOf(first, change) : '';
    if (typeof sum === 'string') {
      this.problems.add({ line, message: repeatedText(petId, first.line, this.problems.unit) + sum });
      return;
    }
    this.changes[place] = sum;
    if (first.delta === undefined || change.delta === undefined) return;
    this.#parts.set(petId, [...(this.#parts.get(petId) ?? [first]), change]);
  }

  get addedUp(): readonly AddedUp[] {
    return Array.from(this.#parts, ([petId, parts]) => ({
      petId,
      lines: parts.map(({ line }) => line),
      deltas: parts.map(({ delta = 0 }) => delta),
    }));
  }

  #petId(row: RawRow): bigint | undefined {
    const text = bareNumber(row.cells.petId ?? '');
    if (text !== '') return this.#value(row, 'petId', readPetId(text));
    const message = 'the pet id is missing: if this row is a total, remove it';
    return this.#value(row, 'petId', { ok: false, problem: message });
  }

  #integer(row: RawRow, field: RowField, read: (text: string) => Parsed<number>): number | undefined {
    const text = bareNumber(row.cells[field] ?? '');
    return text === '' ? undefined : this.#value(row, field, read(text));
  }

  #value<T>(row: RawRow, field: RowField, value: Parsed<T>): T | undefined {
    if (value.ok) return value.value;
    this.problems.add({ line: row.line, column: row.names[field] ?? field, message: value.problem });
    return undefined;
  }

  #text(row: RawRow, field: 'reason' | 'ref', text: string): string | undefined {
    // Only JSON files can contain a NUL. SQLite truncates text at a NUL, and PostgreSQL rejects it.
    if (text.includes('\0')) {
      return this.#value(row, field, { ok: false, problem: 'the text contains a NUL character' });
    }
    if (text.length <= maxText) return text === '' ? undefined : ownCopy(text);
    const message = `the text has ${text.length} characters: at most ${maxText} are allowed`;
    return this.#value(row, field, { ok: false, problem: message });
  }
}
