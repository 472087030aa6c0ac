import {
  type RecordedResult,
  type RecordedRow,
  type RunFilter,
  type RunHead,
  type RunRecord,
  recordedResults,
  type SettledFilter,
  type SettledRow,
} from '../inventory/run-records.ts';
import { plainName } from '../shared/sanitize.ts';
import { countersOf, lastIntent } from './intents.ts';
import { recordedRowOf, rowColumns } from './open-run.ts';
import { noSuchRun, onlyRun, readRunId, runIdIn } from './run-ids.ts';
import type { Store } from './state-store.ts';
import {
  type Answer,
  among,
  number,
  recordedRun,
  type Statement,
  statement,
  text,
  time,
  type Value,
} from './statements.ts';

/**
 * Number of rows read at a time. No statement stays open between two pages, because it would keep SQLite from emptying
 * its write-ahead log.
 */
const page = 500;

/**
 * Reads recorded runs, their rows and outcomes. The generators hold one page in memory at a time.
 *
 * All methods throw UnavailableError if the state can't be reached, and FailureError if it can't be read.
 */
export class RecordedRuns {
  protected readonly store: Store;

  constructor(store: Store) {
    this.store = store;
  }

  /**
   * Finds a run by its whole id, or by its last four characters if only one run ends in them.
   * @throws UsageError if the text is not an id or matches several runs; NotFoundError if no run matches
   */
  async find(wanted: string): Promise<RunRecord> {
    const id = readRunId(wanted);
    const [condition, value] = 'end' in id ? ['substr(run, length(run) - 3) = ?', id.end] : ['run = ?', id.whole];
    const found = await this.#ask(statement(`SELECT run FROM runs WHERE ${condition} ORDER BY run`, value));
    return this.run(
      onlyRun(
        wanted,
        found.map(({ run }) => String(run)),
      ),
    );
  }

  /**
   * @param run a whole id
   * @throws NotFoundError if the run is not in the history
   */
  async run(run: string): Promise<RunRecord> {
    const [record] = await this.#recordsOf(await this.#ask(statement('SELECT * FROM runs WHERE run = ?', run)));
    if (record === undefined) throw noSuchRun(run);
    return record;
  }

  /** Yields runs, the newest first. */
  async *runs(filter: RunFilter = {}): AsyncGenerator<RunRecord, void> {
    const { sql, values } = conditionsOf('runs', filter);
    let left = filter.limit ?? Number.POSITIVE_INFINITY;
    const size = Math.min(page, left);
    const select = `SELECT runs.* FROM runs WHERE runs.number < ? AND ${sql} ORDER BY runs.number DESC LIMIT ${size}`;
    const pages = this.#pages('number', Number.MAX_SAFE_INTEGER, size, (last) => statement(select, last, ...values));
    for await (const answers of pages) {
      for (const record of await this.#recordsOf(answers)) {
        if (filter.state !== undefined && record.state !== filter.state) continue;
        yield record;
        left -= 1;
        if (left <= 0) return;
      }
    }
  }

