import type { QueuedRow, RowWrite } from './row-write.ts';

/** The rows that are still to be sent, in their order. Those of the plan are wrapped when their turn comes. */
export class RowQueue {
  #first: QueuedRow[] = [];
  #plan: readonly RowWrite[];
  #next = 0;
  #last: QueuedRow[] = [];
  readonly #stock: Pick<QueuedRow, 'mark' | 'readAt'>;

  /** @param stock the moment of the stock that the rows of the plan rely on */
  constructor(plan: readonly RowWrite[], stock: Pick<QueuedRow, 'mark' | 'readAt'>) {
    this.#plan = plan;
    this.#stock = stock;
  }

  get length(): number {
    return this.#first.length + this.#plan.length - this.#next + this.#last.length;
  }

  /** Takes the next rows out of the queue, at most `most`. */
  take(most: number): QueuedRow[] {
    const rows = this.#first.splice(0, most);
    for (; rows.length < most && this.#next < this.#plan.length; this.#next += 1) rows.push(this.#at(this.#next));
    rows.push(...this.#last.splice(0, most - rows.length));
    return rows;
  }

  /** Returns the next rows, at most `most`, which stay in the queue. */
  peek(most: number): readonly QueuedRow[] {
    const rows = this.#first.slice(0, most);
    for (let next = this.#next; rows.length < most && next < this.#plan.length; next += 1) rows.push(this.#at(next));
    return [...rows, ...this.#last.slice(0, most - rows.length)];
  }

  /** Puts rows before all others. */
  putBack(rows: readonly QueuedRow[]): void {
    if (rows.length > 0) this.#first = [...rows, ...this.#first];
  }

  append(rows: readonly QueuedRow[]): void {
    for (const row of rows) this.#last.push(row);
  }

  rest(): readonly QueuedRow[] {
    return this.peek(this.length);
  }

  replace(rows: readonly QueuedRow[]): void {
    this.#first = [...rows];
    this.#last = [];
    this.#plan = [];
    this.#next = 0;
  }

  #at(index: number): QueuedRow {
    const write = this.#plan[index];
    if (write === undefined) throw new Error('a plan has fewer rows than it says');
    return { write, ...this.#stock };
  }
}
