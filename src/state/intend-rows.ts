import type { RecordedResult } from '../inventory/run-records.ts';
import { blockedBy, type ConcurrentWrite, hasLostWrites, type ReadVersion, supersededBy } from './decide.ts';
import { type DrawnIn, drawnIn } from './highest-number.ts';
import type { Grant, Intent, Outcome } from './history.ts';
import { insertLeases, leasesIn, selectLeases } from './leases.ts';
import { aliveAmong } from './living-processes.ts';
import { leaseEnds } from './other-boots.ts';
import type { Presence } from './presence.ts';
import { runIdIn } from './run-ids.ts';
import { countsUpdate, type RunInTables, rowNumbers, runByToken, selectSettled, settleRows } from './settle-rows.ts';
import {
  allocateRowSequences,
  numberOfRow,
  selectLast,
  type TransactionContext,
  type TransactionSteps,
} from './state-database.ts';
import { among, name, number, type ResultSets, type Row, type Statement, statement, text } from './statements.ts';
import { possibleResults } from './tables.ts';

/** Identifies a run for the process that writes it. The token is chosen by the call that begins the run. */
export interface RunKey {
  readonly token: string;
  readonly serviceName: string;
}

/** One append to the log of a run: settles outcomes first, then grants intents. */
export interface LogAppend extends RunKey {
  readonly outcomes: readonly Outcome[];
  readonly intents: readonly Intent[];
  /**
   * The read version of the stock that the rows are based on, its time by the state's clock. Undefined if they are
   * based on none.
   */
  readonly since: ReadVersion | undefined;
  /** The owner id of the pet lock that the caller holds. */
  readonly lockOwner: string | undefined;
  /** Identifies this call, which is repeated if its reply was lost. */
  readonly call: string;
  /** The last intent that the state has confirmed to this process, and its call. */
  readonly confirmed: { readonly row: number; readonly call: string } | undefined;
  /** The highest sequence number that this process has seen. */
  readonly highestSeen: number;
}

/**
 * - `taken`: another process has taken the run over, so nothing may be sent; `by` names that process if it is alive
 * - `gone`: the run is not in the state
 * - `lost`: the state lacks something that it had confirmed
 */
export type LogAppendResult =
  | {
      readonly kind: 'written';
      readonly run: string;
      readonly grants: readonly Grant[];
      readonly last: number;
      /** The name of the state, and the highest number that it has allocated. */
      readonly drawnIn: DrawnIn;
    }
  | { readonly kind: 'taken'; readonly run: string; readonly by: string | undefined }
  | { readonly kind: 'lost'; readonly run: string }
  | { readonly kind: 'gone' };

/** Returns the queries whose results `appendToLog` needs. The run may be inserted in the same batch. */
export function selectForAppend({ token, serviceName, outcomes, intents, since, confirmed }: LogAppend): Statement[] {
  const pets = intents.map(({ petId }) => petId);
  const [contested, marks] = since === undefined ? ['0', []] : [isContested, [since.sequence, since.sequence]];
  const stock = intents.some(({ rebased }) => rebased !== undefined) ? 'own.before, own.after, ' : '';
  return [
    statement(selectRun, token),
    selectLast,
    statement(`SELECT token FROM petstock.rows WHERE run = ${runByToken} AND row = ?`, token, confirmed?.row ?? 0),
    selectSettled(token, outcomes),
    among(selectOwn(stock, contested), [...marks, token], rowNumbers(intents)),
    among(`${selectLeases} AND pet_id IN ?*`, [serviceName], pets),
  ];
}

/**
 * Settles outcomes, takes the leases of rows, and writes the intents of the rows that are granted.
 * @param loaded result sets of `selectForAppend`
 */
export function* appendToLog(
  presence: Presence,
  at: TransactionContext,
  given: LogAppend,
  loaded: ResultSets,
): TransactionSteps<LogAppendResult> {
  const [[head] = [], [meta] = [], [kept] = [], settled = [], own = [], leased = []] = loaded;
  const { intents, outcomes, confirmed, call } = given;
  if (head === undefined) return { kind: 'gone' };
  const run = runIn(head);
  const isOurs = head.holder === presence.id;
  if (!isOurs && intents.length > 0) {
    const living = yield* aliveAmong(presence, at, [head]);
    return { kind: 'taken', run: run.run, by: living.get(String(head.holder))?.name };
  }
  const rows = new Map(own.map((row) => [Number(row.row), row]));
  // A repeated call has already written intents after these outcomes, perhaps replacing the confirmed one.
  const isRepeated = intents.some(({ row }) => rows.get(row)?.token === call);
  const last = number(meta?.last) ?? 0;
  const isKept = confirmed === undefined || kept?.token === confirmed.call;
  const isLost = isOurs && !isRepeated && (!isKept || hasLostWrites(last, given.highestSeen, given.since));
  const lost = { kind: 'lost', run: run.run } as const;
  if (isLost && intents.length > 0) return lost;
  const moves = isRepeated ? [] : yield* settleRows(at, run, outcomes, settled, isOurs ? undefined : presence.id);
  const grants = yield* grantRows(presence, at, run, given, rows, leased);
  const granted = intents.filter(({ row }, index) => {
    return grants[index]?.kind === 'granted' && rows.get(row)?.token !== call;
  });
  writeGranted(at, presence.id, run, given, granted, rows);
  const became = new Map(moves.map(({ row, to }) => [row, to]));
  for (const { row } of granted) {
    const from = became.get(row) ?? (text(rows.get(row)?.result) as RecordedResult | undefined);
    if (from !== undefined) moves.push({ row, from, to: 'unknown' });
  }
  if (moves.length > 0) at.writes.push(countsUpdate(run.id, moves));
  const { state, drawn } = drawnIn(meta);
  const now = { state, drawn: drawn + at.allocated };
  return isLost ? lost : { kind: 'written', run: run.run, grants, last: last + at.allocated, drawnIn: now };
}

const ofPet = 'pet_id = own.pet_id AND service = own.service';
const isContested = `(CASE WHEN EXISTS (SELECT 1 FROM petstock.rows WHERE ${ofPet} AND touched > ? AND run <> own.run AND result IN (${possibleResults}))
    OR EXISTS (SELECT 1 FROM petstock.rows WHERE ${ofPet} AND result = 'unknown' AND run <> own.run)
    OR EXISTS (SELECT 1 FROM petstock.pruned WHERE ${ofPet} AND sequence > ?) THEN 1 ELSE 0 END)`;
/** Selects rows and their pets by key only: for most rows nothing more is needed. */
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

export const selectRun = 'SELECT id, run, service, undoes, holder FROM petstock.runs WHERE token = ?';

/** @param row a row of `selectRun` */
export function runIn({ id, run, service, undoes }: Row): RunInTables {
  return { id: number(id) ?? 0, run: String(run), serviceId: number(service) ?? 0, undoes: text(undoes) };
}

function writeGranted(
  at: TransactionContext,
  holder: string,
  { id, serviceId, run: owner }: RunInTables,
  { lockOwner, call }: LogAppend,
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
function* grantRows(
  presence: Presence,
  at: TransactionContext,
  { id, run, serviceId }: RunInTables,
  { intents, since, lockOwner, call }: LogAppend,
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
    // An unknown write of another boot: another process has waited for it, but this boot saw it too late to know.
    // Reading the stock again does not help yet.
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
