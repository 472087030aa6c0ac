import type { LaterWrite, RecentWrite, RecordedRow, RunRecord } from '../inventory/run-records.ts';
import { serviceByName } from './leases.ts';
import { runIdIn } from './run-ids.ts';
import type { StateDatabase } from './state-database.ts';
import { name, number, type Row, statement, text } from './statements.ts';
import { possibleResults } from './tables.ts';

const ofPet = `pet_id = ? AND service = ${serviceByName}`;

const ofRow = 'FROM petstock.rows WHERE run = (SELECT id FROM petstock.runs WHERE run = ?) AND row = ?';
const ownSql = `SELECT result, sequence ${ofRow}`;
const laterSql = `SELECT runs.run, runs.command, runs.undoes, written.row, written.line, written.result, written.quantity,
    written.before, written.after, written.delta, written.sequence
  FROM (SELECT * FROM petstock.rows WHERE ${ofPet} AND touched > coalesce((SELECT sequence ${ofRow}), 0) AND result IN (${possibleResults})) AS written
  JOIN petstock.runs ON runs.id = written.run WHERE runs.run <> ? ORDER BY written.sequence`;
const prunedSql = `SELECT sequence FROM petstock.pruned WHERE ${ofPet}`;

/** The writes to pets by all runs. Many rows are queried at once, because the database may be far away. */
export class PetWrites {
  readonly #database: Pick<StateDatabase, 'query'>;

  constructor(database: Pick<StateDatabase, 'query'>) {
    this.#database = database;
  }

  /**
   * Returns, for each row, what other runs have written to its pet after that row, or may have written, oldest first.
   * If some of these writes were removed from the history, the first item represents them. Writes that were undone are
   * left out together with their undo, because together they changed nothing.
   */
  async after(
    { serviceName, run }: Pick<RunRecord, 'serviceName' | 'run'>,
    rows: readonly Pick<RecordedRow, 'row' | 'petId'>[],
  ): Promise<LaterWrite[][]> {
    const answers = await this.#database.query(
      ...rows.flatMap(({ row, petId }) => [
        statement(ownSql, run, row),
        statement(laterSql, petId, serviceName, run, row, run),
        statement(prunedSql, petId, serviceName),
      ]),
    );
    return rows.map((_row, index) => {
      const [[own] = [], later = [], [pruned] = []] = answers.slice(index * 3, index * 3 + 3);
      const sequence = number(own?.sequence) ?? 0;
      // A row that was sent held the lease, so writes sent earlier also arrived earlier, whenever their outcome was
      // found. A row that was only planned held no lease: a write that was in flight then may have arrived after the
      // row's stock was read.
      const wasSent = own !== undefined && own.result !== 'pending' && own.result !== 'conflict';
      const counting = wasSent ? later.filter((row) => (number(row.sequence) ?? 0) > sequence) : later;
      const isPruned = (number(pruned?.sequence) ?? 0) > sequence;
      return [...(isPruned ? [prunedWrite] : []), ...withoutUndone(counting.map(writtenRowIn))];
    });
  }

  /**
   * Returns the last stock of each pet in the history, read or written; undefined if there is none or it is uncertain.
   */
  async lastKnown(service: string, pets: readonly PetBefore[]): Promise<(number | undefined)[]> {
    const answers = await this.#database.query(
      ...pets.map(({ petId, before = longAfter }) => statement(settledLaterSql, petId, service, before, before)),
      ...pets.map(({ petId, before = longAfter }) => statement(lastSql, petId, service, before)),
      ...pets.map(({ petId }) => statement(prunedSql, petId, service)),
    );
    return pets.map((_pet, index) => {
      const [settledLater, last, pruned] = [0, 1, 2].map((part) => answers[part * pets.length + index]?.[0]);
      // The stock is not known if an earlier write was only settled later, or if a later write was removed from the
      // history.
      const isBlind = (number(pruned?.sequence) ?? 0) > (number(last?.touched) ?? 0);
      return settledLater !== undefined || isBlind ? undefined : quantityIn(last);
    });
  }
}

/** A write whose row was removed from the history. */
const prunedWrite: LaterWrite = { command: 'history prune', result: 'pruned' };

interface WrittenRow extends LaterWrite {
  readonly undoes: string | undefined;
  readonly row: number;
  readonly line: number;
}

function writtenRowIn(row: Row): WrittenRow {
  return {
    ...stockIn(row),
    run: runIdIn(row.run),
    command: name(row.command),
    undoes: text(row.undoes) && runIdIn(row.undoes),
    row: Number(row.row),
    line: Number(row.line),
    delta: number(row.delta),
  };
}

/** Returns the stock before a write, and the stock that was or may have been written. */
export function stockIn({ before, after, quantity, ...row }: Row): Pick<RecentWrite, 'result' | 'before' | 'quantity'> {
  const result = String(row.result) as RecentWrite['result'];
  const written = result === 'unknown' ? undefined : number(quantity);
  return { result, before: number(before), quantity: written ?? Number(after) };
}

/**
 * Removes pairs of a write and its undo, the newest first, because an undo may itself have been undone.
 * @param rows the oldest first
 */
function withoutUndone(rows: readonly WrittenRow[]): LaterWrite[] {
  const left = new Set(rows);
  for (const undo of rows.toReversed()) {
    if (undo.undoes === undefined || undo.result !== 'applied' || !left.has(undo)) continue;
    const undone = rows.find(({ run, row }) => run === undo.undoes && row === undo.line);
    if (undone === undefined || !left.has(undone)) continue;
    left.delete(undo);
    left.delete(undone);
  }
  return [...left].map(({ run, command, result, quantity, before, delta }) => {
    return { run, command, result, quantity, before, delta };
  });
}

export interface PetBefore {
  readonly petId: bigint;
  /** Only writes before this sequence number count; undefined if all writes do. */
  readonly before?: number | undefined;
}

/**
 * A condition in SQL: whether the outcome of a write was found only after another write to the pet was sent, so that
 * its stock is outdated.
 */
export const isOutdatedSql = `(rows.result IN ('applied', 'differs') AND EXISTS (SELECT 1 FROM petstock.rows AS later
  WHERE later.pet_id = rows.pet_id AND later.service = rows.service AND later.touched > rows.sequence
  AND later.sequence > rows.sequence AND later.sequence < rows.touched AND later.result IN (${possibleResults})))`;

const settledLaterSql = `SELECT 1 AS found FROM petstock.rows WHERE ${ofPet} AND touched >= ? AND sequence < ? AND result IN (${possibleResults}) LIMIT 1`;
const lastSql = `SELECT result, before, after, quantity, touched FROM petstock.rows WHERE ${ofPet} AND touched < ?
  AND (result IN (${possibleResults}) OR result = 'unchanged' OR quantity IS NOT NULL OR before IS NOT NULL)
  AND NOT ${isOutdatedSql} ORDER BY touched DESC LIMIT 1`;

const longAfter = Number.MAX_SAFE_INTEGER;

function quantityIn(last: Row | undefined): number | undefined {
  if (last === undefined || last.result === 'unknown') return undefined;
  const written = last.result === 'applied' || last.result === 'unchanged' ? number(last.after) : undefined;
  return number(last.quantity) ?? written ?? number(last.before);
}
