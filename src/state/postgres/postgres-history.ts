import { ConflictError, NotFoundError } from '../../shared/errors.ts';
import type {
  History,
  PetBefore,
  PetWrite,
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
import { onlyRun, readRunId } from '../run-id.ts';
import { beginRun } from './begin-run.ts';
import type { Answer } from './connection.ts';
import { type Holder, holderIn } from './holder.ts';
import { lastKnownQuantities, recentWrites, writesAfter } from './pet-writes.ts';
import { type BegunRun, PostgresRunLog } from './postgres-run-log.ts';
import { conditionsOf, recordedRowOf, rowColumns, runColumns, runRecordOf } from './run-records.ts';
import type { Shared } from './shared.ts';
import type { Row } from './wire.ts';

/** Rows that are in memory at a time. */
const page = 500;

export class PostgresHistory implements History {
  readonly #shared: Shared;
  readonly #host: string;
  readonly #open = new Map<string, PostgresRunLog>();

  constructor(shared: Shared, host: string) {
    this.#shared = shared;
    this.#host = host;
  }

  async begin(head: RunHead, rows: Iterable<PlannedRow>): Promise<RunLog> {
    await this.#shared.presence.enter();
    return this.#log(await beginRun(this.#shared, head, this.#host, rows));
  }

  async resume(run: string): Promise<RunLog> {
    const { connection, presence } = this.#shared;
    if (this.#open.has(run)) throw goingOn(run, undefined);
    const holderOf = ({ busy }: Answer) => holderIn((busy ?? undefined) as Answer | undefined);
    const answer = await presence.hold(
      () => connection.call('resume', presence.me, run),
      (given) => [holderOf(given)],
    );
    if (answer.gone === true) throw noSuchRun(run);
    const holder = holderOf(answer);
    if (holder !== undefined) throw goingOn(run, holder);
    return this.#log({ id: String(answer.id), run });
  }

  async find(text: string): Promise<string> {
    const wanted = readRunId(text);
    const { connection } = this.#shared;
    const rows =
      'end' in wanted
        ? await connection.read('SELECT run FROM petstock.runs WHERE right(run, 4) = $1 ORDER BY run', wanted.end)
        : await connection.read('SELECT run FROM petstock.runs WHERE run = $1', wanted.whole);
    return onlyRun(
      text,
      rows.map(({ run }) => String(run)),
    );
  }

  async run(run: string): Promise<RunRecord> {
    return this.#recordOf(await this.#row(run));
  }

  async *runs(filter: RunFilter = {}): AsyncGenerator<RunRecord, void> {
    const { sql, values } = conditionsOf(filter, 4);
    let left = filter.limit ?? Number.POSITIVE_INFINITY;
    let last: Row = { at: Number.MAX_SAFE_INTEGER, id: String(Number.MAX_SAFE_INTEGER) };
    while (left > 0) {
      const size = Math.min(page, left);
      const rows: readonly Row[] = await this.#shared.connection.read(
        `SELECT ${runColumns} FROM petstock.runs WHERE (at, id) < ($1::float8, $2::bigint) AND ${sql}
         ORDER BY at DESC, runs.id DESC LIMIT $3`,
        last.at,
        last.id,
        size,
        ...values,
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
    const { connection } = this.#shared;
    const { id } = await this.#row(run);
    for (let last = -1; ; ) {
      await connection.align();
      const rows = await connection.read(
        `SELECT ${rowColumns} FROM petstock.rows WHERE run = $1 AND row > $2 AND ($3::text[] IS NULL OR result = ANY ($3))
         ORDER BY row LIMIT ${page}`,
        id,
        last,
        results ?? null,
      );
      for (const row of rows) yield recordedRowOf(row, connection.time);
      if (rows.length < page) return;
      last = Number(rows.at(-1)?.row);
    }
  }

  async writesAfter(run: RunOfService, rows: readonly RowPosition[]): Promise<readonly (readonly PetWrite[])[]> {
    return rows.length === 0 ? [] : writesAfter(this.#shared.connection, run, rows);
  }

  async lastKnownQuantities(service: string, pets: readonly PetBefore[]): Promise<readonly (number | undefined)[]> {
    return pets.length === 0 ? [] : lastKnownQuantities(this.#shared.connection, service, pets);
  }

  async recentWrites(service: string, since: number, petIds?: readonly bigint[]) {
    const { connection, clock } = this.#shared;
    await connection.align();
    const ago = Math.max(0, clock.now() - since);
    return recentWrites(connection, service, connection.time.earliest(clock.monotonic() - ago), petIds);
  }

  async runsOfFile(service: string, contentHash: string): Promise<readonly RunRecord[]> {
    const rows = await this.#shared.connection.read(
      `SELECT ${runColumns} FROM petstock.runs WHERE content_hash = $1
         AND service = (SELECT id FROM petstock.services WHERE name = $2) ORDER BY at DESC, runs.id DESC`,
      contentHash,
      service,
    );
    return rows.map((row) => this.#recordOf(row));
  }

  async runOfFileName(service: string, file: string): Promise<RunRecord | undefined> {
    const [row] = await this.#shared.connection.read(
      `SELECT ${runColumns} FROM petstock.runs WHERE content_hash IS NULL AND file = $1
         AND service = (SELECT id FROM petstock.services WHERE name = $2) ORDER BY at DESC, runs.id DESC LIMIT 1`,
      file,
      service,
    );
    return row && this.#recordOf(row);
  }

  async remove(runs: readonly string[]): Promise<readonly string[]> {
    const removed: string[] = [];
    for (const run of runs.toSorted()) {
      const [row] = await this.#shared.connection.read('SELECT petstock.remove_run($1) AS removed', run);
      if (row?.removed === true) removed.push(run);
    }
    return removed;
  }

  /** Writes out what the logs of this process hold. They are not ended: their runs may be resumed. */
  async flush(): Promise<void> {
    for (const log of this.#open.values()) await log.flush();
  }

  #log(begun: BegunRun): RunLog {
    const log = new PostgresRunLog(this.#shared, begun, () => this.#open.delete(begun.run));
    this.#open.set(begun.run, log);
    return log;
  }

  async #row(run: string): Promise<Row> {
    const sql = `SELECT ${runColumns} FROM petstock.runs WHERE run = $1`;
    const [row] = await this.#shared.connection.read(sql, run);
    if (row !== undefined) return row;
    throw noSuchRun(run);
  }

  #recordOf(row: Row): RunRecord {
    return runRecordOf(row, this.#shared.presence.isRunning(row));
  }
}

function noSuchRun(run: string): NotFoundError {
  return new NotFoundError(`There is no run ${run} in the history`, { hint: 'petstock history list' });
}

function goingOn(run: string, holder: Holder | undefined): ConflictError {
  const by = holder === undefined ? 'this process' : `process ${holder.identity.pid} on ${holder.identity.host}`;
  return new ConflictError(`Run ${run} is still running in ${by}`, { hint: `petstock history show ${run}` });
}
