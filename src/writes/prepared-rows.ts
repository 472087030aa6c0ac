import type { Claims, Mark } from '../history/claims/claims.ts';
import type { Journal } from '../history/journal.ts';
import type { RowWrite } from './row-write.ts';

/** A row that is about to be sent. */
export interface PreparedRow {
  readonly row: RowWrite;
  /** Another command of this machine has claimed its pet: nothing may be sent. */
  readonly isTaken: boolean;
  /** Resolves once its intent is on disk. */
  readonly durable: Promise<void>;
}

/** Rows that are claimed, and whose intents are written, some rows ahead of the requests. */
export interface PreparedRows {
  take(): PreparedRow | undefined;
  /** Rows that were prepared, but that nobody took. */
  unused(): readonly PreparedRow[];
}

export interface Preparation {
  readonly journal: Pick<Journal, 'intent'>;
  readonly claims: Pick<Claims, 'claimAll'>;
  readonly mark: Mark;
  /** The rows that are claimed from an earlier round; those that are claimed here are added. */
  readonly claimed: Set<RowWrite>;
  /** So many rows are prepared at once: one sync of the disk, and one look at the claims of others, serve them all. */
  readonly size: number;
}

export function createPreparedRows(queue: readonly RowWrite[], options: Preparation): PreparedRows {
  const { journal, claims, mark, claimed, size } = options;
  let prepared: PreparedRow[] = [];
  let next = 0;
  let end = 0;

  const prepare = (): void => {
    const rows = queue.slice(end, end + size);
    end += rows.length;
    const unclaimed = rows.filter((row) => !claimed.has(row));
    const taken = claims.claimAll(
      unclaimed.map(({ petId }) => petId),
      mark,
    );
    prepared = [...prepared.slice(next), ...rows.map((row) => prepareRow(row, taken.has(row.petId)))];
    next = 0;
  };
  const prepareRow = (row: RowWrite, isTaken: boolean): PreparedRow => {
    if (isTaken) return { row, isTaken, durable: Promise.resolve() };
    claimed.add(row);
    const durable = journal.intent(row.row);
    // Whoever takes the row is told.
    durable.catch(() => {});
    return { row, isTaken, durable };
  };

  return {
    take: () => {
      if (prepared.length - next <= size / 2 && end < queue.length) prepare();
      const row = prepared[next];
      if (row !== undefined) next += 1;
      return row;
    },
    unused: () => prepared.slice(next),
  };
}