  /**
   * Yields runs, those with the newest last write first. A run that has sent nothing counts as if it had when it began.
   * Only writes to one service have an order: the runs of each are in order among the places that they have in `runs`.
   */
  async *runsByLastWrite(filter: RunFilter): AsyncGenerator<RunRecord, void> {
    const { sql, values } = conditionsOf('runs', filter);
    const select = `SELECT runs.run, runs.service, coalesce(max(rows.intent), runs.began) AS last
      FROM runs LEFT JOIN rows ON rows.run = runs.run WHERE ${sql} GROUP BY runs.run ORDER BY runs.number DESC`;
    const found = await this.#ask(statement(select, ...values));
    const ofService = new Map<unknown, string[]>();
    for (const { run, service } of found.toSorted((a, b) => Number(b.last) - Number(a.last))) {
      const runs = ofService.get(service) ?? [];
      runs.push(String(run));
      ofService.set(service, runs);
    }
    for (const { service } of found) yield this.run(ofService.get(service)?.shift() ?? '');
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

  /** Like `rows`, but yields a page at a time. */
  async *pages(run: string, results?: readonly RecordedResult[]): AsyncGenerator<readonly RecordedRow[], void> {
    const found = await this.#ask(recordedRun(run));
    if (found.length === 0) throw noSuchRun(run);
    const undone = (await this.#undoneAmong([run])).get(run);
    const stored: readonly Value[] = results?.flatMap((each) => (each === 'unknown' ? [each, 'sent'] : [each])) ?? [];
    const chosen = results === undefined ? '' : `AND result IN (${stored.map(() => '?').join() || 'NULL'})`;
    const select = `SELECT ${rowColumns} FROM rows WHERE run = ? AND row > ? ${chosen} ORDER BY row LIMIT ${page}`;
    for await (const answers of this.#pages('row', -1, page, (last) => statement(select, run, last, ...stored))) {
      yield answers.map((answer) => recordedRowOf(answer, undone?.get(Number(answer.row))));
    }
  }

  /**
   * Yields the settled rows of all runs, in the order in which their outcomes became visible: no row ever appears
   * before one that was already yielded.
   */
  async *settled(filter: SettledFilter = {}): AsyncGenerator<SettledRow, void> {
    const { sql, values } = conditionsOf('rows', filter);
    const select = `SELECT ${rowColumns} FROM rows JOIN runs ON runs.run = rows.run
      WHERE rows.outcome > ? AND ${sql} ORDER BY rows.outcome LIMIT ${page}`;
    const runs = new Map<string, RunRecord>();
    const pages = this.#pages('outcome', filter.after ?? 0, page, (last) => statement(select, last, ...values));
    for await (const answers of pages) {
      const missing = [...new Set(answers.map(({ run }) => String(run)))].filter((run) => !runs.has(run));
      const found = await this.#askAll(among('SELECT * FROM runs WHERE run IN ?*', missing));
      const records = await this.#recordsOf(found);
      for (const [index, answer] of found.entries()) runs.set(String(answer.run), records[index] as RunRecord);
      for (const answer of answers) {
        const run = runs.get(String(answer.run));
        // The run is undefined if it was removed between the two queries.
        if (run !== undefined) yield { run, row: recordedRowOf(answer, undefined) };
      }
    }
  }

  /** Returns the runs of a file with this content at a service, the newest first. */
  async runsOfFile(service: string, contentHash: string): Promise<readonly RunRecord[]> {
    const select = 'SELECT * FROM runs WHERE content_hash = ? AND service = ? ORDER BY number DESC';
    return this.#recordsOf(await this.#ask(statement(select, contentHash, service)));
  }

  /**
   * Returns the last stock of pets in the history, read or written, by pet. Pets of which it knows none are left out,
   * and so are those of whose last write it is not known whether it was carried out.
   * @param before of each pet, only writes before this intent count
   */
  async lastKnown(
    service: string,
    pets: readonly { readonly petId: bigint; readonly before?: number | undefined }[],
  ): Promise<ReadonlyMap<bigint, number>> {
    const before = new Map(pets.map((pet) => [pet.petId, pet.before ?? Number.MAX_SAFE_INTEGER]));
    const select = `SELECT ${rowColumns} FROM rows WHERE pet_id IN ?* AND service = ? ORDER BY coalesce(intent, basis, 0), outcome`;
    const [counters = [], ...found] = (
      await this.store.ask([lastIntent(service), ...among(select, [...before.keys()], service)])
    ).answers;
    const { removed } = countersOf(counters);
    const stocks = new Map<bigint, number>();
    for (const answer of found.flat()) {
      const { petId, result, quantity, after, intent = 0, ...row } = recordedRowOf(answer, undefined);
      // A later write may have been removed.
      if (intent < removed || intent >= (before.get(petId) ?? 0)) continue;
      const isWritten = result === 'applied' || result === 'unchanged';
      const stock = result === 'unknown' ? undefined : (quantity ?? (isWritten ? after : row.before));
      if (stock !== undefined) stocks.set(petId, stock);
      else if (result === 'unknown') stocks.delete(petId);
    }
    return stocks;
  }

  /** Returns how many runs and rows the history has. */
  async sizes(): Promise<{ readonly runs: number; readonly rows: number }> {
    const [sizes] = await this.#ask(
      statement('SELECT (SELECT count(*) FROM runs) AS runs, (SELECT count(*) FROM rows) AS rows'),
    );
    return { runs: number(sizes?.runs) ?? 0, rows: number(sizes?.rows) ?? 0 };
  }

  /** Returns what is damaged, one line each: in the words of the database, and the runs that lack rows. */
  async check(): Promise<readonly string[]> {
    const findings = await this.store.check();
    if (findings.length > 0) return findings;
    const select = `SELECT runs.run FROM runs LEFT JOIN rows ON rows.run = runs.run
      GROUP BY runs.run, runs.changes HAVING count(rows.row) <> runs.changes ORDER BY runs.run`;
    return (await this.#ask(statement(select))).map(({ run }) => `Run ${runIdIn(run)} lacks rows`);
  }

  async #ask(question: Statement): Promise<readonly Answer[]> {
    const { answers } = await this.store.ask([question]);
    return answers[0] ?? [];
  }

  async #askAll(questions: readonly Statement[]): Promise<readonly Answer[]> {
    return questions.length === 0 ? [] : (await this.store.ask(questions)).answers.flat();
  }

