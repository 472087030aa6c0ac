import { type InventoryItem, itemOfTexts } from '../inventory/item-fields.ts';
import { parseQuantity } from '../inventory/items.ts';
import { StockList } from '../inventory/stock-list.ts';
import { quoted } from '../shared/parsed.ts';
import { bareNumber, readPetId } from './cell-values.ts';
import type { Field, RawRow } from './field-names.ts';
import { type FileProblems, ProblemList } from './problems.ts';
import { repeatedText } from './read-changes.ts';
import { type ReadOptions, type RowSink, readRows } from './read-rows.ts';
import { ownCopy } from './text.ts';

export type StockFile = { readonly ok: true; readonly list: StockList } | ({ readonly ok: false } & FileProblems);

interface StockOptions extends Pick<ReadOptions, 'name' | 'format'> {
  /** The statuses that are allowed, in lower case; a blank one always is. Default: any text. */
  readonly statuses?: readonly string[] | undefined;
}

/**
 * Reads a stock list as written by `list` and `export`: a pet, its quantity and its status (empty if there is none) in
 * each row. Where there is no quantity, as in an export that was edited, the stock is the expected one. A table of pet
 * id, quantity and status needs no header line, because `list` writes none into a pipe. No pet may appear twice.
 * @throws the errors of `source`
 */
export async function readStockList(
  source: AsyncIterable<Uint8Array>,
  { statuses, ...options }: StockOptions,
): Promise<StockFile> {
  const collector = new StockCollector(statuses);
  await readRows(source, { ...options, ignoreColumns: 'all', isStockList: true }, collector);
  return collector.finish();
}

class StockCollector implements RowSink {
  readonly problems = new ProblemList();
  readonly #lines: number[] = [];
  readonly #items: InventoryItem[] = [];

  constructor(private readonly statuses: StockOptions['statuses']) {}

  add({ line, cells, names }: RawRow): void {
    const { statuses } = this;
    const petId = readPetId(bareNumber(cells.petId ?? ''));
    const text = bareNumber(cells.quantity ?? '') || bareNumber(cells.expected ?? '');
    const quantity = text === '' ? { ok: false as const, problem: 'the quantity is missing' } : parseQuantity(text);
    const written = (cells.status ?? '').trim();
    const status = statuses === undefined ? written : written.toLowerCase();
    const isKnown = status === '' || statuses === undefined || statuses.includes(status);
    const problem = (field: Field, message: string) =>
      this.problems.add({ line, column: names[field] ?? field, message });
    if (!petId.ok) problem('petId', petId.problem);
    if (!quantity.ok) problem('quantity', quantity.problem);
    if (cells.delta) problem('delta', 'a stock list contains quantities, not changes');
    if (!isKnown) problem('status', `the status must be ${statuses.join(', ')}, not ${quoted(written)}`);
    if (!petId.ok || !quantity.ok) return;
    this.#lines.push(line);
    const texts = { ...cells, status };
    this.#items.push(itemOfTexts(petId.value, quantity.value, (name) => ownCopy((texts[name] ?? '').trim())));
  }

  finish(): StockFile {
    const list = new StockList(this.#items);
    // The lines are compared only if a pet is repeated, because a set of all pets takes a quarter of the reading time.
    if (list.repeated() !== undefined) this.#reportRepeated();
    return this.problems.or({ list });
  }

  #reportRepeated(): void {
    const { problems } = this;
    const firstLines = new Map<bigint, number>();
    for (const [index, { petId }] of this.#items.entries()) {
      const line = this.#lines[index] ?? 0;
      const first = firstLines.get(petId);
      if (first === undefined) firstLines.set(petId, line);
      else problems.add({ line, message: repeatedText(petId, first, problems.unit) });
    }
  }
}
