import type { RecordedResult } from '../inventory/run-records.ts';
import { busyWith, hasForgotten, type Mark, overtakenBy, type Writer } from './decide.ts';
import type { Grant, Intent, Outcome } from './history.ts';
import { leasesIn, selectLeases, takingLeases } from './leases.ts';
import type { Presence } from './processes-present.ts';
import { countsUpdate, outcomeLoads, type RunInTables, rowNumbers, runByToken, settling } from './settle-rows.ts';
import { type Answers, among, piecesOf, type Row, type Statement, statement } from './statements.ts';
import { drawForRows, type Moment, numberOfRow, selectLast, type Work } from './store.ts';
import { name, number, text } from './stored-values.ts';
import { possibleResults } from './tables.ts';
import { endsOf } from './times.ts';

/** A run as the process that writes it knows it. Its token is that of the call that has begun it. */
export interface RunKey {
  readonly token: string;
  /** The name of the service. */
  readonly service: string;
}

/** One call of the log of a run: outcomes are settled, then rows may leave. */
export interface Writing extends RunKey {
  readonly outcomes: readonly Outcome[];
  readonly intents: readonly Intent[];
  /** The mark before the stock that the rows rely on; its time by the clock of the state. Undefined: they rely on none. */
  readonly since: Mark | undefined;
  /** The owner of the place by which a pet was entered. */
  readonly place: string | undefined;
  /** Names this call: one whose answer was lost is made again. */
  readonly call: string;
  /** The last intent that the state has confirmed to this process, and its call. */
  readonly confirmed: { readonly row: number; readonly call: string } | undefined;
  /** The highest number that this process has seen. */
  readonly highestSeen: number;
}

/**
 * - `taken`: another process has the run now, so nothing may be sent; `by`: who it is, for messages, if it is alive
 * - `gone`: the state has no such run
 * - `lost`: it lacks what it had confirmed
 */
export type Written =
  | { readonly kind: 'written'; readonly run: string; readonly grants: readonly Grant[]; readonly last: number }
  | { readonly kind: 'taken'; readonly run: string; readonly by: string | undefined }
  | { readonly kind: 'lost'; readonly run: string }
  | { readonly kind: 'gone' };

const ofPet = 'pet_id = own.pet_id AND service = own.service';
const isContested = `(CASE WHEN EXISTS (SELECT 1 FROM petstock.rows WHERE ${ofPet} AND touched > ? AND run <> own.run AND result IN (${possibleResults}))
    OR EXISTS (SELECT 1 FROM petstock.rows WHERE ${ofPet} AND result = 'unknown' AND run <> own.run)
    OR EXISTS (SELECT 1 FROM petstock.pruned WHERE ${ofPet} AND sequence > ?) THEN 1 ELSE 0 END)`;
/** Rows and their pets, by their keys alone. Of most there is nothing else to know. */
const selectOwn = (contested: string) =>
  `SELECT own.row, own.result, own.token, own.before, own.after, ${contested} AS is_contested
   FROM petstock.rows AS own WHERE own.run = ${runByToken} AND own.row IN `;
const [selectPlain, selectRelying] = [selectOwn('0'), selectOwn(isContested)];

/** Returns what `writing` has to know. The run may be made in the same round. */
export function writingLoads({ token, service, outcomes, intents, since, confirmed }: Writing): Statement[] {
  const [select, marks] = since === undefined ? [selectPlain, []] : [selectRelying, [since.sequence, since.sequence]];
  const pets = intents.map(({ petId }) => petId);
  return [
    statement(selectRun, token),
    selectLast,
    statement(`SELECT token FROM petstock.rows WHERE run = ${runByToken} AND row = ?`, token, confirmed?.row ?? 0),
    ...among(select, [...marks, token], rowNumbers(intents)),
    ...among(`${selectLeases} AND pet_id IN `, [service], pets),
    ...outcomeLoads(token, outcomes),
  ];
}

/** Settles outcomes, takes the leases of rows, and writes the intents of those that are granted. @param loaded answers of `writingLoads` */
export function* writing(presence: Presence, at: Moment, given: Writing, loaded: Answers): Work<Written> {
  const [[head] = [], [meta] = [], [kept] = [], ...answers] = loaded;
  const { intents, outcomes, confirmed, call } = given;
  if (head === undefined) return { kind: 'gone' };
  const run = runIn(head);
  const isOurs = head.holder === presence.id;
  if (!isOurs && intents.length > 0) {
    const living = yield* presence.aliveAmong(at, [head]);
    return { kind: 'taken', run: run.run, by: living.get(String(head.holder))?.name };
  }
  const pieces = piecesOf(intents).length;
  const rows = new Map(answers.slice(0, pieces).flatMap((found) => found.map((row) => [Number(row.row), row])));
  // Called again it has written intents after these outcomes, and maybe one in the place of that which was confirmed.
  const isRepeated = intents.some(({ row }) => rows.get(row)?.token === call);
  const last = number(meta?.last) ?? 0;
  const isKept = confirmed === undefined || kept?.token === confirmed.call;
  const isLost = isOurs && !isRepeated && (!isKept || hasForgotten(last, given.highestSeen, given.since));
  const lost = { kind: 'lost', run: run.run } as const;
  if (isLost && intents.length > 0) return lost;
  const takenFrom = isOurs ? undefined : presence.id;
  const moves = isRepeated ? [] : yield* settling(at, run, outcomes, answers.slice(2 * pieces), takenFrom);
  const grants = yield* granting(presence, at, run, given, { rows, leases: answers.slice(pieces, 2 * pieces).flat() });
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
  return isLost ? lost : { kind: 'written', run: run.run, grants, last: last + at.drawn };
}

