import type { RowError } from '../inventory/change.ts';
import type {
  PlannedRow,
  RecordedResult,
  RecordedRow,
  RunFilter,
  RunHead,
  RunRecord,
  SettledFilter,
  SettledRow,
} from '../inventory/run-records.ts';
import type { NewRun } from './begin-run.ts';
import { drawnIn } from './highest-number.ts';
import type { KnownRow } from './history.ts';
import type { RunKey } from './intend-rows.ts';
import { leaseEnds, serviceByName } from './leases.ts';
import { removeNotes } from './leaving-notes.ts';
import { doubtfulRow, isOlder, olderText, onCurrentState, recovering, refuseRepetition } from './older-copy.ts';
import type { StateContext } from './presence.ts';
import { conditionsOf, doubtfulRun, recordedRowOf, rowColumns, runColumns, runRecordOf } from './records.ts';
import { removeRun } from './remove-run.ts';
import { returnUnsent } from './return-unsent.ts';
import { noSuchRun, onlyRun, readRunId } from './run-ids.ts';
import { readWithoutLock, selectLast, uniqueName, writeOnly } from './state-database.ts';
import { among, type Row, type Statement, statement, type Value } from './statements.ts';
import type { RunLog } from './stored-run-log.ts';
import { stillRunning, takeRun, waitForProcess } from './take-over.ts';

/** Rows read at a time. No statement stays open between two pages, because it would block writers and the log. */
const page = 500;
const discardedError: RowError = { code: 'discarded', message: 'not sent: the run was discarded' };
/** Maximum number of old runs that one command removes when it ends. */
const maxOld = 20;

/** What a run is known by that must not be begun twice. */
type RunContent = Pick<RunHead, 'serviceName' | 'contentHash' | 'hasDeltas' | 'undoes' | 'file'>;

const countOpenIncrements = `SELECT run, count(*) AS rows FROM petstock.rows
  WHERE result IN ('pending', 'unknown') AND delta IS NOT NULL AND run IN ?* GROUP BY run`;

/**
 * The history of writes: runs, their rows and outcomes. Lists and rows are streamed, never held as a whole.
 *
 * All methods throw FailureError if the state can't be read or written.
 */
export class History {
  readonly #context: StateContext;
  readonly #host: string;
  readonly #open = new Set<RunLog>();
  #hasEnded = false;

  constructor(context: StateContext, host: string) {
    this.#context = context;
    this.#host = host;
  }

  /**
   * Begins a run. When this resolves, the run and its rows are durable, and nothing has been sent.
   * @param rows the rows in the order of the plan; iterated again if the transaction has to be repeated
   * @param requireNotDuplicate throws if the run may not begin; returns the newest run of the same content that it
   * knows of. Called again if another such run has begun since
   */
  async begin(
    head: RunHead,
    rows: Iterable<PlannedRow>,
    requireNotDuplicate?: () => Promise<string | undefined>,
  ): Promise<RunLog> {
    for (;;) {
      const log = await this.beginLater(head, rows, requireNotDuplicate && { run: await requireNotDuplicate() });
      try {
        await log.begin();
        return log;
      } catch (error) {
        await log.end().catch(() => {});
        const { DuplicateRunError } = await import('./begin-run.ts');
        if (!(error instanceof DuplicateRunError)) throw error;
      }
    }
  }

  /** Like `begin`, but the run is written together with its first intents. */
  beginLater(
    head: RunHead,
    rows: Iterable<PlannedRow>,
    follows?: { readonly run: string | undefined },
  ): Promise<RunLog> {
    const { presence, random } = this.#context;
    const key = { token: uniqueName(), serviceName: head.serviceName };
    return this.#log(key, { head, rows, host: this.#host, holder: presence.id, random: random(), follows });
  }

