import { busyWith, hasForgotten, type Lease, type Mark, overtakenBy, type Writer } from './decide.ts';
import type { Grant, Intent, Outcome, RecordedResult } from './history.ts';
import type { Living, Presence } from './processes-present.ts';
import { type BegunRun, CountChanges, numbering, outcomeLoads, runByToken, settling } from './settle-rows.ts';
import {
  type Answers,
  drawnBy,
  listOf,
  type Moment,
  type Numbered,
  name,
  number,
  piecesOf,
  type Row,
  type Statement,
  statement,
  text,
  type Work,
} from './store.ts';
import { possibleResults } from './tables.ts';
import { type Ends, endsOf, keptTime } from './times.ts';

/** One call of the log of a run: outcomes are settled, then rows may leave. */
export interface Writing {
  readonly outcomes: readonly Outcome[];
  readonly intents: readonly Intent[];
  /** The mark before the stock that the rows rely on; its time by the clock of the state. Undefined: they rely on none. */
  readonly since: Mark | undefined;
  /** The owner of the place by which a pet was entered. */
  readonly place: string | undefined;
  /** Names this call: one whose answer was lost is made again. */
  readonly token: string;
  /** The last intent that the state has confirmed to this process, and the token of its call. */
  readonly confirmed: { readonly row: number; readonly token: string } | undefined;
  /** The highest number that this process has seen. */
  readonly highestSeen: number;
}

/**
 * - `taken`: another process has the run now, so nothing may be sent
 * - `gone`: the state has no such run
 * - `lost`: it lacks what it had confirmed
 */
export type Written =
  | { readonly kind: 'written'; readonly grants: readonly Grant[]; readonly last: number }
  | { readonly kind: 'taken'; readonly by: string | undefined; readonly living: Living }
  | { readonly kind: 'gone' }
  | { readonly kind: 'lost' };

const selectLeases =
  'SELECT CAST(pet_id AS TEXT) AS pet, owner, run, holder, boot, expires, lasts FROM petstock.leases WHERE service = (SELECT id FROM petstock.services WHERE name = ?) AND pet_id IN ';
const ofPet = 'pet_id = own.pet_id AND service = own.service';
const isContested = `(CASE WHEN EXISTS (SELECT 1 FROM petstock.rows WHERE ${ofPet} AND touched > ? AND run <> own.run AND result IN (${possibleResults}))
    OR EXISTS (SELECT 1 FROM petstock.rows WHERE ${ofPet} AND result = 'unknown' AND run <> own.run)
    OR EXISTS (SELECT 1 FROM petstock.pruned WHERE ${ofPet} AND sequence > ?) THEN 1 ELSE 0 END) AS is_contested`;
const fromOwn = `FROM petstock.rows AS own WHERE own.run = ${runByToken} AND own.row IN `;
/** A look at rows and their pets, by their keys alone. Of most there is nothing else to know. */
const ownColumns = 'own.row, own.result, own.token, own.before, own.after';
const lookPlain = `SELECT ${ownColumns}, 0 AS is_contested ${fromOwn}`;
const lookRelying = `SELECT ${ownColumns}, ${isContested} ${fromOwn}`;

/** A row that is to be sent, and what is known of it and of its pet. */
interface Look {
  readonly intent: Intent;
  readonly row: Row | undefined;
  readonly lease: Row | undefined;
}

/** Returns what `writing` has to know. The run need not have its number yet. */
export function writingLoads(
  run: Pick<BegunRun, 'token' | 'serviceName'>,
  { outcomes, intents, since, confirmed }: Writing,
): Statement[] {
  const pieces = piecesOf(intents);
  return [
    statement('SELECT holder FROM petstock.runs WHERE token = ?', run.token),
    statement('SELECT last FROM petstock.sequence'),
    statement(`SELECT token FROM petstock.rows WHERE run = ${runByToken} AND row = ?`, run.token, confirmed?.row ?? 0),
    ...pieces.map((piece) => {
      const rows = piece.map(({ row }) => row);
      if (since === undefined) return statement(lookPlain + listOf(rows), run.token, ...rows);
      return statement(lookRelying + listOf(rows), since.sequence, since.sequence, run.token, ...rows);
    }),
    ...pieces.map((piece) =>
      statement(selectLeases + listOf(piece), run.serviceName, ...piece.map(({ petId }) => petId)),
    ),
    ...outcomeLoads(run, outcomes),
  ];
}

