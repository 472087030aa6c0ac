import type {
  RecordedResult,
  RecordedRow,
  RunFilter,
  RunRecord,
  SettledFilter,
  SettledRow,
} from '../inventory/run-records.ts';
import { serviceByName } from './leases.ts';
import { aliveAmong } from './living-processes.ts';
import { doubtfulRow, olderText, standingOf } from './older-copy.ts';
import { leaseEnds } from './other-boots.ts';
import { returnUnsent } from './return-unsent.ts';
import { conditionsOf, doubtfulRun, recordedRowOf, rowColumns, runColumns, runRecordOf } from './run-columns.ts';
import { noSuchRun, onlyRun, readRunId } from './run-ids.ts';
import type { StateContext } from './state-context.ts';
import { readWithoutLock } from './state-database.ts';
import { among, type Row, type Statement, statement, type Value } from './statements.ts';

/**
 * Number of rows read at a time. No statement stays open between two pages, because it would keep SQLite from emptying
 * its write-ahead log.
 */
const page = 500;

const countOpenDeltas = `SELECT run, count(*) AS rows FROM petstock.rows
  WHERE result IN ('pending', 'unknown') AND delta IS NOT NULL AND run IN ?* GROUP BY run`;

/**
 * Reads recorded runs, their rows and outcomes. The generators hold one page in memory at a time.
 *
 * All methods throw UnavailableError if the state can't be reached or is locked for too long, and FailureError if it
 * can't be read.
 */
export class RecordedRuns {
  protected readonly context: StateContext;

  constructor(context: StateContext) {
    this.context = context;
  }

  /** Warns if this is an older copy of the state: its open rows may have been written, and are shown as doubtful. */
  async warnIfOlder(): Promise<void> {
    const { database, warn } = this.context;
    if ((await standingOf(this.context)).isOld) warn(olderText(database));
  }

  /**
   * Finds a run by its whole id, or by its last four characters if only one run ends in them.
   * @throws UsageError if the text is not an id or matches several runs; NotFoundError if no run matches
   */
  async find(wanted: string): Promise<RunRecord> {
    const id = readRunId(wanted);
    const [condition, value] = 'end' in id ? ['substr(run, length(run) - 3)', id.end] : ['run', id.whole];
    const rows = await this.#rowsWhere(`${condition} = ? ORDER BY run`, value);
    const runs = rows.map(({ run }) => String(run));
    return this.run(onlyRun(wanted, runs));
  }

  /**
   * @param run a whole id
   * @throws NotFoundError if the run is not in the history, or not in that of the state that has replaced this one
   */
  async run(run: string): Promise<RunRecord> {
    const { database, elsewhere } = this.context;
    const isHere = database.isInPlace || elsewhere === undefined;
    const record = isHere ? (await this.runsWhere('run = ?', run))[0] : await elsewhere((current) => current.run(run));
    if (record === undefined) throw noSuchRun(run);
    return record;
  }

  /** Yields runs, the newest first. */
  async *runs(filter: RunFilter = {}): AsyncGenerator<RunRecord, void> {
    const { sql, values } = conditionsOf('runs', filter);
    let left = filter.limit ?? Number.POSITIVE_INFINITY;
    const size = Math.min(page, left);
    const select = `SELECT ${runColumns} FROM petstock.runs WHERE runs.sequence < ? AND ${sql} ORDER BY runs.sequence DESC LIMIT ${size}`;
    const pages = this.#pages('sequence', Number.MAX_SAFE_INTEGER, size, (last) => statement(select, last, ...values));
    for await (const rows of pages) {
      for (const record of await this.#recordsOf(rows)) {
        if (filter.state !== undefined && record.state !== filter.state) continue;
        yield record;
        left -= 1;
        if (left <= 0) return;
      }
    }
  }

  /**
   * Yields the rows of a run in the order of its plan.
   * @param run a whole id
   * @param results the results of the rows to yield; undefined for all rows
   * @throws NotFoundError if the run is not in the history
   */
  async *rows(run: string, results?: readonly RecordedResult[]): AsyncGenerator<RecordedRow, void> {
    for await (const rows of this.pages(run, results)) yield* rows;
  }

