import { type BulkRow, type BulkRows, type RowError, rowResults } from './change.ts';
import { IdColumn, NumberColumn, TextColumn } from './value-columns.ts';

/**
 * The rows of a bulk change, in columns: 40 bytes a row in place of 200, and nothing of it is of the kind that a garbage
 * collector has to follow. A row is an object only while it is looked at.
 */
export class RowColumns implements BulkRows {
  readonly #petIds = new IdColumn();
  readonly #lines = new NumberColumn();
  readonly #before = new NumberColumn();
  readonly #after = new NumberColumn();
  readonly #deltas = new NumberColumn();
  readonly #expected = new NumberColumn();
  readonly #quantities = new NumberColumn();
  readonly #reasons = new TextColumn();
  readonly #refs = new TextColumn();
  /** Of few rows. */
  readonly #errors = new Map<number, RowError>();
  /** Indexes into `rowResults`. */
  #results = new Uint8Array(64);

  get length(): number {
    return this.#petIds.length;
  }

  push(row: BulkRow): void {
    const index = this.length;
    if (index === this.#results.length) {
      const results = new Uint8Array(2 * index);
      results.set(this.#results);
      this.#results = results;
    }
    this.#petIds.push(row.petId);
    this.#lines.set(index, row.line);
    this.#before.set(index, row.before);
    this.#after.set(index, row.after);
    this.#deltas.set(index, row.delta);
    this.#expected.set(index, row.expected);
    this.#reasons.push(row.reason);
    this.#refs.push(row.ref);
    this.settle(index, row);
  }

  /** @param index below `length` */
  at(index: number): BulkRow {
    return {
      line: this.#lines.at(index) ?? 0,
      petId: this.#petIds.at(index),
      before: this.#before.at(index),
      after: this.#after.at(index),
      delta: this.#deltas.at(index),
      expected: this.#expected.at(index),
      result: rowResults[this.#results[index] ?? 0] ?? 'planned',
      quantity: this.#quantities.at(index),
      error: this.#errors.get(index),
      reason: this.#reasons.at(index),
      ref: this.#refs.at(index),
    };
  }

  /** What has become of a row. */
  settle(index: number, { result, quantity, error }: Pick<BulkRow, 'result' | 'quantity' | 'error'>): void {
    this.#results[index] = rowResults.indexOf(result);
    this.#quantities.set(index, quantity);
    if (error !== undefined) this.#errors.set(index, error);
    else if (this.#errors.size > 0) this.#errors.delete(index);
  }

  *[Symbol.iterator](): Generator<BulkRow, void, undefined> {
    for (let index = 0; index < this.length; index += 1) yield this.at(index);
  }
}
