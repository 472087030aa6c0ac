import { busyWith, hasForgotten, type Lease, overtakenBy, possibleWrites, type Writer } from './decide.ts';
import type { Grant, Intent, Outcome, RecordedResult } from './history.ts';
import type { Mark } from './pets.ts';
import type { Living, Presence } from './processes-present.ts';
import { type BegunRun, numbering, outcomeLoads, type Settled, settling } from './settle-rows.ts';
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
import { type Ends, endsOf, keptTime } from './times.ts';

export interface Intending {
  readonly run: BegunRun;
  readonly intents: readonly Intent[];
  /** The mark before the stock that the rows rely on; its time by the clock of the state. Undefined: they rely on none. */
  readonly since: Mark | undefined;
  /** The owner of the place by which a pet was entered. */
  readonly place: string | undefined;
  /** Outcomes that are written before. */
  readonly outcomes: readonly Outcome[];
  /** Names this call: one whose answer was lost is made again. */
  readonly token: string;
  /** The last intent that the state has confirmed to this process, and the token of its call. */
  readonly confirmed: { readonly row: number; readonly token: string } | undefined;
  /** The highest number that this process has seen. */
  readonly highestSeen: number;
}

/** `gone`: the state has no such run. `lost`: it lacks what it had confirmed. */
export type Intended =
  | { readonly kind: 'granted'; readonly grants: readonly Grant[]; readonly last: number }
  | { readonly kind: 'taken'; readonly by: string | undefined; readonly living: Living }
  | { readonly kind: 'gone' }
  | { readonly kind: 'lost' };

const possible = possibleWrites.map((result) => `'${result}'`).join();
const selectLeases =
  'SELECT CAST(pet_id AS TEXT) AS pet, owner, run, holder, boot, expires, lasts FROM petstock.leases WHERE service = ? AND pet_id IN ';
const ofPet = 'pet_id = own.pet_id AND service = own.service';
const isContested = `(CASE WHEN EXISTS (SELECT 1 FROM petstock.rows WHERE ${ofPet} AND touched > ? AND run <> own.run AND result IN (${possible}))
    OR EXISTS (SELECT 1 FROM petstock.rows WHERE ${ofPet} AND result = 'unknown' AND run <> own.run)
    OR EXISTS (SELECT 1 FROM petstock.pruned WHERE ${ofPet} AND sequence > ?) THEN 1 ELSE 0 END) AS is_contested`;
const fromOwn = 'FROM petstock.rows AS own WHERE own.run = ? AND own.row IN ';
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

/** Takes the leases of rows and writes their intents, of those that are granted. */
export function* intending(presence: Presence, at: Moment, given: Intending): Work<Intended> {
  const { run, intents, since, outcomes, confirmed, token } = given;
  const outcomesAsked = outcomeLoads(run, outcomes);
  const pieces = piecesOf(intents);
  const [head, [meta] = [], [kept] = [], ...answers] = yield [
    statement('SELECT holder FROM petstock.runs WHERE id = ?', run.id),
    statement('SELECT last FROM petstock.sequence'),
    statement('SELECT token FROM petstock.rows WHERE run = ? AND row = ?', run.id, confirmed?.row ?? 0),
    ...outcomesAsked,
    ...pieces.map((piece) => {
      const rows = piece.map(({ row }) => row);
      if (since === undefined) return statement(lookPlain + listOf(rows), run.id, ...rows);
      return statement(lookRelying + listOf(rows), since.sequence, since.sequence, run.id, ...rows);
    }),
    ...pieces.map((piece) => statement(selectLeases + listOf(piece), run.service, ...piece.map(({ petId }) => petId))),
  ];
  if (head?.[0] === undefined) return { kind: 'gone' };
  const holder = text(head[0].holder);
  if (holder !== presence.id) {
    const living = yield* presence.aliveAmong(at, holder === undefined ? [] : [holder]);
    return { kind: 'taken', by: holder, living };
  }
  const loaded = answers.splice(0, outcomesAsked.length);
  const rows = new Map(answers.splice(0, pieces.length).flatMap((found) => found.map((row) => [Number(row.row), row])));
  const leases = new Map(answers.flat().map((lease) => [String(lease.pet), lease]));
  const looks = intents.map((intent): Look => {
    return { intent, row: rows.get(intent.row), lease: leases.get(String(intent.petId)) };
  });
  // Called again it has written intents after these outcomes, and maybe one in the place of that which was confirmed.
  const isRepeated = looks.some(({ row }) => text(row?.token) === token);
  const last = number(meta?.last) ?? 0;
  const isKept = confirmed === undefined || text(kept?.token) === confirmed.token;
  if (!isRepeated && (!isKept || hasForgotten(last, given.highestSeen, since))) return { kind: 'lost' };
  const settled = yield* settling(at, run, { outcomes: isRepeated ? [] : outcomes, loaded, takenFrom: undefined });
  const grants = yield* granting(presence, at, given, looks);
  const granted = looks.filter(({ row }, index) => grants[index]?.kind === 'granted' && text(row?.token) !== token);
  writeGranted(at, presence.id, given, granted, settled);
  const numbers = drawnBy(at.writes);
  if (numbers > 0) at.writes.push(settled.counts.update(run.id));
  return { kind: 'granted', grants, last: last + numbers };
}

/** Writes the rows that are granted, and counts them. */
function writeGranted(
  at: Moment,
  holder: string,
  { run, place, token }: Intending,
  granted: readonly Look[],
  { results, counts }: Settled,
): void {
  if (granted.length === 0) return;
  const { id, service, run: owner } = run;
  for (const { intent, row } of granted) {
    const known = results.get(intent.row) ?? (text(row?.result) as RecordedResult | undefined);
    if (known !== undefined) counts.move(known, 'unknown');
  }
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
  { run, since, place, token }: Intending,
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
      `SELECT ${writerColumns} ${fromRows} AND rows.touched > ? AND rows.result IN (${possible}) ORDER BY rows.touched DESC LIMIT 1`,
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
