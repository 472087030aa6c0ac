import type { QueuedRow } from './row-write.ts';

/** The rows that are still to be sent, in their order. */
export class RowQueue {
  #rows: QueuedRow[];
  #next = 0;

  constructor(rows: Iterable<QueuedRow>) {
    this.#rows = [...rows];
  }

  get length(): number {
    return this.#rows.length - this.#next;
  }

  /** Takes the next rows out of the queue, at most `most`. */
  take(most: number): QueuedRow[] {
    const rows = this.#rows.slice(this.#next, this.#next + most);
    this.#next += rows.length;
    return rows;
  }

  /** Puts rows before all others. */
  putBack(rows: readonly QueuedRow[]): void {
    if (rows.length > 0) this.replace([...rows, ...this.rest()]);
  }

  append(rows: readonly QueuedRow[]): void {
    for (const row of rows) this.#rows.push(row);
  }

  rest(): readonly QueuedRow[] {
    return this.#next === 0 ? this.#rows : this.#rows.slice(this.#next);
  }

  replace(rows: readonly QueuedRow[]): void {
    this.#rows = [...rows];
    this.#next = 0;
  }

  /** Returns the next rows, at most `most`, which stay in the queue. */
  peek(most: number): readonly QueuedRow[] {
    return this.#rows.slice(this.#next, this.#next + most);
  }
}
