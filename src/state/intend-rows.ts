import type { RecordedResult } from '../inventory/run-records.ts';
import { blockedBy, type ConcurrentWrite, type ReadVersion, supersededBy } from './decide.ts';
import type { Grant, Intent } from './intents-and-outcomes.ts';
import { insertLeases, leasesIn, selectLeases } from './leases.ts';
import { aliveAmong } from './living-processes.ts';
import { leaseEnds } from './other-boots.ts';
import type { Presence } from './presence.ts';
import { runIdIn } from './run-ids.ts';
import { type RunInTables, type RunKey, rowNumbers, runByToken } from './settle-rows.ts';
import { allocateRowSequences, numberOfRow, type TransactionContext, type TransactionSteps } from './state-database.ts';
import { among, name, number, type Row, type Statement, statement } from './statements.ts';
import { possibleResults } from './tables.ts';

export interface IntendedRows {
  readonly intents: readonly Intent[];
  /**
   * The read version of the stock that the rows depend on, with its time by the state's clock; undefined if they depend
   * on none.
   */
  readonly since: ReadVersion | undefined;
  /** The owner id of the pet lock that the caller holds; undefined if it holds none. */
  readonly lockOwner: string | undefined;
  /** Identifies this call, so that a repetition after a lost reply is recognized. */
  readonly call: string;
}

/** Selects the rows and the leases of their pets. */
export function selectIntended({ token, serviceName, intents, since }: RunKey & IntendedRows): Statement[] {
  const [contested, versions] = since === undefined ? ['0', []] : [isContested, [since.sequence, since.sequence]];
  const stock = intents.some(({ rebased }) => rebased !== undefined) ? 'own.before, own.after, ' : '';
  const pets = intents.map(({ petId }) => petId);
  return [
    among(selectOwn(stock, contested), [...versions, token], rowNumbers(intents)),
    among(`${selectLeases} AND pet_id IN ?*`, [serviceName], pets),
  ];
}

const ofPet = 'pet_id = own.pet_id AND service = own.service';
const isContested = `(CASE WHEN EXISTS (SELECT 1 FROM petstock.rows WHERE ${ofPet} AND touched > ? AND run <> own.run AND result IN (${possibleResults}))
    OR EXISTS (SELECT 1 FROM petstock.rows WHERE ${ofPet} AND result = 'unknown' AND run <> own.run)
    OR EXISTS (SELECT 1 FROM petstock.pruned WHERE ${ofPet} AND sequence > ?) THEN 1 ELSE 0 END)`;
/** Selects rows by their key, and whether other writes to the pet may matter: only then are those writes loaded. */
const selectOwn = (stock: string, contested: string) =>
  `SELECT own.row, own.result, own.token, ${stock}${contested} AS is_contested
   FROM petstock.rows AS own WHERE own.run = ${runByToken} AND own.row IN ?*`;

const selectWriters = `SELECT CAST(pet_id AS TEXT) AS pet, (SELECT runs.run FROM petstock.runs WHERE runs.id = rows.run) AS run,
  (SELECT command FROM petstock.runs WHERE runs.id = rows.run) AS command, result, touched, boot, expires, lasts
  FROM petstock.rows WHERE service = ? AND run > 0 AND run <> ?`;
const selectLater = `${selectWriters} AND touched > ? AND result IN (${possibleResults}) AND pet_id IN ?*`;
const selectUnknown = `${selectWriters} AND result = 'unknown' AND pet_id IN ?*`;
const selectPruned =
  'SELECT CAST(pet_id AS TEXT) AS pet, sequence FROM petstock.pruned WHERE service = ? AND pet_id IN ?*';

