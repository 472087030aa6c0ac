import { NotFoundError } from '../shared/errors.ts';
import type {
  PetBefore,
  PetWrite,
  RecentWrite,
  RecordedResult,
  RecordedRow,
  RowPosition,
  RunFilter,
  RunOfService,
  RunRecord,
  SettledFilter,
  SettledRow,
} from './history.ts';
import { lastKnownQuantities, recentWrites, writesAfter } from './pet-writes.ts';
import type { Presence } from './processes-present.ts';
import {
  joined,
  placeConditions,
  recordedRowOf,
  rowColumns,
  runColumns,
  runConditions,
  runRecordOf,
} from './records.ts';
import { onlyRun, readRunId } from './run-id.ts';
import { look, number, type Row, type StoreContext, statement, text, type Value } from './store.ts';
import { endsOf, keptTime } from './times.ts';

/** Rows that are in memory at a time. No statement stays open between two of them: it would hold up writers and the log. */
const page = 500;

export interface HistoryContext extends StoreContext {
  readonly presence: Presence;
}

/** The history of writes: runs, their rows and outcomes. Nothing is held whole: lists and rows are streamed. */
export class HistoryReader {
  protected readonly context: HistoryContext;

  constructor(context: HistoryContext) {
    this.context = context;
  }

  /**
   * The run that a person means: its whole id, or its last four characters where only one run ends in them.
   * @throws UsageError for what is no id, or stands for more than one run; NotFoundError where no run has it
   */
  async find(wanted: string): Promise<string> {
    const id = readRunId(wanted);
    const [rows = []] = await this.context.store.ask(
      'end' in id
        ? statement('SELECT run FROM petstock.runs WHERE substr(run, length(run) - 3) = ? ORDER BY run', id.end)
        : statement('SELECT run FROM petstock.runs WHERE run = ?', id.whole),
    );
    return onlyRun(
      wanted,
      rows.map(({ run }) => String(run)),
    );
  }

  /** @param run a whole id. @throws NotFoundError */
  async run(run: string): Promise<RunRecord> {
    const [record] = await this.#recordsOf([await this.#row(run)]);
    if (record === undefined) throw noSuchRun(run);
    return record;
  }

  /** The newest first. */
  async *runs(filter: RunFilter = {}): AsyncGenerator<RunRecord, void> {
    const { sql, values } = runConditions(filter);
    let left = filter.limit ?? Number.POSITIVE_INFINITY;
    for (let last: number = Number.MAX_SAFE_INTEGER; left > 0; ) {
      const size = Math.min(page, left);
      const [rows = []] = await this.context.store.ask(
        statement(
          `SELECT ${runColumns} FROM petstock.runs WHERE runs.sequence < ? AND ${sql} ORDER BY runs.sequence DESC LIMIT ${size}`,
          last,
          ...values,
        ),
      );
      for (const record of await this.#recordsOf(rows)) {
        last = record.sequence;
        if (filter.state !== undefined && record.state !== filter.state) continue;
        left -= 1;
        yield record;
      }
      if (rows.length < size) return;
    }
  }

