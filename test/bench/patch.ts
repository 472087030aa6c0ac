import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { loadEngine } from '../../src/state/sqlite/engine.ts';
import { openWorkshop, type Workshop } from './support/builds.ts';
import { start, temporaryFolder } from './support/children.ts';
import type { Sample } from './support/measure.ts';
import {
  atMost,
  faultsOf,
  goalOf,
  judged,
  megabytes,
  type Options,
  type Report,
  resultTable,
} from './support/report.ts';
import { type Contestant, type Results, runRounds } from './support/rounds.ts';
import { type Served, serve, settingsFor } from './support/served.ts';

const names = {
  curl: 'curl -Z, 8 at a time',
  ours: 'petstock inventory apply',
  undo: 'petstock undo',
  resume: 'petstock inventory apply --resume, a hundredth written',
  pool: 'undici Pool, 8 connections',
} as const;
const seconds = 120;

/**
 * Changes of all pets through `inventory apply` with the history written, through `undo` and by `--resume`, beside curl and undici,
 * against the embedded service with its limits out of the way: 10,000 and 100,000, or so many (`--pets`); `--quick` does 10,000.
 */
export async function run({ isQuick, rounds = isQuick ? 3 : 5, pets }: Options): Promise<Report> {
  const workshop = await openWorkshop();
  const sizes = pets === undefined ? (isQuick ? [10_000] : [10_000, 100_000]) : [pets];
  const found = new Map<number, Results>();
  for (const changes of sizes) {
    const served = await serve({ program: workshop.program, pets: changes });
    const petIds = [...(await served.stock()).keys()];
    // A round of 100,000 takes as long as ten of the others.
    const contestants = contestantsOf({ ...workshop, served, petIds });
    found.set(changes, await runRounds(contestants, changes > 10_000 ? Math.ceil(rounds / 3) : rounds));
    await served.stop();
  }
  const tables = Array.from(found, ([changes, results]) => resultTable(`${changes} changes`, results, [names.curl]));
  return { text: tables.join('\n'), goals: goalsOf(found.get(10_000), found.get(100_000)) };
}

interface Scene extends Workshop {
  readonly served: Served;
  readonly petIds: readonly string[];
}

/** In the order of the table. */
function contestantsOf(scene: Scene): readonly Contestant[] {
  const { url, key } = scene.served;
  const peer = (name: string, argvOf: (changes: Changes) => readonly string[]) =>
    writing(scene, name, (changes) =>
      scene.measure({ argv: argvOf(changes), env: { URL: url, KEY: key } }, { stdout: '/dev/null', seconds }),
    );
  const pool = fileURLToPath(new URL('patch/pool.js', import.meta.url));
  return [
    peer(names.curl, ({ config }) => ['curl', '-sS', '-Z', '--parallel-max', '8', '-K', config]),
    writing(scene, names.ours, async ({ csv }) => (await apply(scene, csv)).sample),
    peer(names.pool, ({ csv }) => [process.execPath, pool, csv, '8']),
    undo(scene),
    writing(scene, names.resume, ({ csv }) => resume(scene, csv)),
  ];
}

let runs = 0;

/** Other quantities in each run, of whomever: if they were the same, nothing would have to be written. */
function writing(scene: Scene, name: string, write: (changes: Changes) => Promise<Sample>): Contestant {
  return {
    name,
    async attempt() {
      runs += 1;
      const wanted = new Map(scene.petIds.map((petId, index) => [petId, 1000 * runs + (index % 1000)]));
      const sample = await write(writeChanges(scene, wanted));
      await requireStock(scene, wanted);
      return sample;
    },
  };
}

/** Of a run that is not measured. The stock is then what it was before. */
function undo(scene: Scene): Contestant {
  return {
    name: names.undo,
    async attempt() {
      const before = await scene.served.stock();
      const wanted = new Map([...before].map(([petId, quantity]) => [petId, quantity + 1]));
      const { env } = await apply(scene, writeChanges(scene, wanted).csv);
      const sample = await petstock(scene, env, 'undo', '--last');
      await requireStock(scene, before);
      return sample;
    },
  };
}

/** Of a run that was interrupted when a hundredth of it was written. */
async function resume(scene: Scene, csv: string): Promise<Sample> {
  const env = freshState(scene);
  const child = start(process.execPath, [scene.program, 'inventory', 'apply', csv, '--yes', '--quiet'], env);
  const ended = once(child, 'exit');
  for (const stream of [child.stdout, child.stderr]) stream.resume();
  const run = await untilApplied(env, scene.petIds.length / 100);
  child.kill('SIGINT');
  await ended;
  const sample = await petstock(scene, env, 'inventory', 'apply', '--resume', run);
  await requireApplied(scene, env);
  return sample;
}

async function apply(scene: Scene, csv: string) {
  const env = freshState(scene);
  const sample = await petstock(scene, env, 'inventory', 'apply', csv);
  await requireApplied(scene, env);
  return { sample, env };
}