  /**
   * Takes over a run whose process is gone.
   * @param run a whole id
   * @throws ConflictError if another process is writing the run
   */
  async resume(run: string): Promise<RunLog> {
    const { presence } = this.#context;
    if ([...this.#open].some((log) => log.hasBegun && log.run === run)) throw stillRunning(run, 'this process');
    const { serviceName } = await this.run(run);
    // Stays present until the log exists, even if another log ends meanwhile.
    const taking: ReadonlySet<never> = new Set();
    presence.retain(taking);
    try {
      for (let expected: number | undefined; ; ) {
        const taken = await onCurrentState(this.#context, () =>
          presence.hold('durable', serviceName, (at) => takeRun(this.#context, at, run)),
        );
        if ('token' in taken) {
          await returnUnsent(this.#context, { token: taken.token, serviceName });
          return await this.#log({ token: taken.token, serviceName }, run);
        }
        const { by, ends } = taken;
        // The lease was renewed meanwhile, so the process is alive.
        if (ends === undefined || ends > (expected ?? ends)) throw stillRunning(run, by);
        await waitForProcess(this.#context, run, { ends, isSaid: expected !== undefined });
        expected = ends;
      }
    } finally {
      presence.release(taking);
    }
  }

  /**
   * Closes a run that will not be resumed. Rows that were not sent become failed; rows of unknown outcome stay unknown.
   * @param run a whole id
   * @throws ConflictError if a process is writing the run, or if it was discarded before
   */
  async discard(run: string): Promise<RunRecord> {
    const { serviceName } = await this.run(run);
    const log = await this.resume(run);
    try {
      for await (const rows of this.pages(run, ['pending'])) {
        log.settle(rows.map(({ row, petId }) => ({ row, petId, result: 'failed', error: discardedError })));
      }
      await log.flush();
      const close = statement('UPDATE petstock.runs SET discarded = ? WHERE run = ?', 1, run);
      await writeOnly(this.#context.database, serviceName, () => [close]);
    } finally {
      await log.end();
    }
    return this.run(run);
  }

  /**
   * Writes another process's knowledge of a run into this state, which has replaced that process's state.
   * @returns whether this state has the run
   */
  recover(run: RunKey, known: ReadonlyMap<number, KnownRow>, isWhole: boolean): Promise<boolean> {
    const { database, highest } = this.#context;
    return database.transact('durable', run.serviceName, (at) => recovering(at, run, known, isWhole, highest));
  }

  /** Warns if this is an older copy that was put in the place of the state: its open rows may have been written, and are shown so. */
  async warnIfOlder(): Promise<void> {
    const { database, warn } = this.#context;
    if ((await this.#standing()).isOld) warn(olderText(database));
  }

  /** Reports whether a run of a content may have begun of which this history knows nothing, since it was put in the place of the one that has it. */
  async mayHaveBegun(content: RunContent): Promise<boolean> {
    const known = this.#context.begun.stateOf(content);
    if (known === undefined) return false;
    const { state, isOld } = await this.#standing();
    const { serviceName, contentHash = '' } = content;
    return (isOld || known !== state) && (await this.runsOfFile(serviceName, contentHash)).length === 0;
  }

  /** For a dry run. @throws RepetitionError as `begin` */
  async requireNotRepeated(content: RunContent): Promise<void> {
    const { isOld } = await this.#standing();
    if (isOld || (await this.mayHaveBegun(content))) refuseRepetition(this.#context, content);
  }

  #standing(): Promise<{ readonly state: string; readonly isOld: boolean }> {
    const { database, highest } = this.#context;
    return readWithoutLock(database, function* () {
      const [[meta] = []] = yield [selectLast];
      return { state: drawnIn(meta).state, isOld: yield* isOlder(meta, highest) };
    });
  }

  /**
   * Removes runs and frees their space. Runs stay if a process is writing them or another run relies on them (see
   * `removableRuns`). Runs that could be resumed are removed, too.
   * @param runs the oldest first
   * @returns how many were removed
   */
  async remove(runs: readonly Pick<RunRecord, 'run' | 'serviceName'>[], how = { isBrief: false }): Promise<number> {
    const { database, folder, presence } = this.#context;
    const wanted = new Set(runs.map(({ run }) => run));
    let removed = 0;
    for (const { run, serviceName } of runs) {
      const token = await database.transact('visible', serviceName, (at) => removeRun(presence, at, run, wanted));
      if (token === undefined) continue;
      removeNotes({ folder, token, boot: '' });
      removed += 1;
    }
    if (removed > 0) await database.reclaim(how);
    return removed;
  }

  /**
   * Removes up to 20 runs that began at least `age` milliseconds ago, the oldest first, if a run of this process has
   * ended.
   */
  async removeOld(age: number): Promise<void> {
    if (!this.#hasEnded) return;
    const condition = `(pending + unknown = 0 OR discarded IS NOT NULL) AND at < ? ORDER BY sequence LIMIT ${maxOld}`;
    const runs = await this.#recordsOf(await this.#rowsWhere(condition, this.#context.database.moment.wall - age));
    await this.remove(runs, { isBrief: true });
  }

  /** Flushes the logs of this process. They are not ended: their runs may be resumed. */
  async flush(): Promise<void> {
    for (const log of this.#open) await log.flush();
  }

  /**
   * Finds a run by its whole id, or by its last four characters if only one run ends in them.
   * @throws UsageError if the text is no id or matches several runs; NotFoundError if no run matches
   */
  async find(wanted: string): Promise<string> {
    const id = readRunId(wanted);
    const [condition, value] = 'end' in id ? ['substr(run, length(run) - 3)', id.end] : ['run', id.whole];
    const rows = await this.#rowsWhere(`${condition} = ? ORDER BY run`, value);
    const runs = rows.map(({ run }) => String(run));
    return onlyRun(wanted, runs);
  }

  /**
   * @param run a whole id
   * @throws NotFoundError if the run is not in the history
   */
  async run(run: string): Promise<RunRecord> {
    const [record] = await this.#recordsOf(await this.#rowsWhere('run = ?', run));
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
   * @param results yields only rows with one of these results
   */
  async *rows(run: string, results?: readonly RecordedResult[]): AsyncGenerator<RecordedRow, void> {
    for await (const rows of this.pages(run, results)) yield* rows;
  }

  /** Like `rows`, but yields a page at a time, so that a caller can query many rows at once. */
  async *pages(run: string, results?: readonly RecordedResult[]): AsyncGenerator<readonly RecordedRow[], void> {
    const [head] = await this.#rowsWhere('run = ?', run);
    if (head === undefined) throw noSuchRun(run);
    const isOld = Number(head.pending) + Number(head.unknown) > 0 && (await this.#standing()).isOld;
    // A command that only reads may lack the right to write.
    if (Number(head.unknown) > 0 && !isOld) {
      const key = { token: String(head.token), serviceName: String(head.service_name) };
      await returnUnsent(this.#context, key).catch(() => {});
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
        // Undefined if the run was removed between the two queries.
        if (run !== undefined) yield { run, row: recordedRowOf(row, undefined) };
      }
    }
  }

  /** Returns the runs of a change file with this content at a service, the newest first. */
  async runsOfFile(service: string, contentHash: string): Promise<readonly RunRecord[]> {
    const condition = `content_hash = ? AND service = ${serviceByName} ORDER BY runs.sequence DESC`;
    return this.#recordsOf(await this.#rowsWhere(condition, contentHash, service));
  }

  /** @param statementFor returns the query of the page after a value of `column`, ordered by that column */
  async *#pages(
    column: string,
    from: number,
    size: number,
    statementFor: (last: number) => Statement,
  ): AsyncGenerator<readonly Row[], void> {
    for (let last = from; ; ) {
      const [rows = []] = await this.#context.database.query(statementFor(last));
      yield rows;
      if (rows.length < size) return;
      last = Number(rows.at(-1)?.[column]);
    }
  }

  async #rowsWhere(condition: string, ...values: readonly Value[]): Promise<readonly Row[]> {
    const select = statement(`SELECT ${runColumns} FROM petstock.runs WHERE ${condition}`, ...values);
    const [rows = []] = await this.#context.database.query(select);
    return rows;
  }

  async #recordsOf(rows: readonly Row[]): Promise<RunRecord[]> {
    const { database, presence } = this.#context;
    const living = await readWithoutLock(database, (at) => presence.aliveAmong(at, rows));
    const records = rows.map((row) => runRecordOf(row, living.has(String(row.holder))));
    const open = rows.filter((row) => Number(row.pending) + Number(row.unknown) > 0);
    if (open.length === 0 || !(await this.#standing()).isOld) return records;
    const ids = open.map(({ id }) => Number(id));
    const [counts = []] = await database.query(among(countOpenIncrements, [], ids));
    const increments = new Map(counts.map(({ run, rows }) => [Number(run), Number(rows)]));
    return records.map((record, index) => doubtfulRun(record, increments.get(Number(rows[index]?.id)) ?? 0));
  }

  async #recordedRows(rows: readonly Row[], before: RecordedRow | undefined): Promise<RecordedRow[]> {
    const { database, clock } = this.#context;
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
    const [rows = []] = await this.#context.database.query(select);
    const records = await this.#recordsOf(rows);
    for (const [index, record] of records.entries()) known.set(Number(rows[index]?.id), record);
  }

  async #log(key: RunKey, run: NewRun | string): Promise<RunLog> {
    // Loaded late: commands that only read don't need it.
    const { RunLog } = await import('./stored-run-log.ts');
    const log: RunLog = new RunLog(this.#context, key, run, () => {
      this.#open.delete(log);
      this.#hasEnded = true;
    });
    this.#open.add(log);
    return log;
  }
}
