import type { Journal } from '../history/journal.ts';
import type { RowWrite } from './write-rows.ts';

/** A queue of rows whose intents are written ahead of them, so that one sync of the disk serves many. */
export interface Intents {
  /** The next row, and the promise that its intent is on disk. */
  take(): { readonly row: RowWrite; readonly durable: Promise<void> } | undefined;
  /** The numbers of rows whose intent was written, but which nobody took. */
  unused(): number[];
}

export function createIntents(queue: readonly RowWrite[], journal: Pick<Journal, 'intent'>, ahead: number): Intents {
  const written = new Map<number, Promise<void>>();
  let next = 0;
  let intended = 0;
  return {
    take: () => {
      const row = queue[next];
      if (row === undefined) return undefined;
      next += 1;
      for (const { row: number } of queue.slice(intended, next + ahead)) {
        const durable = journal.intent(number);
        // Whoever takes the row is told.
        durable.catch(() => {});
        written.set(number, durable);
      }
      intended = Math.max(intended, Math.min(next + ahead, queue.length));
      const durable = written.get(row.row) ?? Promise.resolve();
      written.delete(row.row);
      return { row, durable };
    },
    unused: () => [...written.keys()],
  };
}