  /** @param statementFor returns the query of the page after a value of `column`, ordered by that column */
  async *#pages(
    column: string,
    from: number,
    size: number,
    statementFor: (last: number) => Statement,
  ): AsyncGenerator<readonly Answer[], void> {
    for (let last = from; ; ) {
      const answers = await this.#ask(statementFor(last));
      yield answers;
      if (answers.length < size) return;
      last = Number(answers.at(-1)?.[column]);
    }
  }

  async #recordsOf(answers: readonly Answer[]): Promise<RunRecord[]> {
    const ids = answers.map(({ run }) => String(run));
    const select = 'SELECT run, result, count(*) AS count FROM rows WHERE run IN ?* GROUP BY run, result';
    const counts = new Map<string, Map<string, number>>(ids.map((run) => [run, new Map()]));
    for (const { run, result, count } of await this.#askAll(among(select, ids))) {
      counts.get(String(run))?.set(String(result), Number(count));
    }
    const open = ids.filter((run) => openResults.some((result) => counts.get(run)?.has(result)));
    const locked = open.length === 0 ? new Set<string>() : await this.store.lockedAmong(open);
    const undone = await this.#undoneAmong(ids);
    return answers.map((answer) => {
      const run = String(answer.run);
      return runRecordOf(answer, counts.get(run) ?? new Map(), locked.has(run), undone.get(run) ?? new Map());
    });
  }

  /** Returns the rows of runs that are undone now. */
  async #undoneAmong(runs: readonly string[]): Promise<UndoneRows> {
    const select = `WITH RECURSIVE undoing(run, undoes, number) AS (
        SELECT run, undoes, number FROM runs WHERE undoes IN ?*
        UNION SELECT runs.run, runs.undoes, runs.number FROM runs JOIN undoing ON runs.undoes = undoing.run)
      SELECT undoing.run, undoing.undoes, undoing.number, rows.row, rows.line FROM undoing JOIN rows ON rows.run = undoing.run
      WHERE rows.result = 'applied' ORDER BY undoing.number, rows.row`;
    const found = await this.#askAll(among(select, runs));
    const inOrder = found.toSorted((a, b) => Number(a.number) - Number(b.number));
    return undoneRows(
      inOrder.map(({ run, row, undoes, line }) => {
        return { run: runIdIn(run), row: Number(row), undoes: String(undoes), undoneRow: Number(line) };
      }),
    );
  }
}

const openResults = ['pending', 'sent', 'unknown'];

/** Returns the head of a run. Names are made safe for messages, because anyone who can write to the state can store anything there. */
export function headOf(answer: Answer): RunHead {
  const name = (value: Value | undefined) => plainName(String(value));
  return {
    ...{ command: name(answer.command), env: name(answer.env) },
    store: answer.store === null ? undefined : name(answer.store),
    ...{ baseUrl: String(answer.base_url), service: String(answer.service), scope: String(answer.scope) },
    ...{ user: text(answer.os_user), host: name(answer.host), pid: Number(answer.pid) },
    ...{ file: text(answer.file), contentHash: text(answer.content_hash) },
    ...{ reason: text(answer.reason), undoes: text(answer.undoes) && runIdIn(answer.undoes) },
    unchanged: Number(answer.head_unchanged),
    ...{ skipped: number(answer.head_skipped), notEdited: number(answer.head_not_edited) },
  };
}

const digits = /^\d+$/;

