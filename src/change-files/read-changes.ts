import type { Change } from '../inventory/change.ts';
import { type ReadOnlyField, readOnlyFields } from '../inventory/item-fields.ts';
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
  const addedUp = collector.addUp();
  const { problems, changes, readOnlyCells, rowCount } = collector;
  return problems.or({ changes, addedUp, readOnlyCells, rowCount, unit: problems.unit });
}

/** Lines of one pet in a file of deltas. Their deltas are added up, since each is a part of what has come in or out. */
export interface AddedUp {
  readonly petId: bigint;
  readonly lines: readonly number[];
  readonly deltas: readonly number[];
}

/** The cells of a row that are only for its reader. A blank cell is empty. */
export interface ReadOnlyCells extends Readonly<Record<ReadOnlyField, string>> {
  readonly line: number;
  readonly petId: bigint;
}

/** The content of a change file. */
export interface ReadRows {
  /** At most one change for each pet. */
  readonly changes: readonly Change[];
  readonly addedUp: readonly AddedUp[];
  /** The rows with cells for their reader, in the order of the file. */
  readonly readOnlyCells: readonly ReadOnlyCells[];
  readonly rowCount: number;
  readonly unit: PlaceUnit;
}

export type ChangeFile = ({ readonly ok: true } & ReadRows) | ({ readonly ok: false } & FileProblems);

/**
 * Returns the lines of one pet in a file of deltas as one change, with their sum, and with the reasons and refs of all;
 * otherwise the line that does not fit, and why, as the end of a message.
 */
function sumOf(parts: readonly Change[]): Change | { readonly line: number; readonly why: string } {
  const filled = parts.filter(({ delta }) => delta !== undefined);
  const [first, ...others] = filled.length > 0 ? filled : parts;
  if (first === undefined) throw new RangeError('There are no lines to add up');
  const { line } = parts[0] ?? first;
  let { delta, expected } = first;
  for (const part of others) {
    if (expected !== undefined && part.expected !== undefined && part.expected !== expected) {
      return { line: part.line, why: ', with another expected stock' };
    }
    const sum = addDelta(delta ?? 0, part.delta ?? 0);
    if (!sum.ok) return { line: part.line, why: ', and their sum is out of range' };
    delta = part.delta === undefined ? delta : sum.value;
    expected ??= part.expected;
  }
  const all = [first, ...others];
  const [reason, ref] = [joined(all.map((part) => part.reason)), joined(all.map((part) => part.ref))];
  return { ...first, line, delta, expected, reason, ref };
}

/** Joins different texts in an order that doesn't depend on that of the rows. Keeps one if all would be too long. */
function joined(texts: readonly (string | undefined)[]): string | undefined {
  const different = [...new Set(texts.filter((text) => text !== undefined))].toSorted();
  const text = different.join(', ');
  return text.length > maxText ? different[0] : text || undefined;
}

/** Returns the error about a second row of a pet. */
export function repeatedText(petId: bigint, line: number, unit: PlaceUnit): string {
  return `pet ${petId} is already ${unit === 'line' ? 'on line' : 'in item'} ${line}`;
}

const maxText = 1000;

class ChangeCollector implements RowSink {
  readonly problems = new ProblemList();
  readonly changes: Change[] = [];
  readonly readOnlyCells: ReadOnlyCells[] = [];
  rowCount = 0;
  /** The index of the change of each pet. */
  readonly #places = new Map<bigint, number>();
  readonly #parts = new Map<bigint, Change[]>();
  // Most files give all rows the same reason, so one text is shared instead of keeping a piece of the file for each.
  #lastReason: string | undefined;
  #lastRef: string | undefined;

  add(row: RawRow): void {
    const { cells, line } = row;
    const { reason = '' } = cells;
    // Deltas are recognized by their ref, so white space around it must not make it another one.
    const ref = (cells.ref ?? '').trim();
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
    const texts = readOnlyFields.map((field) => [field, ownCopy((cells[field] ?? '').trim())] as const);
    if (texts.some(([, text]) => text !== '')) {
      this.readOnlyCells.push({ line, petId, ...(Object.fromEntries(texts) as Record<ReadOnlyField, string>) });
    }
    const change = { line, petId, quantity, delta, expected, reason: this.#lastReason, ref: this.#lastRef };
    this.#add(change, cells.delta !== undefined);
  }

  /** Adds a change. A second row of a pet is an error, unless both are in a file of deltas: those are added up. */
  #add(change: Change, hasDelta: boolean): void {
    const { petId, line } = change;
    const place = this.#places.get(petId);
    const first = place === undefined ? undefined : this.changes[place];
    if (first === undefined) {
      this.#places.set(petId, this.changes.push(change) - 1);
      return;
    }
    const areDeltas = hasDelta && first.quantity === undefined && change.quantity === undefined;
    if (!areDeltas) this.#reportRepeated(line, first);
    else {
      const parts = this.#parts.get(petId);
      if (parts === undefined) this.#parts.set(petId, [first, change]);
      else parts.push(change);
    }
  }

  #reportRepeated(line: number, first: Change, why = ''): void {
    this.problems.add({ line, message: repeatedText(first.petId, first.line, this.problems.unit) + why });
  }

  /** Adds up the deltas of each pet. Call this once all rows are read. */
  addUp(): readonly AddedUp[] {
    const addedUp: AddedUp[] = [];
    for (const [petId, parts] of this.#parts) {
      const place = this.#places.get(petId) ?? 0;
      const [sum, first] = [sumOf(parts), this.changes[place]];
      if (first !== undefined && 'why' in sum) this.#reportRepeated(sum.line, first, sum.why);
      else if (!('why' in sum)) this.changes[place] = sum;
      const filled = parts.flatMap(({ line, delta }) => (delta === undefined ? [] : [{ line, delta }]));
      const [lines, deltas] = [filled.map(({ line }) => line), filled.map(({ delta }) => delta)];
      if (filled.length > 1) addedUp.push({ petId, lines, deltas });
    }
    return addedUp;
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
