import type { PlannedRow, RunHead } from '../history.ts';
import { runIdAt } from '../run-id.ts';
import { type Shared, serviceNumber } from './leases.ts';
import { numbered } from './sequence.ts';

export interface BegunRun {
  /** The number of the run in the tables. */
  readonly id: number;
  readonly run: string;
  readonly service: number;
  readonly undoes: string | undefined;
}

export interface NewRun {
  readonly head: RunHead;
  readonly at: number;
  readonly host: string;
  /** The process that is at it; undefined for one that was imported. */
  readonly holder: number | undefined;
}

const shownPets = 20;

/** Inside a transaction. Writes a run and its rows, which may be any number: they are streamed. */
export function insertRun(
  shared: Pick<Shared, 'connection'>,
  run: string,
  about: NewRun,
  rows: Iterable<PlannedRow>,
): BegunRun {
  const service = serviceNumber(shared.connection, about.head.service);
  const id = insertHead(shared, run, about, service);
  const sums = numbered(shared.connection, (next) => insertRows(shared, { id, service }, rows, next));
  shared.connection.run(
    'UPDATE runs SET changes = ?, units = ?, pets = ?, pending = ?, failed = ?, conflict = ? WHERE id = ?',
    sums.changes,
    String(sums.units),
    JSON.stringify(sums.pets.map(String)),
    sums.changes - sums.failed - sums.conflict,
    sums.failed,
    sums.conflict,
    id,
  );
  return { id, run, service, undoes: about.head.undoes };
}

function insertHead(
  { connection }: Pick<Shared, 'connection'>,
  run: string,
  { head, at, host, holder }: NewRun,
  service: number,
): number {
  return connection.insert(
    `INSERT INTO runs (run, at, command, env, store, base_url, service, scope, user, host, file, content_hash, has_deltas,
       reason, undoes, holder, head_unchanged, head_skipped, head_not_edited, changes, units, pets, pending, applied, unchanged, failed, conflict, differs, unknown)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, '0', '[]', 0, 0, 0, 0, 0, 0, 0)`,
    run,
    Math.round(at),
    head.command,
    head.env,
    head.store ?? null,
    head.baseUrl,
    service,
    head.scope,
    head.user ?? null,
    host,
    head.file ?? null,
    head.contentHash ?? null,
    head.hasDeltas === undefined ? null : Number(head.hasDeltas),
    head.reason ?? null,
    head.undoes ?? null,
    holder ?? null,
    head.unchanged,
    head.skipped ?? 0,
    head.notEdited ?? 0,
  );
}

function insertRows(
  { connection }: Pick<Shared, 'connection'>,
  { id, service }: Pick<BegunRun, 'id' | 'service'>,
  rows: Iterable<PlannedRow>,
  next: () => number,
) {
  const sums = { changes: 0, units: 0n, pets: [] as bigint[], failed: 0, conflict: 0 };
  for (const { row, line, petId, before, after, delta, reason, ref, outcome } of rows) {
    const sequence = next();
    connection.run(
      `INSERT INTO rows (run, row, line, service, pet_id, before, after, delta, reason, ref, result, error, sequence, touched)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      id,
      row,
      line,
      service,
      petId,
      before ?? null,
      after,
      delta ?? null,
      reason ?? null,
      ref ?? null,
      outcome?.result ?? 'pending',
      outcome === undefined ? null : JSON.stringify(outcome.error),
      sequence,
      sequence,
    );
    sums.changes += 1;
    if (before !== undefined) sums.units += BigInt(Math.abs(after - before));
    if (sums.pets.length < shownPets) sums.pets.push(petId);
    if (outcome !== undefined) sums[outcome.result] += 1;
  }
  return sums;
}

/**
 * Inside a transaction. @returns an id that no run has, after the time and four characters that tell apart the runs of one second
 * @param at milliseconds since the Unix epoch
 */
export function newRunId({ connection, random }: Shared, at: number): string {
  for (let attempt = 0; ; attempt += 1) {
    const run = runIdAt(at, random(), attempt);
    if (connection.get('SELECT 1 FROM runs WHERE run = ?', run) === undefined) return run;
  }
}
