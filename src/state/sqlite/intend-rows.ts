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
    const grant = grantOf(shared, row, intending);
    if (grant.kind === 'granted') writeIntent(shared, row, intending, counts, next());
    return grant;
  });
}

function grantOf(shared: Shared, { petId }: Intent, { run, holder, since, place }: Intending): Grant {
  const pet = { service: run.service, petId };
  const busy = busyWith(shared, pet, holder, place === undefined ? [run.run] : [run.run, place]);
  if (busy !== undefined) return { kind: 'busy', ...busy };
  const writer = since && writerSince(shared, pet, run.id, since);
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
       AND rows.result IN ('applied', 'differs', 'unknown') ORDER BY rows.touched DESC LIMIT 1`,
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
  { row, petId, expires }: Intent,
  { run, holder }: Intending,
  counts: CountChanges,
  sequence: number,
): void {
  const { connection, clock } = shared;
  const known = connection.get('SELECT result FROM rows WHERE run = ? AND row = ?', run.id, row);
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
  if (known !== undefined) counts.move(String(known.result), 'unknown');
}