const selectRun = 'SELECT id, run, service, undoes, holder FROM petstock.runs WHERE token = ?';

function runIn({ id, run, service, undoes }: Row): RunInTables {
  return { id: number(id) ?? 0, run: String(run), service: number(service) ?? 0, undoes: text(undoes) };
}

function writeGranted(
  at: Moment,
  holder: string,
  { id, service, run: owner }: RunInTables,
  { place, call }: Writing,
  granted: readonly Intent[],
  rows: ReadonlyMap<number, Row>,
): void {
  if (granted.length === 0) return;
  const { now, wall, boot } = at;
  const numbers = drawForRows(at, granted);
  const leases = granted.map(({ petId, expires }) => {
    return { petId, service, owner, run: owner, holder, boot, expires, lasts: expires - now };
  });
  at.writes.push(...takingLeases(leases));
  for (const { row, rebased } of granted) {
    const { before, after } = rows.get(row) ?? {};
    if (rebased === undefined || (rebased.before === number(before) && rebased.after === number(after))) continue;
    const sql = 'UPDATE petstock.rows SET before = ?, after = ? WHERE run = ? AND row = ?';
    at.writes.push(statement(sql, rebased.before, rebased.after, id, row));
  }
  for (const ends of new Set(granted.map(({ expires }) => expires))) {
    const values = [Math.round(wall), boot, ends, ends - now, call, numbers, numbers, id];
    at.writes.push(...among(writeIntent, values, rowNumbers(granted.filter(({ expires }) => expires === ends))));
  }
  // The lease is the run's now, and the place needs no line any more.
  if (place !== undefined) at.writes.push(statement('DELETE FROM petstock.line WHERE place = ?', place));
}

const writeIntent = `UPDATE petstock.rows SET result = 'unknown', quantity = NULL, error = NULL, at = ?, boot = ?, expires = ?, lasts = ?, token = ?,
  sequence = ${numberOfRow}, touched = ${numberOfRow} WHERE run = ? AND row IN `;

/** Whether each row may be sent. @param found the rows of the run, by their numbers, and the leases of their pets */
function* granting(
  presence: Presence,
  at: Moment,
  run: RunInTables,
  { intents, since, place, call }: Writing,
  found: { readonly rows: ReadonlyMap<number, Row>; readonly leases: readonly Row[] },
): Work<Grant[]> {
  const living = yield* presence.aliveAmong(at, found.leases);
  const leases = yield* leasesIn(at, found.leases, living);
  const owners = place === undefined ? [run.run] : [run.run, place];
  const contested = intents.filter(({ row }) => Number(found.rows.get(row)?.is_contested) === 1);
  const isAlone = since === undefined || contested.length === 0;
  const writers = isAlone ? undefined : yield* writersOf(at, run, contested, since);
  return intents.map((intent): Grant => {
    if (found.rows.get(intent.row)?.token === call) return { kind: 'granted' };
    const busy = busyWith(leases.get(String(intent.petId)), owners, presence.id, at.now);
    if (busy !== undefined) return { kind: 'busy', ...busy };
    const writer = writers?.get(intent);
    return writer === undefined ? { kind: 'granted' } : { kind: 'overtaken', ...writer };
  });
}

const selectWriter = `SELECT runs.run, runs.command, rows.result, rows.touched, rows.boot, rows.expires, rows.lasts
  FROM petstock.rows JOIN petstock.runs ON runs.id = rows.run WHERE rows.pet_id = ? AND rows.service = ? AND rows.run <> ?`;
const selectLater = `${selectWriter} AND rows.touched > ? AND rows.result IN (${possibleResults}) ORDER BY rows.touched DESC LIMIT 1`;
const selectUnknown = `${selectWriter} AND rows.result = 'unknown'`;
const selectPruned = 'SELECT sequence FROM petstock.pruned WHERE pet_id = ? AND service = ?';

/** Returns the runs that have written pets since the mark, or may have, by the intents that they have overtaken. */
function* writersOf(at: Moment, { id, service }: RunInTables, intents: readonly Intent[], since: Mark) {
  const answers: Answers = yield intents.flatMap(({ petId }) => [
    statement(selectLater, petId, service, id, since.sequence),
    statement(selectUnknown, petId, service, id),
    statement(selectPruned, petId, service),
  ]);
  const endOf = yield* endsOf(at, answers.flat());
  return new Map(
    intents.map((intent, index) => {
      const [later = [], unknown = [], [pruned] = []] = answers.slice(index * 3, index * 3 + 3);
      const writers = [...later, ...unknown].map(
        (row): Writer => ({
          ...{ run: name(row.run), command: name(row.command), result: String(row.result) as RecordedResult },
          ...{ touched: number(row.touched) ?? 0, arrives: endOf(row) },
        }),
      );
      return [intent, overtakenBy(writers, number(pruned?.sequence), since)];
    }),
  );
}