type Env = ReturnType<typeof settingsFor>;
type Changes = ReturnType<typeof writeChanges>;

/** As a user runs it, with its history, its limits and its report: another folder for these each time. */
const freshState = ({ folder, served }: Scene): Env => settingsFor(served, temporaryFolder(folder));

const reportOf = ({ folder }: Scene) => join(folder, 'report.json');

function petstock(scene: Scene, env: Env, ...args: readonly string[]): Promise<Sample> {
  const argv = [process.execPath, scene.program, ...args, '--yes', '-o', 'json'];
  return scene.measure({ argv, env }, { stdout: reportOf(scene), seconds });
}

/** Writes the changes of one run: a CSV file, and the same for curl's `--config`. */
function writeChanges({ served, folder }: Scene, wanted: ReadonlyMap<string, number>) {
  const changes = { csv: join(folder, 'changes.csv'), config: join(folder, 'curl.config') };
  const rows = [...wanted].map(([petId, quantity]) => `${petId},${quantity}\n`);
  writeFileSync(changes.csv, `petId,quantity\n${rows.join('')}`);
  const requests = [...wanted].map(
    ([petId, quantity]) => `url = "${served.url}/inventory/${petId}"
request = "PATCH"
header = "Authorization: Bearer ${served.key}"
header = "Content-Type: application/json"
data = "{\\"quantity\\":${quantity}}"
output = "/dev/null"
fail
`,
  );
  writeFileSync(changes.config, requests.join('next\n'));
  return changes;
}

async function requireStock({ served }: Scene, wanted: ReadonlyMap<string, number>): Promise<void> {
  const stock = await served.stock();
  const wrong = [...wanted].filter(([petId, quantity]) => stock.get(petId) !== quantity).length;
  if (wrong > 0) throw new Error(`${wrong} quantities are wrong`);
}

/** Waits until the only run of a state has written so many rows. Returns its id. @throws Error after two minutes */
async function untilApplied(env: Env, rows: number): Promise<string> {
  for (const began = performance.now(); performance.now() - began < 120_000; await delay(5)) {
    const [run] = await query(env, 'SELECT run FROM runs WHERE applied >= ?', rows);
    if (run !== undefined) return String(run.run);
  }
  throw new Error('a run that was to be interrupted writes nothing');
}

/** @throws Error if a run of `inventory apply` does not report every change as applied, or its history has not all of them */
async function requireApplied(scene: Scene, env: Env): Promise<void> {
  const changes = scene.petIds.length;
  const { counts } = JSON.parse(readFileSync(reportOf(scene), 'utf8')) as { counts: Record<string, number> };
  if (counts.applied !== changes) throw new Error(`it reports ${JSON.stringify(counts)}`);
  const [found] = await query(env, "SELECT count(*) AS rows FROM rows WHERE result = 'applied'");
  if (found?.rows !== changes) throw new Error(`its history has ${found?.rows} rows that were applied`);
}

/** Returns no rows while the state has no tables. */
async function query(env: Env, sql: string, ...values: readonly number[]): Promise<Record<string, unknown>[]> {
  const { DatabaseSync } = await loadEngine();
  const file = join(env.PETSTOCK_STATE_DIR, 'state.db');
  if (!existsSync(file)) return [];
  const database = new DatabaseSync(file, { timeout: 5000 });
  try {
    const isMade = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'runs'").get() !== undefined;
    return isMade ? (database.prepare(sql).all(...values) as Record<string, unknown>[]) : [];
  } finally {
    database.close();
  }
}

function goalsOf(few: Results | undefined, many: Results | undefined): Report['goals'] {
  const ours = few?.get(names.ours);
  const of = (name: string, what: 'cpuMs' | 'peakMb') => many?.get(name)?.median(what) ?? Number.NaN;
  const micros = Math.round((of(names.ours, 'cpuMs') - of(names.pool, 'cpuMs')) / 100);
  const speed = goalOf(
    '10,000 PATCHes, no limit, through `inventory apply`',
    'at most 1.5 x `curl -Z` with the history written',
    [[atMost(ours?.ratioTo(few?.get(names.curl)) ?? Number.NaN, 1.5), '`curl -Z`'], ...faultsOf([ours])],
  );
  const size = goalOf(
    '`apply`, `undo`, `--resume` of 100,000',
    "at most 200 MB; 100 us a row of CPU beyond undici's own",
    [
      [megabytes(of(names.ours, 'peakMb'), 200), '`apply`'],
      [megabytes(of(names.undo, 'peakMb'), 200), '`undo`'],
      [megabytes(of(names.resume, 'peakMb'), 200), '`--resume`'],
      [judged(micros, `${micros} us`, micros <= 100), 'a row'],
      ...faultsOf([names.ours, names.undo, names.resume].map((name) => many?.get(name))),
    ],
  );
  return [...(few === undefined ? [] : [speed]), ...(many === undefined ? [] : [size])];
}
