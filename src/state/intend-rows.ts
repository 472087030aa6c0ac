import { busyWith, hasForgotten, type Lease, overtakenBy, possibleWrites, type Writer } from './decide.ts';
import type { Grant, Intent, Outcome, RecordedResult } from './history.ts';
import type { Mark } from './pets.ts';
import type { Living, StoredPresence } from './processes-present.ts';
import { type BegunRun, type Numbered, outcomeLoads, type Settled, settling, withNumbers } from './settle-rows.ts';
import {
  type Answers,
  drawnNumber,
  type Moment,
  number,
  type Row,
  type Statement,
  statement,
  text,
  type Work,
} from './store.ts';
import { endsOf, keptTime } from './times.ts';

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
const leaseColumns = 'lease.owner, lease.run AS lease_run, lease.holder, lease.boot, lease.expires, lease.lasts';
const ofPet = 'pet_id = own.pet_id AND service = own.service';
const isContested = `(CASE WHEN EXISTS (SELECT 1 FROM petstock.rows WHERE ${ofPet} AND touched > ? AND run <> own.run AND result IN (${possible}))
    OR EXISTS (SELECT 1 FROM petstock.rows WHERE ${ofPet} AND result = 'unknown' AND run <> own.run)
    OR EXISTS (SELECT 1 FROM petstock.pruned WHERE ${ofPet} AND sequence > ?) THEN 1 ELSE 0 END) AS is_contested`;
const fromOwn = `FROM petstock.rows AS own LEFT JOIN petstock.leases AS lease ON lease.pet_id = own.pet_id AND lease.service = own.service
   WHERE own.run = ? AND own.row = ?`;
/** A look at a row and its pet, by their keys alone. Of most there is nothing else to know. */
const lookPlain = `SELECT own.result, own.token, ${leaseColumns}, 0 AS is_contested ${fromOwn}`;
const lookRelying = `SELECT own.result, own.token, ${leaseColumns}, ${isContested} ${fromOwn}`;

/** Takes the leases of rows and writes their intents, of those that are granted. */
export function* intending(presence: StoredPresence, at: Moment, given: Intending): Work<Intended> {
  const { run, intents, since, outcomes, confirmed } = given;
  const [head, [meta] = [], [kept] = [], ...answers] = yield [
    statement('SELECT holder FROM petstock.runs WHERE id = ?', run.id),
    statement('SELECT last FROM petstock.sequence'),
    statement('SELECT token FROM petstock.rows WHERE run = ? AND row = ?', run.id, confirmed?.row ?? 0),
    ...outcomeLoads(run, outcomes),
    ...intents.map(({ row }) => {
      const key = [run.id, row] as const;
      return since === undefined
        ? statement(lookPlain, ...key)
        : statement(lookRelying, since.sequence, since.sequence, ...key);
    }),
  ];
  if (head?.[0] === undefined) return { result: { kind: 'gone' } };
  const holder = text(head[0].holder);
  if (holder !== presence.id) {
    const living = yield* presence.aliveAmong(at, holder === undefined ? [] : [holder]);
    return { result: { kind: 'taken', by: holder, living } };
  }
  const loaded = answers.slice(0, outcomes.length);
  const looks = answers.slice(outcomes.length).map(([look]) => look);
  // Called again it has written intents after these outcomes, and maybe one in the place of that which was confirmed.
  const isRepeated = looks.some((look) => text(look?.token) === given.token);
  const last = number(meta?.last) ?? 0;
  const isKept = confirmed === undefined || text(kept?.token) === confirmed.token;
  if (!isRepeated && (!isKept || hasForgotten(last, given.highestSeen, since))) return { result: { kind: 'lost' } };
  const settled = yield* settling(at, run, { outcomes: isRepeated ? [] : outcomes, loaded, isTakenOver: false });
  const { grants, writes: seen } = yield* granting(presence, at, given, looks);
  const writes = [...seen, ...settled.writes, ...grantedWrites(at, presence.id, given, { looks, grants, settled })];
  const numbered = withNumbers(writes);
  if (numbered.numbers > 0) numbered.writes.push(settled.counts.update(run.id));
  return { result: { kind: 'granted', grants, last: last + numbered.numbers }, ...numbered };
}

interface Granted {
  readonly looks: readonly (Row | undefined)[];
  readonly grants: readonly Grant[];
  readonly settled: Settled;
}

/** What is written of the rows that are granted, and counted. */
function grantedWrites(
  at: Moment,
  holder: string,
  given: Intending,
  { looks, grants, settled }: Granted,
): (Statement | Numbered)[] {
  const { run, intents, place, token } = given;
  const writes = intents.flatMap((intent, index): (Statement | Numbered)[] => {
    const look = looks[index];
    if (grants[index]?.kind !== 'granted' || text(look?.token) === token) return [];
    const known = settled.results.get(intent.row) ?? (text(look?.result) as RecordedResult | undefined);
    if (known !== undefined) settled.counts.move(known, 'unknown');
    return [leaseTaken(at, holder, run, intent), intentWrite(at, given, intent)];
  });
  // The lease is the run's now, and the place needs no line any more.
  if (place === undefined || writes.length === 0) return writes;
  return [...writes, statement('DELETE FROM petstock.line WHERE place = ?', place)];
}

