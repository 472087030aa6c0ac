import { ConflictError, NotFoundError } from '../../shared/errors.ts';
import type {
  History,
  PetBefore,
  PlannedRow,
  RecordedResult,
  RecordedRow,
  RowPosition,
  RunFilter,
  RunHead,
  RunLog,
  RunOfService,
  RunRecord,
} from '../history.ts';
import { type BegunRun, insertRun, newRunId } from './begin-run.ts';
import type { Row } from './engine.ts';
import { findRun } from './find-run.ts';
import { findService, type Shared } from './leases.ts';
import { patiently } from './patiently.ts';
import { lastKnownQuantity, recentWrites, writesAfter } from './pet-writes.ts';
import { conditionsOf } from './run-list.ts';
import { recordedRowOf, rowColumns, runColumns, runRecordOf } from './run-records.ts';
import { SqliteRunLog } from './sqlite-run-log.ts';

/** Rows that are in memory at a time. No statement stays open between two of them: it would hold up writers and the log. */
const page = 500;

export class SqliteHistory implements History {
  readonly #shared: Shared;
  readonly #host: string;
  readonly #open = new Map<string, SqliteRunLog>();

  constructor(shared: Shared, host: string) {
    this.#shared = shared;
    this.#host = host;
  }

  async begin(head: RunHead, rows: Iterable<PlannedRow>): Promise<RunLog> {
    const { presence, clock } = this.#shared;
    const insert = (holder: number) => {
      const at = clock.now();
      const run = newRunId(this.#shared, at);
      return { holder, ...insertRun(this.#shared, run, { head, at, host: this.#host, holder }, rows) };
    };
    return this.#log(await patiently(this.#shared, () => presence.hold('durable', insert)));
  }

  async resume(run: string): Promise<RunLog> {
    const { connection, presence } = this.#shared;
    const take = (holder: number) => {
      const row = this.#row(run);
      const other = row.holder === null ? undefined : Number(row.holder);
      if (this.#open.has(run) || (other !== undefined && presence.isAlive(other))) throw this.#goingOn(run, other);
      connection.run('UPDATE runs SET holder = ? WHERE id = ?', holder, Number(row.id));
      return { holder, ...begunRunOf(row) };
    };
    return this.#log(await patiently(this.#shared, () => presence.hold('durable', take)));
  }

  async find(text: string): Promise<string> {
    return findRun(this.#shared.connection, text);
  }

  async run(run: string): Promise<RunRecord> {
    return this.#recordOf(this.#row(run));
  }

  async *runs(filter: RunFilter = {}): AsyncGenerator<RunRecord, void> {
    const { sql, values } = conditionsOf(filter);
    let left = filter.limit ?? Number.POSITIVE_INFINITY;
    let last: Row = { at: Number.MAX_SAFE_INTEGER, id: Number.MAX_SAFE_INTEGER };
    while (left > 0) {
      const size = Math.min(page, left);
      const rows: Row[] = this.#shared.connection.all(
        `SELECT ${runColumns} FROM runs WHERE (at, id) < (?, ?) AND ${sql} ORDER BY at DESC, id DESC LIMIT ?`,
        Number(last.at),
        Number(last.id),
        ...values,
        size,
      );
      for (const row of rows) {
        last = row;
        const record = this.#recordOf(row);
        if (filter.state !== undefined && record.state !== filter.state) continue;
        left -= 1;
        yield record;
      }
      if (rows.length < size) return;
    }
  }

  async *rows(run: string, results?: readonly RecordedResult[]): AsyncGenerator<RecordedRow, void> {
    const { connection, clock } = this.#shared;
    const id = Number(this.#row(run).id);
    const among = results === undefined ? '' : `AND result IN (${results.map(() => '?').join()})`;
    let before: RecordedRow | undefined;
    for (let last = -1; ; ) {
      const rows = connection.all(
        `SELECT ${rowColumns} FROM rows WHERE run = ? AND row > ? ${among} ORDER BY row LIMIT ${page}`,
        id,
        last,
        ...(results ?? []),
      );
      for (const row of rows) {
        before = recordedRowOf(row, clock, before);
        yield before;
      }
      if (rows.length < page) return;
      last = Number(rows.at(-1)?.row);
    }
  }

  async writesAfter(run: RunOfService, rows: readonly RowPosition[]) {
    return rows.map((row) => writesAfter(this.#shared.connection, { ...run, ...row }));
  }

  async lastKnownQuantities(service: string, pets: readonly PetBefore[]): Promise<readonly (number | undefined)[]> {
    const { connection } = this.#shared;
    return pets.map(({ petId, before }) => lastKnownQuantity(connection, service, petId, before));
  }

  async recentWrites(service: string, since: number, petIds?: readonly bigint[]) {
    return recentWrites(this.#shared.connection, service, since, petIds);
  }

  async runsOfFile(service: string, contentHash: string): Promise<readonly RunRecord[]> {
    const { connection } = this.#shared;
    const number = findService(connection, service);
    if (number === undefined) return [];
    const rows = connection.all(
      `SELECT ${runColumns} FROM runs WHERE content_hash = ? AND service = ? ORDER BY at DESC, id DESC`,
      contentHash,
      number,
    );
    return rows.map((row) => this.#recordOf(row));
  }

  async runOfFileName(service: string, file: string): Promise<RunRecord | undefined> {
    const { connection } = this.#shared;
    const number = findService(connection, service);
    if (number === undefined) return undefined;
    const row = connection.get(
      `SELECT ${runColumns} FROM runs WHERE content_hash IS NULL AND file = ? AND service = ?
       ORDER BY at DESC, id DESC LIMIT 1`,
      file,
      number,
    );
    return row && this.#recordOf(row);
  }

  async remove(runs: readonly string[]): Promise<readonly string[]> {
    const { connection } = this.#shared;
    const removed: string[] = [];
    for (const run of runs.toSorted()) {
      connection.quick(() => {
        const row = connection.get('SELECT id, holder FROM runs WHERE run = ?', run);
        if (row === undefined || this.#isRunning(row)) return;
        connection.run('DELETE FROM rows WHERE run = ?', Number(row.id));
        connection.run('DELETE FROM runs WHERE id = ?', Number(row.id));
        removed.push(run);
      });
    }
    return removed;
  }

  /** Writes out what the logs of this process hold. They are not ended: their runs may be resumed. */
  async flush(): Promise<void> {
    for (const log of this.#open.values()) await log.flush();
  }

  #log({ holder, ...begun }: BegunRun & { readonly holder: number }): RunLog {
    const log = new SqliteRunLog(this.#shared, begun, holder, () => this.#open.delete(begun.run));
    this.#open.set(begun.run, log);
    return log;
  }

  #row(run: string): Row {
    const row = this.#shared.connection.get(`SELECT ${runColumns} FROM runs WHERE run = ?`, run);
    if (row !== undefined) return row;
    throw new NotFoundError(`There is no run ${run} in the history`, { hint: 'petstock history list' });
  }

  #recordOf(row: Row): RunRecord {
    return runRecordOf(row, this.#isRunning(row));
  }

  #isRunning({ holder }: Row): boolean {
    return holder !== null && this.#shared.presence.isAlive(Number(holder));
  }

  #goingOn(run: string, holder: number | undefined): ConflictError {
    const other = holder === undefined ? undefined : this.#shared.presence.identityOf(holder);
    const by = other === undefined ? 'this process' : `process ${other.pid} on ${other.host}`;
    return new ConflictError(`Run ${run} is still running in ${by}`, { hint: `petstock history show ${run}` });
  }
}

function begunRunOf({ id, run, service, undoes }: Row): BegunRun {
  return {
    id: Number(id),
    run: String(run),
    service: Number(service),
    undoes: undoes === null ? undefined : String(undoes),
  };
}
