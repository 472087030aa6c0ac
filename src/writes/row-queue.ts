import type { Mark } from '../state/pets.ts';
import type { QueuedRow, RowWrite, RowWrites } from './row-write.ts';

/**
 * The rows that are still to be sent, in their order. Those of the plan are made when their turn comes: a hundred thousand of them
 * are not held beside the plan.
 */
export class RowQueue {
  /** What comes before the rest of the plan, the first of them last. */
  #first: QueuedRow[] = [];
  readonly #plan: Iterator<RowWrite>;
  readonly #mark: Mark | undefined;
  #planned: number;
  /** What comes behind it, the first of them last. */
  #last: QueuedRow[] = [];

  /** @param mark the moment of the stock that the rows rely on */
  constructor(plan: RowWrites, mark: Mark | undefined) {
    this.#plan = plan[Symbol.iterator]();
    this.#planned = plan.length;
    this.#mark = mark;
  }

  get length(): number {
    return this.#first.length + this.#planned + this.#last.length;
  }

  /** The next rows, at most so many: they are in the queue no more. */
  take(most: number): QueuedRow[] {
    const rows: QueuedRow[] = [];
    while (rows.length < most) {
      const row = this.#first.pop() ?? this.#nextOfPlan() ?? this.#last.pop();
      if (row === undefined) break;
      rows.push(row);
    }
    return rows;
  }

  /** Before all others. */
  putBack(rows: readonly QueuedRow[]): void {
    if (rows.length > 0) this.#first = [...this.#first, ...rows.toReversed()];
  }

  /** Behind all others. */
  append(rows: readonly QueuedRow[]): void {
    if (rows.length > 0) this.#last = [...rows.toReversed(), ...this.#last];
  }

  /** All of them, which stay in the queue. */
  rest(): readonly QueuedRow[] {
    const rows = this.take(this.length);
    this.putBack(rows);
    return rows;
  }

  /** All of them are others now. */
  replace(rows: readonly QueuedRow[]): void {
    this.#first = rows.toReversed();
    this.#last = [];
    this.#planned = 0;
  }

  #nextOfPlan(): QueuedRow | undefined {
    if (this.#planned === 0) return undefined;
    const { value, done } = this.#plan.next();
    if (done) throw new Error('a plan has fewer rows than it says');
    this.#planned -= 1;
    return { write: value, mark: this.#mark };
  }
}