/** Whether each row may be sent. */
function* granting(
  presence: StoredPresence,
  at: Moment,
  { run, intents, since, place, token }: Intending,
  looks: readonly (Row | undefined)[],
): Generator<readonly Statement[], { readonly grants: Grant[]; readonly writes: readonly Statement[] }, Answers> {
  const leased = looks.filter((look) => look?.owner !== undefined && look.owner !== null) as Row[];
  const owners = place === undefined ? [run.run] : [run.run, place];
  const living = yield* presence.aliveAmong(
    at,
    leased.flatMap(({ holder }) => text(holder) ?? []),
  );
  const ends = yield* endsOf(at, leased.map(keptTime));
  const contested = intents.filter((_intent, index) => Number(looks[index]?.is_contested ?? 0) === 1);
  const found = since === undefined ? undefined : yield* writersOf(at, run, contested, since);
  const grants = intents.map((intent, index): Grant => {
    const look = looks[index];
    if (text(look?.token) === token) return { kind: 'granted' };
    const busy = look && busyWith(leaseIn(look, living, ends.of(keptTime(look))), owners, presence.id, at.now);
    if (busy !== undefined) return { kind: 'busy', ...busy };
    const writer = since && overtakenBy(found?.writers.get(intent) ?? [], found?.pruned.get(intent), since);
    return writer === undefined ? { kind: 'granted' } : { kind: 'overtaken', ...writer };
  });
  return { grants, writes: [...living.writes, ...ends.writes, ...(found?.writes ?? [])] };
}

/** @param arrives when its request can't arrive any more. @returns undefined if nobody has the lease */
export function leaseIn(row: Row, living: Pick<Living, 'has'>, arrives: number | undefined): Lease | undefined {
  const [owner, holder] = [text(row.owner), text(row.holder)];
  if (owner === undefined) return undefined;
  return { owner, run: text(row.lease_run), holder, isHeld: holder !== undefined && living.has(holder), arrives };
}

const writerColumns = 'runs.run, runs.command, rows.result, rows.touched, rows.boot, rows.expires, rows.lasts';
const fromRows =
  'FROM petstock.rows JOIN petstock.runs ON runs.id = rows.run WHERE rows.pet_id = ? AND rows.service = ? AND rows.run <> ?';

/** Other runs that have written pets since the mark, or may have. */
function* writersOf(at: Moment, { id, service }: BegunRun, intents: readonly Intent[], since: Mark) {
  const [writers, pruned] = [new Map<Intent, Writer[]>(), new Map<Intent, number | undefined>()];
  if (intents.length === 0) return { writers, pruned, writes: [] };
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
        run: String(row.run),
        command: String(row.command),
        result: String(row.result) as RecordedResult,
        touched: number(row.touched) ?? 0,
        arrives: ends.of(keptTime(row)),
      })),
    );
  }
  return { writers, pruned, writes: ends.writes };
}

/** The lease of a pet for a run, even from another process. */
function leaseTaken(
  { now, boot }: Moment,
  holder: string,
  { run, service }: BegunRun,
  { petId, expires }: Intent,
): Statement {
  return takingLease({ petId, service, owner: run, run, holder, boot, expires, lasts: expires - now });
}

interface TakenLease {
  readonly petId: bigint;
  readonly service: number;
  readonly owner: string;
  readonly run: string | null;
  readonly holder: string;
  readonly boot: string | null;
  readonly expires: number | null;
  readonly lasts: number | null;
}

export function takingLease({ petId, service, owner, run, holder, boot, expires, lasts }: TakenLease): Statement {
  return statement(
    `INSERT INTO petstock.leases (pet_id, service, owner, run, holder, boot, expires, lasts) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (pet_id, service) DO UPDATE SET owner = excluded.owner, run = excluded.run, holder = excluded.holder, boot = excluded.boot,
       expires = excluded.expires, lasts = excluded.lasts`,
    ...[petId, service, owner, run, holder, boot, expires, lasts],
  );
}

const intended = `UPDATE petstock.rows SET result = 'unknown', quantity = NULL, error = NULL, at = ?, boot = ?, expires = ?, lasts = ?, token = ?,
  sequence = ${drawnNumber}, touched = ${drawnNumber}`;
const writeIntent = `${intended} WHERE run = ? AND row = ?`;
const writeRebased = `${intended}, before = ?, after = ? WHERE run = ? AND row = ?`;

function intentWrite(
  { now, wall, boot }: Moment,
  { run, token }: Intending,
  { row, expires, rebased }: Intent,
): Numbered {
  return {
    sql: rebased === undefined ? writeIntent : writeRebased,
    values: (left) => [
      ...[Math.round(wall), boot, expires, expires - now, token, left, left],
      ...(rebased === undefined ? [] : [rebased.before, rebased.after]),
      ...[run.id, row],
    ],
  };
}
