import type { Change } from './change.ts';
import { IdColumn, NumberColumn, TextColumn } from './value-columns.ts';

/** Changes in their order, made when they are looked at. An array is one. */
export interface Changes extends Iterable<Change> {
  readonly length: number;
}

/** The changes of a file, in columns. */
export class ChangeColumns implements Changes {
  readonly #petIds = new IdColumn();
  readonly #lines = new NumberColumn();
  readonly #quantities = new NumberColumn();
  readonly #deltas = new NumberColumn();
  readonly #expected = new NumberColumn();
  readonly #reasons = new TextColumn();
  readonly #refs = new TextColumn();

  get length(): number {
    return this.#petIds.length;
  }

  push({ line, petId, quantity, delta, expected, reason, ref }: Change): void {
    const row = this.length;
    this.#petIds.push(petId);
    this.#lines.set(row, line);
    this.#quantities.set(row, quantity);
    this.#deltas.set(row, delta);
    this.#expected.set(row, expected);
    this.#reasons.push(reason);
    this.#refs.push(ref);
  }

  *[Symbol.iterator](): Generator<Change, void, undefined> {
    for (let row = 0; row < this.length; row += 1) yield this.#at(row);
  }

  #at(row: number): Change {
    return {
      line: this.#lines.at(row) ?? 0,
      petId: this.#petIds.at(row),
      quantity: this.#quantities.at(row),
      delta: this.#deltas.at(row),
      expected: this.#expected.at(row),
      reason: this.#reasons.at(row),
      ref: this.#refs.at(row),
    };
  }
}