function runRecordOf(
  answer: Answer,
  found: ReadonlyMap<string, number>,
  isLocked: boolean,
  undone: ReadonlyMap<number, string>,
): RunRecord {
  const head = headOf(answer);
  const byResult = Object.fromEntries(recordedResults.map((result) => [result, found.get(result) ?? 0]));
  const counts = {
    ...(byResult as Record<RecordedResult, number>),
    unknown: (found.get('unknown') ?? 0) + (found.get('sent') ?? 0),
    unchanged: (found.get('unchanged') ?? 0) + head.unchanged,
    ...{ skipped: head.skipped ?? 0, notEdited: head.notEdited ?? 0 },
  };
  const isDiscarded = Number(answer.discarded) === 1;
  const isOpen = !isDiscarded && counts.pending + counts.unknown > 0;
  return {
    ...head,
    ...{ run: runIdIn(answer.run), at: Math.round(time(answer.at) ?? 0), began: Number(answer.began) },
    ...{ undoneBy: [...new Set(undone.values())].toSorted(), undone: undone.size },
    ...{
      changes: Number(answer.changes),
      units: digits.test(String(answer.units)) ? BigInt(String(answer.units)) : undefined,
    },
    // The first 20 pets, in decimal.
    pets: (String(answer.pets).match(/-?\d{1,19}/g) ?? []).map(BigInt),
    ...{ counts, isDiscarded },
    state: isOpen ? (isLocked ? 'running' : 'incomplete') : 'done',
  };
}

const openRows = `EXISTS (SELECT 1 FROM rows AS open WHERE open.run = runs.run AND open.result IN (${openResults.map((result) => `'${result}'`)}))`;

const statesInSql = {
  incomplete: `runs.discarded = 0 AND ${openRows}`,
  running: `runs.discarded = 0 AND ${openRows}`,
  done: `(runs.discarded = 1 OR NOT ${openRows})`,
};

/**
 * Returns the part of a filter that SQL can express. Whether a process is writing a run is checked later.
 * @param table whether times and pets are matched on runs or on single rows
 */
function conditionsOf(table: 'runs' | 'rows', filter: RunFilter): Statement {
  const { env, store, user, host, since, until, petIds, ref, state } = filter;
  const ofRow = (condition: string) =>
    table === 'rows' ? condition : `runs.run IN (SELECT rows.run FROM rows WHERE ${condition})`;
  const given: readonly (readonly [Value | undefined, string])[] = [
    [env, 'runs.env = ?'],
    [store ?? undefined, 'runs.store = ?'],
    [user, 'runs.os_user = ?'],
    [host, 'runs.host = ?'],
    [since, `${table}.at >= ?`],
    [until, `${table}.at <= ?`],
    // A row has several refs if the deltas of several lines were added up, see `partsOfRef`.
    [
      ref?.replace(/[\\%_]/g, '\\$&'),
      ofRow("rows.ref IS NOT NULL AND ', ' || lower(rows.ref) || ', ' LIKE '%, ' || lower(?) || ', %' ESCAPE '\\'"),
    ],
  ];
  const applying = given.flatMap(([value, sql]) => (value === undefined ? [] : [{ value, sql }]));
  const conditions = applying.map(({ sql }) => sql);
  if (store === null) conditions.push('runs.store IS NULL');
  if (state !== undefined) conditions.push(statesInSql[state]);
  // The digits are part of the statement, because a long list of pets could exceed the maximum number of parameters.
  const ids = petIds === undefined ? undefined : [...petIds].join();
  if (ids !== undefined) conditions.push(ids === '' ? '1 = 0' : ofRow(`rows.pet_id IN (${ids})`));
  return statement(conditions.join(' AND ') || '1 = 1', ...applying.map(({ value }) => value));
}

/** A written row of a run that undoes another run. */
export interface UndoingRow {
  readonly run: string;
  readonly row: number;
  /** The run that is undone, and the number of its row. */
  readonly undoes: string;
  readonly undoneRow: number;
}

/** For each run, the rows that were undone, with the run that has undone each. */
export type UndoneRows = ReadonlyMap<string, ReadonlyMap<number, string>>;

/**
 * Returns which rows are undone now. The undo of an undo makes a change again: then the row that was undone first is no
 * longer undone.
 * @param rows those of all runs that undo the runs in question, or each other, in the order of their runs
 */
export function undoneRows(rows: readonly UndoingRow[]): UndoneRows {
  const undone = new Map<string, Map<number, string>>();
  // The newest first: whether an undo holds is decided by later runs.
  for (const { run, row, undoes, undoneRow } of rows.toReversed()) {
    if (undone.get(run)?.has(row)) continue;
    const ofRun = undone.get(undoes) ?? new Map<number, string>();
    undone.set(undoes, ofRun.set(undoneRow, run));
  }
  return undone;
}