/** Settles outcomes, takes the leases of rows, and writes the intents of those that are granted. @param loaded answers of `writingLoads` */
export function* writing(
  presence: Presence,
  at: Moment,
  run: BegunRun,
  given: Writing,
  loaded: Answers,
): Work<Written> {
  const [head, [meta] = [], [kept] = [], ...answers] = loaded;
  const { intents, outcomes, confirmed, token } = given;
  if (head?.[0] === undefined) return { kind: 'gone' };
  const holder = text(head[0].holder);
  const isOurs = holder === presence.id;
  if (!isOurs && intents.length > 0) {
    const living = yield* presence.aliveAmong(at, holder === undefined ? [] : [holder]);
    return { kind: 'taken', by: holder, living };
  }
  const pieces = piecesOf(intents).length;
  const rows = new Map(answers.slice(0, pieces).flatMap((found) => found.map((row) => [Number(row.row), row])));
  const leases = new Map(
    answers.slice(pieces, 2 * pieces).flatMap((found) => found.map((row) => [String(row.pet), row])),
  );
  const looks = intents.map((intent): Look => {
    return { intent, row: rows.get(intent.row), lease: leases.get(String(intent.petId)) };
  });
  // Called again it has written intents after these outcomes, and maybe one in the place of that which was confirmed.
  const isRepeated = looks.some(({ row }) => text(row?.token) === token);
  const last = number(meta?.last) ?? 0;
  const isKept = confirmed === undefined || text(kept?.token) === confirmed.token;
  const isLost = isOurs && !isRepeated && (!isKept || hasForgotten(last, given.highestSeen, given.since));
  if (isLost && intents.length > 0) return { kind: 'lost' };
  const counts = new CountChanges();
  const facts = {
    outcomes: isRepeated ? [] : outcomes,
    loaded: answers.slice(2 * pieces),
    takenFrom: isOurs ? undefined : presence.id,
  };
  const results = yield* settling(at, run, facts, counts);
  const grants = yield* granting(presence, at, run, given, looks);
  const granted = looks.filter(({ row }, index) => grants[index]?.kind === 'granted' && text(row?.token) !== token);
  writeGranted(at, presence.id, run, given, granted);
  for (const { intent, row } of granted) {
    const known = results.get(intent.row) ?? (text(row?.result) as RecordedResult | undefined);
    if (known !== undefined) counts.move(known, 'unknown');
  }
  const numbers = drawnBy(at.writes);
  if (numbers > 0) at.writes.push(counts.update(run.id));
  return isLost ? { kind: 'lost' } : { kind: 'written', grants, last: last + numbers };
}

function writeGranted(
  at: Moment,
  holder: string,
  { id, service, run: owner }: BegunRun,
  { place, token }: Writing,
  granted: readonly Look[],
): void {
  if (granted.length === 0) return;
  const leases = granted.map(({ intent: { petId, expires } }) => {
    return { petId, service, owner, run: owner, holder, boot: at.boot, expires, lasts: expires - at.now };
  });
  const rebased = granted.flatMap(({ intent, row }) => {
    const { rebased: sum } = intent;
    if (sum === undefined || (sum.before === number(row?.before) && sum.after === number(row?.after))) return [];
    return [statement(writeSum, sum.before, sum.after, id, intent.row)];
  });
  const intents = granted.map(({ intent }) => intent);
  at.writes.push(...takingLeases(leases), ...rebased, ...intentWrites(at, id, token, intents));
  // The lease is the run's now, and the place needs no line any more.
  if (place !== undefined) at.writes.push(statement('DELETE FROM petstock.line WHERE place = ?', place));
}

const writeSum = 'UPDATE petstock.rows SET before = ?, after = ? WHERE run = ? AND row = ?';

function intentWrites({ now, wall, boot }: Moment, run: number, token: string, intents: readonly Intent[]): Numbered[] {
  const ends = new Set(intents.map(({ expires }) => expires));
  return [...ends].flatMap((expires) =>
    numbering(
      intents.flatMap((intent) => (intent.expires === expires ? [intent.row] : [])),
      (rows, { sql, value }) =>
        statement(
          `UPDATE petstock.rows SET result = 'unknown', quantity = NULL, error = NULL, at = ?, boot = ?, expires = ?, lasts = ?, token = ?,
             sequence = ${sql}, touched = ${sql} WHERE run = ? AND row IN ${listOf(rows)}`,
          ...[Math.round(wall), boot, expires, expires - now, token, value, value, run, ...rows],
        ),
    ),
  );
}