  /** The rows of a run in the order of its plan. @param results only rows with one of these */
  async *rows(run: string, results?: readonly RecordedResult[]): AsyncGenerator<RecordedRow, void> {
    const { store } = this.context;
    const id = number((await this.#row(run)).id) ?? 0;
    const among = results === undefined ? '' : `AND result IN (${results.map(() => '?').join()})`;
    let before: RecordedRow | undefined;
    for (let last = -1; ; ) {
      await store.align();
      const sql = `SELECT ${rowColumns} FROM petstock.rows WHERE run = ? AND row > ? ${among} ORDER BY row LIMIT ${page}`;
      const rows = await this.#recordedRows(sql, [id, last, ...(results ?? [])], before);
      yield* rows;
      before = rows.at(-1);
      if (rows.length < page) return;
      last = before?.row ?? last;
    }
  }

  /**
   * Rows that have an outcome, of all runs, in the order in which they were settled: `touched` only grows, in the order in which rows
   * become visible, so no row ever appears before one that was given out.
   */
  async *settled({
    after = 0,
    since,
    until,
    petId,
    ref,
    ...place
  }: SettledFilter = {}): AsyncGenerator<SettledRow, void> {
    const { store } = this.context;
    const { sql, values } = joined([
      ...placeConditions(place),
      [since, 'rows.at >= ?'],
      [until, 'rows.at <= ?'],
      [petId, 'rows.pet_id = ?'],
      [ref, 'rows.ref = ?'],
    ]);
    const runs = new Map<number, RunRecord>();
    for (let last = after; ; ) {
      await store.align();
      const [rows = []] = await store.ask(
        statement(
          `SELECT ${rowColumns}, rows.run AS run_id FROM petstock.rows JOIN petstock.runs ON runs.id = rows.run
           WHERE rows.touched > ? AND rows.result NOT IN ('pending', 'unknown') AND ${sql} ORDER BY rows.touched LIMIT ${page}`,
          last,
          ...values,
        ),
      );
      await this.#loadRuns(runs, new Set(rows.map(({ run_id }) => Number(run_id))));
      for (const row of rows) {
        const run = runs.get(Number(row.run_id));
        // Removed between the two questions.
        if (run !== undefined) yield { run, row: recordedRowOf(row, undefined) };
      }
      if (rows.length < page) return;
      last = Number(rows.at(-1)?.touched);
    }
  }

  /**
   * Returns what other runs have written, or may have written, of a pet after a row of a run, oldest first, for each row. Writes that
   * were taken back, and the undos that did it, are left out: together they changed nothing. The database may be far away, so
   * many rows are one question.
   */
  async writesAfter(run: RunOfService, rows: readonly RowPosition[]): Promise<readonly (readonly PetWrite[])[]> {
    return rows.length === 0 ? [] : writesAfter(this.context.store, run, rows);
  }

  /**
   * The stock that this state last read or wrote of each of some pets; undefined where it knows none, or the last write is
   * unknown. One question, as above.
   */
  async lastKnownQuantities(service: string, pets: readonly PetBefore[]): Promise<readonly (number | undefined)[]> {
    return pets.length === 0 ? [] : lastKnownQuantities(this.context.store, service, pets);
  }

  /**
   * The writes at a service that were settled, or begun, since a moment, the oldest first.
   * @param since milliseconds since the Unix epoch, by the clock of this machine
   * @param petIds only of these pets; undefined: of all
   */
  async recentWrites(service: string, since: number, petIds?: readonly bigint[]): Promise<readonly RecentWrite[]> {
    const { store } = this.context;
    await store.align();
    return recentWrites(store, service, store.wallOf(since), petIds);
  }

  /** The runs of a change file with this content at a service, the newest first. */
  async runsOfFile(service: string, contentHash: string): Promise<readonly RunRecord[]> {
    const [rows = []] = await this.context.store.ask(
      statement(
        `SELECT ${runColumns} FROM petstock.runs WHERE content_hash = ?
           AND service = (SELECT id FROM petstock.services WHERE name = ?) ORDER BY runs.sequence DESC`,
        contentHash,
        service,
      ),
    );
    return this.#recordsOf(rows);
  }

  async #row(run: string): Promise<Row> {
    const [[row] = []] = await this.context.store.ask(
      statement(`SELECT ${runColumns} FROM petstock.runs WHERE run = ?`, run),
    );
    if (row !== undefined) return row;
    throw noSuchRun(run);
  }

  /** Who is writing is asked only if a run has a process. */
  async #recordsOf(rows: readonly Row[]): Promise<RunRecord[]> {
    const { store, presence } = this.context;
    const holders = new Set(rows.flatMap(({ holder }) => text(holder) ?? []));
    if (holders.size === 0) return rows.map((row) => runRecordOf(row, false));
    const living = await look(store, (at) => presence.aliveAmong(at, holders));
    return rows.map((row) => runRecordOf(row, row.holder !== null && living.has(String(row.holder))));
  }

  async #recordedRows(sql: string, values: readonly Value[], before: RecordedRow | undefined): Promise<RecordedRow[]> {
    const { store, clock } = this.context;
    const [rows = []] = await store.ask(statement(sql, ...values));
    let last = before;
    const isUnknown = rows.some(({ result }) => result === 'unknown');
    const ends = isUnknown ? await look(store, (at) => endsOf(at, rows.map(keptTime))) : undefined;
    const now = clock.monotonic();
    return rows.map((row) => {
      const end = row.result === 'unknown' ? ends?.of(keptTime(row)) : undefined;
      const local = end === undefined ? undefined : store.time.localLatest(end);
      last = recordedRowOf(row, local !== undefined && local > now ? local : undefined, last);
      return last;
    });
  }

  async #loadRuns(known: Map<number, RunRecord>, ids: ReadonlySet<number>): Promise<void> {
    const missing = [...ids].filter((id) => !known.has(id));
    const asked = missing.map((id) => statement(`SELECT ${runColumns} FROM petstock.runs WHERE id = ?`, id));
    const rows = (await this.context.store.ask(...asked)).flat();
    const records = await this.#recordsOf(rows);
    for (const [index, record] of records.entries()) known.set(Number(rows[index]?.id), record);
  }
}

export function noSuchRun(run: string): NotFoundError {
  return new NotFoundError(`There is no run ${run} in the history`, { hint: 'petstock history list' });
}