  /**
   * Like `rows`, but yields a page at a time, so that a caller can query many rows at once. First returns unsent rows
   * to pending (see `returnUnsent`).
   */
  async *pages(run: string, results?: readonly RecordedResult[]): AsyncGenerator<readonly RecordedRow[], void> {
    const [head] = await this.#rowsWhere('run = ?', run);
    if (head === undefined) throw noSuchRun(run);
    const isOld = Number(head.pending) + Number(head.unknown) > 0 && (await standingOf(this.context)).isOld;
    // A command that only reads may lack the right to write.
    if (Number(head.unknown) > 0 && !isOld) {
      const key = { token: String(head.token), serviceName: String(head.service_name) };
      await returnUnsent(this.context, key).catch(() => {});
    }
    const stored = isOld ? undefined : results;
    const among = stored === undefined ? '' : `AND result IN (${stored.map(() => '?').join()})`;
    const select = `SELECT ${rowColumns} FROM petstock.rows WHERE run = ? AND row > ? ${among} ORDER BY row LIMIT ${page}`;
    let before: RecordedRow | undefined;
    for await (const rows of this.#pages('row', -1, page, (last) =>
      statement(select, Number(head.id), last, ...(stored ?? [])),
    )) {
      const recorded = await this.#recordedRows(rows, before);
      before = recorded.at(-1);
      const shown = isOld ? recorded.map(doubtfulRow) : recorded;
      yield isOld && results !== undefined ? shown.filter(({ result }) => results.includes(result)) : shown;
    }
  }

  /**
   * Yields the settled rows of all runs, in the order in which they were settled. `touched` only grows, in the order in
   * which rows become visible, so no row ever appears before one that was already yielded.
   */
  async *settled(filter: SettledFilter = {}): AsyncGenerator<SettledRow, void> {
    const { sql, values } = conditionsOf('rows', filter);
    const select = `SELECT ${rowColumns}, rows.run AS run_id FROM petstock.rows JOIN petstock.runs ON runs.id = rows.run
      WHERE rows.touched > ? AND rows.result NOT IN ('pending', 'unknown') AND ${sql} ORDER BY rows.touched LIMIT ${page}`;
    const runs = new Map<number, RunRecord>();
    for await (const rows of this.#pages('touched', filter.after ?? 0, page, (last) =>
      statement(select, last, ...values),
    )) {
      await this.#loadRuns(runs, new Set(rows.map(({ run_id }) => Number(run_id))));
      for (const row of rows) {
        const run = runs.get(Number(row.run_id));
        // The run is undefined if it was removed between the two queries.
        if (run !== undefined) yield { run, row: recordedRowOf(row, undefined) };
      }
    }
  }

  /** Returns the runs of a change file or count with this content at a service, the newest first. */
  async runsOfFile(service: string, contentHash: string): Promise<readonly RunRecord[]> {
    const condition = `content_hash = ? AND service = ${serviceByName} ORDER BY runs.sequence DESC`;
    return this.runsWhere(condition, contentHash, service);
  }

  /** @param statementFor returns the query of the page after a value of `column`, ordered by that column */
  async *#pages(
    column: string,
    from: number,
    size: number,
    statementFor: (last: number) => Statement,
  ): AsyncGenerator<readonly Row[], void> {
    for (let last = from; ; ) {
      const [rows = []] = await this.context.database.query(statementFor(last));
      yield rows;
      if (rows.length < size) return;
      last = Number(rows.at(-1)?.[column]);
    }
  }

  protected async runsWhere(condition: string, ...values: readonly Value[]): Promise<RunRecord[]> {
    return this.#recordsOf(await this.#rowsWhere(condition, ...values));
  }

  async #rowsWhere(condition: string, ...values: readonly Value[]): Promise<readonly Row[]> {
    const select = statement(`SELECT ${runColumns} FROM petstock.runs WHERE ${condition}`, ...values);
    const [rows = []] = await this.context.database.query(select);
    return rows;
  }

  async #recordsOf(rows: readonly Row[]): Promise<RunRecord[]> {
    const { database, presence } = this.context;
    const living = await readWithoutLock(database, (at) => aliveAmong(presence, at, rows));
    const records = rows.map((row) => runRecordOf(row, living.has(String(row.holder))));
    const open = rows.filter((row) => Number(row.pending) + Number(row.unknown) > 0);
    if (open.length === 0 || !(await standingOf(this.context)).isOld) return records;
    const ids = open.map(({ id }) => Number(id));
    const [counts = []] = await database.query(among(countOpenDeltas, [], ids));
    const deltas = new Map(counts.map(({ run, rows }) => [Number(run), Number(rows)]));
    return records.map((record, index) => doubtfulRun(record, deltas.get(Number(rows[index]?.id)) ?? 0));
  }

  async #recordedRows(rows: readonly Row[], before: RecordedRow | undefined): Promise<RecordedRow[]> {
    const { database, clock } = this.context;
    let last = before;
    const unknown = new Set(rows.filter(({ result }) => result === 'unknown'));
    const endOf = await readWithoutLock(database, (at) => leaseEnds(at, [...unknown]));
    const now = clock.monotonic();
    return rows.map((row) => {
      const end = unknown.has(row) ? endOf(row) : undefined;
      const local = end === undefined ? undefined : database.time.localLatest(end);
      last = recordedRowOf(row, local !== undefined && local > now ? local : undefined, last);
      return last;
    });
  }

  async #loadRuns(known: Map<number, RunRecord>, ids: ReadonlySet<number>): Promise<void> {
    const missing = [...ids].filter((id) => !known.has(id));
    const select = among(`SELECT ${runColumns} FROM petstock.runs WHERE id IN ?*`, [], missing);
    const [rows = []] = await this.context.database.query(select);
    const records = await this.#recordsOf(rows);
    for (const [index, record] of records.entries()) known.set(Number(rows[index]?.id), record);
  }
}
