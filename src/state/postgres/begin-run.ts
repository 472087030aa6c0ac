import { randomUUID } from 'node:crypto';
import type { PlannedRow, RunHead } from '../history.ts';
import { runIdAt } from '../run-id.ts';
import type { Query } from './connection.ts';
import { isLost } from './postgres-errors.ts';
import type { BegunRun } from './postgres-run-log.ts';
import type { Shared } from './shared.ts';

const shownPets = 20;
/** Rows that go to the database at a time. */
const page = 2000;

/**
 * Writes a run and its rows, which may be any number: a page of them is held. Durable.
 * @throws UnavailableError where the connection is lost, and the run is not in the database
 */
export async function beginRun(
  { connection, presence, random }: Shared,
  head: RunHead,
  host: string,
  rows: Iterable<PlannedRow>,
): Promise<BegunRun> {
  const token = randomUUID();
  try {
    return await connection.transaction(async (query) => {
      await query('SELECT petstock.keep_durable(), petstock.be_present($1)', presence.me);
      const run = await insertHead(query, { head, host, holder: presence.id, token, random: random() });
      const sums = await insertRows(query, run.id, rows);
      await query(
        `UPDATE petstock.runs SET changes = $2, units = $3, pets = $4, pending = $5, failed = $6, conflict = $7 WHERE id = $1`,
        run.id,
        sums.changes,
        String(sums.units),
        JSON.stringify(sums.pets.map(String)),
        sums.changes - sums.failed - sums.conflict,
        sums.failed,
        sums.conflict,
      );
      return run;
    });
  } catch (error) {
    if (!isLost(error)) throw connection.inWords(error);
    // The answer of the commit may be what was lost.
    const [found] = await connection.read('SELECT id::text, run FROM petstock.runs WHERE token = $1', token);
    if (found === undefined) throw connection.inWords(error);
    return { id: String(found.id), run: String(found.run) };
  }
}

interface NewRun {
  readonly head: RunHead;
  readonly host: string;
  readonly holder: string;
  readonly token: string;
  readonly random: number;
}

async function insertHead(query: Query, { head, host, holder, token, random }: NewRun): Promise<BegunRun> {
  const [row] = await query('SELECT petstock.now_ms() AS now, petstock.service_id($1) AS service', head.service);
  const at = Math.round(Number(row?.now));
  for (let attempt = 0; ; attempt += 1) {
    const run = runIdAt(at, random, attempt);
    const [inserted] = await query(
      `INSERT INTO petstock.runs (run, token, at, command, env, store, base_url, service, scope, os_user, host, file,
         content_hash, has_deltas, reason, undoes, holder, head_unchanged, head_skipped, head_not_edited)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)
       ON CONFLICT (run) DO NOTHING RETURNING id::text`,
      run,
      token,
      at,
      head.command,
      head.env,
      head.store,
      head.baseUrl,
      row?.service,
      head.scope,
      head.user,
      host,
      head.file,
      head.contentHash,
      head.hasDeltas,
      head.reason,
      head.undoes,
      holder,
      head.unchanged,
      head.skipped ?? 0,
      head.notEdited ?? 0,
    );
    if (inserted !== undefined) return { id: String(inserted.id), run };
  }
}

async function insertRows(query: Query, run: string, rows: Iterable<PlannedRow>) {
  const sums = { changes: 0, units: 0n, pets: [] as bigint[], failed: 0, conflict: 0 };
  let waiting: object[] = [];
  const write = async () => {
    if (waiting.length === 0) return;
    await query(insertPage, run, JSON.stringify(waiting));
    waiting = [];
  };
  for (const { row, line, petId, before, after, delta, reason, ref, outcome } of rows) {
    const error = outcome === undefined ? undefined : JSON.stringify(outcome.error);
    const result = outcome?.result ?? 'pending';
    waiting.push({ row, line, pet: String(petId), before, after, delta, reason, ref, result, error });
    if (waiting.length >= page) await write();
    sums.changes += 1;
    if (before !== undefined) sums.units += BigInt(Math.abs(after - before));
    if (sums.pets.length < shownPets) sums.pets.push(petId);
    if (outcome !== undefined) sums[outcome.result] += 1;
  }
  await write();
  return sums;
}

const insertPage = `
  INSERT INTO petstock.rows (run, row, line, service, pet_id, before, after, delta, reason, ref, result, error, sequence, touched)
  SELECT $1, row, line, (SELECT service FROM petstock.runs WHERE id = $1), pet, before, after, delta, reason, ref, result, error, number, number
  FROM (
    SELECT *, nextval('petstock.writes') AS number FROM jsonb_to_recordset($2)
      AS (row integer, line integer, pet bigint, before bigint, after bigint, delta bigint, reason text, ref text, result text, error text)
  ) AS page`;
