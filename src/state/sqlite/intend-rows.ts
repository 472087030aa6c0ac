import type { Grant, Intent } from '../history.ts';
import type { Mark } from '../pets.ts';
import type { BegunRun } from './begin-run.ts';
import { busyWith, type PetKey, type Shared, takeLease, unexpired } from './leases.ts';
import type { CountChanges } from './settle-rows.ts';

export interface Intending {
  readonly run: BegunRun;
  readonly holder: number;
  /** The mark before the stock that the rows rely on; undefined: they rely on none. */
  readonly since: Mark | undefined;
  /** The owner of the place by which a pet was entered. */
  readonly place: string | undefined;
}

/** Inside a transaction. Takes the leases of rows and writes their intents, of those that are granted. */
export function intendRows(
  shared: Shared,
  rows: readonly Intent[],
  intending: Intending,
  counts: CountChanges,
  next: () => number,
): Grant[] {
  return rows.map((row) => {
    const known = lookAt(shared, row, intending);
    const grant = grantOf(shared, row, intending, known);
    if (grant.kind === 'granted') writeIntent(shared, row, intending, next());
    if (grant.kind === 'granted' && known !== undefined) counts.move(known.result, 'unknown');
    return grant;
  });
}

/** What one look says of a row and its pet. Of most there is nothing else to know. */
interface Known {
  readonly result: string;
  /** Somebody has a lease on the pet. */
  readonly isLeased: boolean;
  /** Another run has a write of the pet that may count. */
  readonly isContested: boolean;
}

const possibleWrites = "('applied', 'differs', 'unknown')";
const isLeased = 'EXISTS (SELECT 1 FROM leases WHERE pet_id = own.pet_id AND service = own.service) AS is_leased';
const isContested = `(EXISTS (SELECT 1 FROM rows WHERE pet_id = own.pet_id AND service = own.service AND touched > ?
      AND run <> own.run AND result IN ${possibleWrites})
    OR EXISTS (SELECT 1 FROM rows WHERE pet_id = own.pet_id AND service = own.service AND result = 'unknown'
      AND run <> own.run)) AS is_contested`;
const lookAtPlain = `SELECT result, ${isLeased} FROM rows AS own WHERE run = ? AND row = ?`;
const lookAtRelying = `SELECT result, ${isLeased}, ${isContested} FROM rows AS own WHERE run = ? AND row = ?`;

/** @returns undefined for a row that the run does not have */
function lookAt({ connection }: Shared, { row }: Intent, { run, since }: Intending): Known | undefined {
  const known =
    since === undefined
      ? connection.get(lookAtPlain, run.id, row)
      : connection.get(lookAtRelying, since.sequence, run.id, row);
  if (known === undefined) return undefined;
  return { result: String(known.result), isLeased: known.is_leased === 1, isContested: known.is_contested === 1 };
}

function grantOf(
  shared: Shared,
  { petId }: Intent,
  { run, holder, since, place }: Intending,
  known: Known | undefined,
): Grant {
  const pet = { service: run.service, petId };
  if (known?.isLeased !== false) {
    const busy = busyWith(shared, pet, holder, place === undefined ? [run.run] : [run.run, place]);
    if (busy !== undefined) return { kind: 'busy', ...busy };
  }
  if (since === undefined || known?.isContested === false) return { kind: 'granted' };
  const writer = writerSince(shared, pet, run.id, since);
  return writer === undefined ? { kind: 'granted' } : { kind: 'overtaken', ...writer };
}

/** @returns another run that has written the pet since the mark, or whose request could still arrive after it */
function writerSince(
  { connection, clock }: Shared,
  { service, petId }: PetKey,
  run: number,
  since: Mark,
): { readonly run: string; readonly command: string } | undefined {
  const later = connection.get(
    `SELECT runs.run, runs.command FROM rows JOIN runs ON runs.id = rows.run
     WHERE rows.pet_id = ? AND rows.service = ? AND rows.touched > ? AND rows.run <> ?
       AND rows.result IN ${possibleWrites} ORDER BY rows.touched DESC LIMIT 1`,
    petId,
    service,
    since.sequence,
    run,
  );
  if (later !== undefined) return { run: String(later.run), command: String(later.command) };
  const unknown = connection.all(
    `SELECT runs.run, runs.command, rows.boot, rows.expires FROM rows JOIN runs ON runs.id = rows.run
     WHERE rows.pet_id = ? AND rows.service = ? AND rows.result = 'unknown' AND rows.run <> ?`,
    petId,
    service,
    run,
  );
  const arriving = unknown.find(({ boot, expires }) => unexpired(clock, boot, expires, since.at) !== undefined);
  return arriving && { run: String(arriving.run), command: String(arriving.command) };
}

function writeIntent(
  shared: Shared,
  { row, petId, expires, rebased }: Intent,
  { run, holder }: Intending,
  sequence: number,
): void {
  const { connection, clock } = shared;
  takeLease(shared, { service: run.service, petId }, { owner: run.run, run: run.run, holder, expires });
  connection.run(
    `UPDATE rows SET result = 'unknown', quantity = NULL, error = NULL, at = ?, boot = ?, expires = ?, sequence = ?, touched = ?
     WHERE run = ? AND row = ?`,
    Math.round(clock.now()),
    clock.boot(),
    expires,
    sequence,
    sequence,
    run.id,
    row,
  );
  if (rebased === undefined) return;
  const { before, after } = rebased;
  connection.run('UPDATE rows SET before = ?, after = ? WHERE run = ? AND row = ?', before, after, run.id, row);
}