/** Whether each row may be sent. */
function* granting(
  presence: Presence,
  at: Moment,
  run: BegunRun,
  { since, place, token }: Writing,
  looks: readonly Look[],
): Work<Grant[]> {
  const leases = looks.map(({ lease }) => lease).filter((lease) => lease !== undefined);
  const owners = place === undefined ? [run.run] : [run.run, place];
  const living = yield* presence.aliveAmong(
    at,
    leases.flatMap(({ holder }) => text(holder) ?? []),
  );
  const ends = yield* endsOf(at, leases.map(keptTime));
  const contested = looks.flatMap(({ intent, row }) => (Number(row?.is_contested ?? 0) === 1 ? [intent] : []));
  const found = since === undefined ? undefined : yield* writersOf(at, run, contested, since);
  return looks.map(({ intent, row, lease }): Grant => {
    if (text(row?.token) === token) return { kind: 'granted' };
    const busy = busyWith(leaseIn(lease, living, ends), owners, presence.id, at.now);
    if (busy !== undefined) return { kind: 'busy', ...busy };
    const writer = since && overtakenBy(found?.writers.get(intent) ?? [], found?.pruned.get(intent), since);
    return writer === undefined ? { kind: 'granted' } : { kind: 'overtaken', ...writer };
  });
}

/** @param row the columns of a lease; undefined if nobody has it */
export function leaseIn(row: Row | undefined, living: Pick<Living, 'has'>, ends: Ends): Lease | undefined {
  if (row === undefined) return undefined;
  const [run, holder] = [text(row.run), text(row.holder)];
  const isHeld = holder !== undefined && living.has(holder);
  return { owner: String(row.owner), run, holder, isHeld, arrives: ends.of(keptTime(row)) };
}

const writerColumns = 'runs.run, runs.command, rows.result, rows.touched, rows.boot, rows.expires, rows.lasts';
const fromRows =
  'FROM petstock.rows JOIN petstock.runs ON runs.id = rows.run WHERE rows.pet_id = ? AND rows.service = ? AND rows.run <> ?';

/** Other runs that have written pets since the mark, or may have. */
function* writersOf(at: Moment, { id, service }: BegunRun, intents: readonly Intent[], since: Mark) {
  const [writers, pruned] = [new Map<Intent, Writer[]>(), new Map<Intent, number | undefined>()];
  if (intents.length === 0) return { writers, pruned };
  const answers: Answers = yield intents.flatMap(({ petId }) => [
    statement(
      `SELECT ${writerColumns} ${fromRows} AND rows.touched > ? AND rows.result IN (${possibleResults}) ORDER BY rows.touched DESC LIMIT 1`,
      ...[petId, service, id, since.sequence],
    ),
    statement(`SELECT ${writerColumns} ${fromRows} AND rows.result = 'unknown'`, petId, service, id),
    statement('SELECT sequence FROM petstock.pruned WHERE pet_id = ? AND service = ?', petId, service),
  ]);
  const ends = yield* endsOf(at, answers.flat().map(keptTime));
  for (const [index, intent] of intents.entries()) {
    const [later = [], unknown = [], [last] = []] = answers.slice(index * 3);
    pruned.set(intent, number(last?.sequence));
    writers.set(
      intent,
      [...later, ...unknown].map((row) => ({
        run: name(row.run),
        command: name(row.command),
        result: String(row.result) as RecordedResult,
        touched: number(row.touched) ?? 0,
        arrives: ends.of(keptTime(row)),
      })),
    );
  }
  return { writers, pruned };
}

export interface TakenLease {
  readonly petId: bigint;
  readonly service: number;
  readonly owner: string;
  readonly run: string | null;
  readonly holder: string;
  readonly boot: string | null;
  readonly expires: number | null;
  readonly lasts: number | null;
}

/** The leases of pets, even from another process. */
export function takingLeases(leases: readonly TakenLease[]): Statement[] {
  const byPet = new Map(leases.map((lease) => [lease.petId, lease]));
  return piecesOf([...byPet.values()]).map((piece) => {
    const values = piece.map(({ petId, service, owner, run, holder, boot, expires, lasts }) => {
      return [petId, service, owner, run, holder, boot, expires, lasts];
    });
    return statement(
      `INSERT INTO petstock.leases (pet_id, service, owner, run, holder, boot, expires, lasts) VALUES ${values.map(listOf).join()}
       ON CONFLICT (pet_id, service) DO UPDATE SET owner = excluded.owner, run = excluded.run, holder = excluded.holder, boot = excluded.boot,
         expires = excluded.expires, lasts = excluded.lasts`,
      ...values.flat(),
    );
  });
}
