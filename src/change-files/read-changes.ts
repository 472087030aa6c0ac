import type { Change } from '../inventory/change.ts';
import { ItemColumns } from '../inventory/item-columns.ts';
import { parseDelta } from '../inventory/items.ts';
import { PetIdSet } from '../inventory/pet-id-set.ts';
import { StockList } from '../inventory/stock-list.ts';
import type { Parsed } from '../shared/parsed.ts';
import { bareNumber, readPetId, readQuantity } from './cell-values.ts';
import type { RawRow, RowField } from './field-names.ts';
import { type FileProblems, type PlaceUnit, ProblemList } from './problems.ts';
import { type ReadOptions, type RowSink, readRows } from './read-rows.ts';

/**
 * Reads a file of changes, all of it, and finds every fault that it has. What is kept of it is the changes alone, so the
 * size of the file doesn't matter.
 * @throws what `source` throws: it is the caller who knows what it reads from
 */
export async function readChanges(source: AsyncIterable<Uint8Array>, options: ReadOptions): Promise<ChangeFile> {
  const collector = new ChangeCollector();
  await readRows(source, options, collector);
  const { problems, changes, forReader } = collector;
  return problems.or({ changes, forReader, unit: problems.unit });
}

/** The cells of a row that no change is read from. Empty: blank. */
export interface ReaderCells {
  readonly line: number;
  readonly status: string;
  readonly name: string;
}

export type ChangeFile =
  | {
      readonly ok: true;
      readonly changes: readonly Change[];
      readonly forReader: ReadonlyMap<bigint, ReaderCells>;
      readonly unit: PlaceUnit;
    }
  | ({ readonly ok: false } & FileProblems);

export class SeenPetLines {
  readonly #petIds = new PetIdSet();
  /** The line of each, by its place in the set. */
  readonly #lines: number[] = [];

  constructor(private readonly problems: ProblemList) {}

  /** Adds a fault if an earlier row has the pet. */
  add(petId: bigint, line: number): void {
    const place = this.#petIds.add(petId);
    const first = this.#lines[place];
    if (first === undefined) this.#lines.push(line);
    else {
      const where = this.problems.unit === 'line' ? 'on line' : 'item';
      this.problems.add({ line, message: `pet ${petId} is ${where} ${first} already` });
    }
  }
}

const maxText = 1000;

/** The first word of the last row of many lists, in some languages, Russian, Japanese and Chinese among them. */
const total =
  /^(?:grand |sub)?(?:totals?|totale|totaal|sum|summe|gesamt|insgesamt|somme|suma|soma|\u0438\u0442\u043e\u0433\u043e|\u0432\u0441\u0435\u0433\u043e|\u5408\u8a08|\u603b\u8ba1)[\s:.]*$/i;

function isTotal(cell: string): boolean {
  return cell.length <= 20 && total.test(cell.trim());
}

class ChangeCollector implements RowSink {
  readonly problems = new ProblemList();
  readonly changes: Change[] = [];
  readonly forReader = new Map<bigint, ReaderCells>();
  readonly #seen = new SeenPetLines(this.problems);
  // Most files give all rows the same reason. One text for all of them is less to keep than a piece of the file for each.
  #lastReason: string | undefined;
  #lastRef: string | undefined;

  add(row: RawRow): void {
    const { cells, line } = row;
    const { petId: id = '', reason = '', ref = '', status = '', name = '' } = cells;
    if (isTotal(id) || (id === '' && isTotal(reason))) {
      this.problems.add({ line, message: 'this row is a total, and no pet: remove it' });
      return;
    }
    const petId = this.#petId(row);
    const quantity = this.#integer(row, 'quantity', readQuantity);
    const delta = this.#integer(row, 'delta', parseDelta);
    const expected = this.#integer(row, 'expected', readQuantity);
    if (quantity !== undefined && delta !== undefined) {
      this.problems.add({ line, message: 'there is both a quantity and a delta. Leave one out' });
    }
    if (reason !== (this.#lastReason ?? '')) this.#lastReason = this.#text(row, 'reason', reason);
    if (ref !== (this.#lastRef ?? '')) this.#lastRef = this.#text(row, 'ref', ref);
    if (petId === undefined) return;
    this.#seen.add(petId, line);
    if (this.problems.total > 0) return;
    if (status !== '' || name !== '')
      this.forReader.set(petId, { line, status: ownCopy(status.trim()), name: ownCopy(name.trim()) });
    this.changes.push({ line, petId, quantity, delta, expected, reason: this.#lastReason, ref: this.#lastRef });
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
    // SQLite hands out what is before it, PostgreSQL refuses it. Other formats can't have it.
    if (text.includes('\0')) {
      return this.#value(row, field, { ok: false, problem: 'there is a NUL character in the text' });
    }
    if (text.length <= maxText) return text === '' ? undefined : ownCopy(text);
    const message = `the text has ${text.length} characters: at most ${maxText} are allowed`;
    return this.#value(row, field, { ok: false, problem: message });
  }
}

/** V8 keeps a slice of 13 characters or more as a view of the whole text that it is of: of a copy, none of that stays. */
function ownCopy(text: string): string {
  if (text.length < 13) return text;
  const copy = Buffer.from(text).toString();
  // Half a surrogate pair, which JSON can have, is lost in UTF-8.
  return copy === text ? copy : text;
}

export type StockFile = { readonly ok: true; readonly list: StockList } | ({ readonly ok: false } & FileProblems);

/**
 * Reads a list of stock as `list` and `export` write it: a pet and its quantity in each row; its status if there is one,
 * else empty. A table of pet id, quantity and status needs no header line, since `list` writes none into a pipe. No pet is
 * there twice.
 * @throws what `source` throws
 */
export async function readStockList(
  source: AsyncIterable<Uint8Array>,
  options: Pick<ReadOptions, 'name' | 'format'>,
): Promise<StockFile> {
  const collector = new StockCollector();
  await readRows(source, { ...options, ignoreColumns: true, isStockList: true }, collector);
  return collector.finish();
}

class StockCollector implements RowSink {
  readonly problems = new ProblemList();
  readonly #lines: number[] = [];
  readonly #items = new ItemColumns();

  add({ line, cells, names }: RawRow): void {
    const petId = readPetId(bareNumber(cells.petId ?? ''));
    const text = bareNumber(cells.quantity ?? '');
    const quantity = text === '' ? { ok: false as const, problem: 'the quantity is missing' } : readQuantity(text);
    const problem = (field: 'petId' | 'quantity' | 'delta', message: string) =>
      this.problems.add({ line, column: names[field] ?? field, message });
    if (!petId.ok) problem('petId', petId.problem);
    if (!quantity.ok) problem('quantity', quantity.problem);
    if (cells.delta) problem('delta', 'a list of stock has no changes in it, only quantities');
    if (!petId.ok || !quantity.ok) return;
    this.#lines.push(line);
    this.#items.append({ petId: petId.value, quantity: quantity.value, status: (cells.status ?? '').trim() });
  }

  finish(): StockFile {
    const list = new StockList(this.#items);
    // Only if there are any: a set of all takes a quarter of the time that a file takes.
    if (list.repeated() !== undefined) this.#reportRepeated();
    return this.problems.or({ list });
  }

  #reportRepeated(): void {
    const seen = new SeenPetLines(this.problems);
    for (const [index, line] of this.#lines.entries()) seen.add(this.#items.petIdAt(index), line);
  }
}