/** Writes the intents of rows that were granted, and takes the leases of their pets. */
export function writeGranted(
  at: TransactionContext,
  holder: string,
  { id, serviceId, run: owner }: RunInTables,
  { lockOwner, call }: IntendedRows,
  granted: readonly Intent[],
  rows: ReadonlyMap<number, Row>,
): void {
  if (granted.length === 0) return;
  const { now, wall, boot } = at;
  const numbers = allocateRowSequences(at, granted);
  for (const { row, rebased } of granted) {
    const { before, after } = rows.get(row) ?? {};
    if (rebased === undefined || (rebased.before === number(before) && rebased.after === number(after))) continue;
    const sql = 'UPDATE petstock.rows SET before = ?, after = ? WHERE run = ? AND row = ?';
    at.writes.push(statement(sql, rebased.before, rebased.after, id, row));
  }
  for (const ends of new Set(granted.map(({ inFlightUntil }) => inFlightUntil))) {
    const alike = granted.filter(({ inFlightUntil }) => inFlightUntil === ends);
    const petIds = alike.map(({ petId }) => petId);
    const [lasts, values] = [ends - now, [Math.round(wall), boot, ends, ends - now, call, numbers, numbers, id]];
    at.writes.push(
      insertLeases({ petIds, serviceId, owner, run: owner, holder, boot, expires: ends, lasts }),
      among(writeIntent, values, rowNumbers(alike)),
    );
  }
  // The run now holds the lease, so its pet lock leaves the queue.
  if (lockOwner !== undefined) at.writes.push(statement('DELETE FROM petstock.line WHERE place = ?', lockOwner));
}

const writeIntent = `UPDATE petstock.rows SET result = 'unknown', quantity = NULL, error = NULL, at = ?, boot = ?, expires = ?, lasts = ?, token = ?,
  sequence = ${numberOfRow}, touched = ${numberOfRow} WHERE run = ? AND row IN ?*`;

/**
 * Decides for each row whether it may be sent.
 * @param rows the rows of the run, by number
 * @param leased the leases of their pets
 */
export function* grantRows(
  presence: Presence,
  at: TransactionContext,
  { id, run, serviceId }: RunInTables,
  { intents, since, lockOwner, call }: IntendedRows,
  rows: ReadonlyMap<number, Row>,
  leased: readonly Row[],
): TransactionSteps<Grant[]> {
  const leases = yield* leasesIn(at, leased, yield* aliveAmong(presence, at, leased));
  const owners = lockOwner === undefined ? [run] : [run, lockOwner];
  const contested = intents.filter(({ row }) => Number(rows.get(row)?.is_contested) === 1);
  const pets = contested.map(({ petId }) => petId);
  const [later = [], unknown = [], pruned = []] = yield [
    among(selectLater, [serviceId, id, since?.sequence ?? 0], pets),
    among(selectUnknown, [serviceId, id], pets),
    among(selectPruned, [serviceId], pets),
  ];
  const endOf = yield* leaseEnds(at, unknown);
  return intents.map((intent): Grant => {
    if (rows.get(intent.row)?.token === call) return { kind: 'granted' };
    const petId = String(intent.petId);
    const busy = blockedBy(leases.get(petId), owners, presence.id, at.now);
    if (busy !== undefined) return { kind: 'busy', ...busy };
    if (since === undefined) return { kind: 'granted' };
    const others = [...later, ...unknown].filter(({ pet }) => pet === petId);
    const writers = others.map((row) => writerIn(row, endOf(row)));
    const writer = supersededBy(writers, number(pruned.find(({ pet }) => pet === petId)?.sequence), since);
    if (writer === undefined) return { kind: 'granted' };
    const { run: by, command, inFlightUntil = 0 } = writer;
    // While the other request may still arrive, reading the stock again does not help.
    return inFlightUntil > at.now
      ? { kind: 'busy', run: by, until: inFlightUntil }
      : { kind: 'superseded', run: by, command };
  });
}

function writerIn({ run, command, result, touched }: Row, inFlightUntil: number | undefined): ConcurrentWrite {
  return {
    ...{ run: runIdIn(run), command: name(command), result: String(result) as RecordedResult },
    ...{ touched: number(touched) ?? 0, inFlightUntil },
  };
}
