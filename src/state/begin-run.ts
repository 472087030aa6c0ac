import type { PlannedRow, RunHead } from './history.ts';
import { runIdAt } from './run-id.ts';
import {
  type Answers,
  drawnNumber,
  listOf,
  type Moment,
  piecesOf,
  type Statement,
  statement,
  text,
  type Work,
} from './store.ts';

export interface NewRun {
  readonly head: RunHead;
  readonly host: string;
  /** The process that begins it. */
  readonly holder: string;
  /** Finds the run again if the answer to its commit was lost. */
  readonly token: string;
  /** A number in [0, 1). */
  readonly random: number;
  /** The newest run of the same content that is known; undefined if that doesn't matter. */
  readonly follows: { readonly run: string | undefined } | undefined;
}

const maxShownPets = 20;
/** Runs of one second that may have the same four characters. */
const maxAttempts = 100;
/** Rows that are handed to the state at a time. */
const page = 1000;

/**
 * Writes a run and its rows, which may be any number: a page of them is held. Begun again since the answer to its commit was lost, it finds the run
 * by its token.
 * @returns undefined if there is a newer run of the same content than the one that it follows
 */
export function* beginning(at: Moment, given: NewRun, rows: Iterable<PlannedRow>): Work<BegunIds | undefined> {
  if (given.follows !== undefined) {
    const { head, token, follows } = given;
    const [[newest] = []] = yield [statement(selectNewest, head.contentHash ?? null, head.service)];
    if (text(newest?.token) !== token && text(newest?.run) !== follows.run) return undefined;
  }
  const ids = yield* insertingHead(at, given);
  if (ids.isRepeated) return ids;
  const sums = { changes: 0, maxRow: 0, units: 0n, pets: [] as bigint[], failed: 0, conflict: 0 };
  let waiting: PlannedRow[] = [];
  for (const row of rows) {
    waiting.push(row);
    if (waiting.length >= page) {
      yield insertRows(ids, waiting);
      waiting = [];
    }
    const { petId, before, after, outcome } = row;
    sums.changes += 1;
    sums.maxRow = Math.max(sums.maxRow, row.row);
    if (before !== undefined) sums.units += BigInt(Math.abs(after - before));
    if (sums.pets.length < maxShownPets) sums.pets.push(petId);
    if (outcome !== undefined) sums[outcome.result] += 1;
  }
  const settled = sums.failed + sums.conflict;
  // Numbers are drawn last, since all others wait for them: one for the run, and if rows are settled already one for each row.
  const numbers = 1 + (settled > 0 ? sums.maxRow : 0);
  at.writes.push(
    ...insertRows(ids, waiting),
    statement('UPDATE petstock.sequence SET last = last + ?', numbers),
    ...(settled > 0
      ? [
          statement(
            `UPDATE petstock.rows SET touched = ${drawnNumber} + row WHERE run = ? AND result <> 'pending'`,
            sums.maxRow,
            ids.id,
          ),
        ]
      : []),
    statement(
      `UPDATE petstock.runs SET changes = ?, units = ?, pets = ?, pending = ?, failed = ?, conflict = ?, sequence = ${drawnNumber},
         touched = (SELECT last FROM petstock.sequence) WHERE id = ?`,
      ...[sums.changes, String(sums.units), JSON.stringify(sums.pets.map(String))],
      ...[sums.changes - settled, sums.failed, sums.conflict, numbers - 1, ids.id],
    ),
  );
  return ids;
}

export interface BegunIds {
  readonly id: number;
  readonly run: string;
  readonly service: number;
}

interface InsertedHead extends BegunIds {
  readonly began: number;
  readonly isRepeated: boolean;
}

const selectNewest = `SELECT run, token FROM petstock.runs WHERE content_hash = ?
  AND service = (SELECT id FROM petstock.services WHERE name = ?) ORDER BY sequence DESC LIMIT 1`;
const selectByToken = 'SELECT id, run, service, began FROM petstock.runs WHERE token = ?';

function* insertingHead(
  at: Moment,
  { head, host, holder, token, random }: NewRun,
): Generator<readonly Statement[], InsertedHead, Answers> {
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const run = runIdAt(at.wall, random, attempt);
    const [[before] = [], , [inserted] = []] = yield [
      statement(selectByToken, token),
      statement(
        `INSERT INTO petstock.runs (run, token, at, command, env, store, base_url, service, scope, os_user, host, file, content_hash,
           has_deltas, reason, undoes, holder, head_unchanged, head_skipped, head_not_edited, changes, units, pets, pending, applied, unchanged, failed, conflict, differs,
           unknown, began, sequence, touched)
         SELECT ?, ?, ?, ?, ?, ?, ?, id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, '0', '[]', 0, 0, 0, 0, 0, 0, 0, last, last, last
         FROM petstock.services, petstock.sequence WHERE name = ? AND NOT EXISTS (SELECT 1 FROM petstock.runs WHERE token = ?)
         ON CONFLICT (run) DO NOTHING`,
        ...[run, token, Math.round(at.wall), head.command, head.env, head.store ?? null, head.baseUrl, head.scope],
        ...[head.user ?? null, host, head.file ?? null, head.contentHash ?? null],
        ...[head.hasDeltas === undefined ? null : Number(head.hasDeltas), head.reason ?? null, head.undoes ?? null],
        ...[holder, head.unchanged, head.skipped ?? 0, head.notEdited ?? 0, head.service],
        token,
      ),
      statement(selectByToken, token),
    ];
    if (inserted === undefined) continue;
    return {
      id: Number(inserted.id),
      run: String(inserted.run),
      service: Number(inserted.service),
      began: Number(inserted.began),
      isRepeated: before !== undefined,
    };
  }
  throw new Error('no id was free for the run');
}

function insertRows({ id, service, began }: InsertedHead, rows: readonly PlannedRow[]): Statement[] {
  return piecesOf(rows).map((piece) => {
    const values = piece.map(({ row, line, petId, before, after, delta, reason, ref, outcome }) => [
      ...[id, row, line, service, petId, before ?? null, after, delta ?? null, reason ?? null, ref ?? null],
      ...[outcome?.result ?? 'pending', outcome === undefined ? null : JSON.stringify(outcome.error), began, began],
    ]);
    return statement(
      `INSERT INTO petstock.rows (run, row, line, service, pet_id, before, after, delta, reason, ref, result, error, sequence, touched)
       VALUES ${values.map(listOf).join()}`,
      ...values.flat(),
    );
  });
}
