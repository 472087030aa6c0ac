import type { PlannedRow, RunHead } from '../inventory/run-records.ts';
import { ConflictError } from '../shared/errors.ts';
import { serviceByName } from './leases.ts';
import { runIdAt } from './run-ids.ts';
import { allocateSequence, numberOfRow, type TransactionContext, type TransactionSteps } from './state-database.ts';
import { among, type ResultSets, type Statement, statement, text } from './statements.ts';

export interface NewRun {
  readonly head: RunHead;
  /** The rows in the order of the plan. They are iterated again if the transaction has to be repeated. */
  readonly rows: Iterable<PlannedRow>;
  readonly host: string;
  /** The id of the process that begins the run. */
  readonly holder: string;
  /** A random number in [0, 1), for the id. */
  readonly random: number;
  /** `run`: the newest known run of the same content, if any. `follows` is undefined if the content may be repeated. */
  readonly follows: { readonly run: string | undefined } | undefined;
}

/** Thrown if another run of the same content has begun since the check. */
export class DuplicateRunError extends ConflictError {}

const maxShownPets = 20;
/** Number of ids to try: `runIdAt` has seven for one second and one random number. */
const maxAttempts = 7;
/** Maximum number of rows in memory, sent in one batch. */
const page = 1000;

/**
 * Writes a run and all its rows, holding one page of rows in memory at a time. If the transaction is repeated because
 * the reply to its commit was lost, finds the run by its token.
 * @param loads queries of the caller, sent with the first page of rows
 * @returns the result sets of `loads`
 * @throws DuplicateRunError if the newest run with the same content is not the one in `follows`
 */
export function* beginRun(
  at: TransactionContext,
  token: string,
  given: NewRun,
  loads: readonly Statement[],
): TransactionSteps<ResultSets> {
  const { head, random, follows } = given;
  const sums = noSums();
  const pages = pagesOf(given.rows, sums);
  const first = insertRows(token, pages.next().value ?? []);
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const [[newest] = [], _head, _rows, [row] = [], ...loaded] = yield [
      statement(selectNewest, head.contentHash ?? null, head.serviceName),
      insertHead(at, runIdAt(at.wall, random, attempt), token, given),
      first,
      statement('SELECT id, changes FROM petstock.runs WHERE token = ?', token),
      ...loads,
    ];
    const isRepeated = Number(row?.changes) > 0;
    if (isRepeated) return loaded;
    if (follows !== undefined && text(newest?.token) !== token && text(newest?.run) !== follows.run) {
      throw new DuplicateRunError('Another run of the same content has begun since');
    }
    if (row === undefined) continue;
    for (const rows of pages) yield [insertRows(token, rows)];
    writeSums(at, Number(row.id), sums);
    return loaded;
  }
  throw new Error('no id was free for the run');
}

const selectNewest = `SELECT run, token FROM petstock.runs WHERE content_hash = ?
  AND service = ${serviceByName} ORDER BY sequence DESC LIMIT 1`;

function insertHead(at: TransactionContext, run: string, token: string, { head, host, holder }: NewRun): Statement {
  return statement(
    `INSERT INTO petstock.runs (run, token, at, command, env, store, base_url, service, scope, os_user, host, file, content_hash,
       has_deltas, reason, undoes, holder, head_unchanged, head_skipped, head_not_edited, began, sequence, touched)
     SELECT ?, ?, ?, ?, ?, ?, ?, id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, last, last, last
     FROM petstock.services, petstock.sequence WHERE name = ? AND NOT EXISTS (SELECT 1 FROM petstock.runs WHERE token = ?)
     ON CONFLICT (run) DO NOTHING`,
    ...[run, token, Math.round(at.wall), head.command, head.env, head.store ?? null, head.baseUrl, head.scope],
    ...[head.user ?? null, host, head.file ?? null, head.contentHash ?? null],
    ...[head.hasDeltas === undefined ? null : Number(head.hasDeltas), head.reason ?? null, head.undoes ?? null],
    ...[holder, head.unchanged, head.skipped ?? 0, head.notEdited ?? 0, head.serviceName, token],
  );
}

const noSums = () => ({ changes: 0, maxRow: 0, units: 0n, pets: [] as bigint[], failed: 0, conflict: 0 });
type Sums = ReturnType<typeof noSums>;

/** Yields the rows in pages, and adds each row to `sums` on the way. */
function* pagesOf(rows: Iterable<PlannedRow>, sums: Sums): Generator<readonly PlannedRow[], undefined> {
  let waiting: PlannedRow[] = [];
  for (const row of rows) {
    waiting.push(row);
    const { petId, before, after, outcome } = row;
    sums.changes += 1;
    sums.maxRow = Math.max(sums.maxRow, row.row);
    if (before !== undefined) sums.units += BigInt(Math.abs(after - before));
    if (sums.pets.length < maxShownPets) sums.pets.push(petId);
    if (outcome !== undefined) sums[outcome.result] += 1;
    if (waiting.length < page) continue;
    yield waiting;
    waiting = [];
  }
  yield waiting;
}

function writeSums(at: TransactionContext, id: number, { changes, maxRow, units, pets, failed, conflict }: Sums): void {
  const settled = failed + conflict;
  const numbersOfRows = settled === 0 ? 0 : maxRow;
  allocateSequence(at, 1 + numbersOfRows);
  at.writes.push(
    statement(
      `UPDATE petstock.runs SET changes = ?, units = ?, pets = ?, pending = ?, failed = ?, conflict = ?,
         sequence = (SELECT last FROM petstock.sequence) - ?, touched = (SELECT last FROM petstock.sequence) WHERE id = ?`,
      ...[
        changes,
        String(units),
        JSON.stringify(pets.map(String)),
        changes - settled,
        failed,
        conflict,
        numbersOfRows,
        id,
      ],
    ),
  );
  if (settled === 0) return;
  const sql = `UPDATE petstock.rows SET touched = ${numberOfRow} WHERE run = ? AND result <> 'pending'`;
  at.writes.push(statement(sql, maxRow, id));
}

/** PostgreSQL treats the parameters in a VALUES list as text, so each is cast. */
const columns = ['integer', 'integer', ...Array(4).fill('bigint'), ...Array(4).fill('text')].map(
  (type, index) => `CAST(column${index + 1} AS ${type})`,
);
const insertingRows = `INSERT INTO petstock.rows (run, service, sequence, touched, row, line, pet_id, before, after, delta, reason, ref, result, error)
  SELECT id, service, began, began, ${columns} FROM petstock.runs, (VALUES ?*) AS given WHERE token = ? ON CONFLICT (run, row) DO NOTHING`;

function insertRows(token: string, rows: readonly PlannedRow[]): Statement {
  const list = rows.map(({ row, line, petId, before, after, delta, reason, ref, outcome }) => [
    ...[row, line, petId, before ?? null, after, delta ?? null, reason ?? null, ref ?? null],
    ...[outcome?.result ?? 'pending', outcome === undefined ? null : JSON.stringify(outcome.error)],
  ]);
  return among(insertingRows, [token], list);
}
