import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openWorkshop, type Workshop } from './support/builds.ts';
import { start, temporaryFolder } from './support/children.ts';
import type { Sample } from './support/measure.ts';
import type { Options, Report } from './support/report.ts';
import { atMost, faultsOf, goalOf, judged, megabytes, resultTable } from './support/report.ts';
import { type Contestant, Results, runRounds } from './support/rounds.ts';
import { type Served, serve, settingsFor } from './support/served.ts';
import { openBenchState } from './support/state.ts';

const names = {
  curl: 'curl -Z, 8 at a time',
  ours: 'petstock inventory apply',
  undo: 'petstock undo',
  resume: 'petstock inventory apply --resume, a hundredth written',
  pool: 'undici Pool, 8 connections',
} as const;

/**
 * Measures changes of all pets through `inventory apply` with the history written, through `undo`, and through
 * `--resume`, beside curl and undici. The sandbox has limits that are never reached. It has 10,000 pets, then
 * 100,000, or as many as `--pets` says; `--quick` does only 10,000.
 */
export async function run({ isQuick, rounds = isQuick ? 3 : 5, pets }: Options): Promise<Report> {
  const workshop = await openWorkshop();
  const sizes = pets === undefined ? (isQuick ? [10_000] : [10_000, 100_000]) : [pets];
  const found = new Map<number, Results>();
  for (const changes of sizes) {
    const served = await serve({ program: workshop.program, pets: changes });
    const petIds = [...(await served.stock()).keys()];
    // A round of 100,000 takes as long as ten of 10,000.
    const contestants = contestantsOf({ ...workshop, served, petIds });
    found.set(changes, await runRounds(contestants, changes > 10_000 ? Math.ceil(rounds / 3) : rounds));
    await served.stop();
  }
  const tables = Array.from(found, ([changes, results]) => resultTable(`${changes} changes`, results, [names.curl]));
  return { text: tables.join('\n'), goals: goalsOf(found.get(10_000), found.get(100_000)) };
}

type Scene = Workshop & { readonly served: Served; readonly petIds: readonly string[] };

let runs = 0;

/** Returns the contestants in the order of the table. */
function contestantsOf({ measure, program, folder, served, petIds }: Scene): readonly Contestant[] {
  const { url, key } = served;
  const [csv, config] = [join(folder, 'changes.csv'), join(folder, 'curl.config')] as const;
  const report = join(folder, 'report.json');
  /** Returns the environment of a user who has not run the program yet, with new folders each time. */
  const freshState = () => settingsFor(served, temporaryFolder(folder));
  /**
   * Runs the program, and checks its report and its history.
   * @throws Error if a change was not applied
   */
  const petstock = async (env: Env, ...args: readonly string[]): Promise<Sample> => {
    const argv = [process.execPath, program, ...args, '--yes', '-o', 'json'];
    const sample = await measure({ argv, env }, report);
    await requireApplied(env, report, petIds.length);
    return sample;
  };
  /** Writes the changes of one run as a CSV file, and as a configuration file for curl. */
  const writeChanges = (wanted: ReadonlyMap<string, number>) => {
    const rows = [...wanted].map(([petId, quantity]) => `${petId},${quantity}\n`);
    writeFileSync(csv, `petId,quantity\n${rows.join('')}`);
    const requests = [...wanted].map(
      ([petId, quantity]) => `url = "${url}/inventory/${petId}"
request = "PATCH"
header = "Authorization: Bearer ${key}"
header = "Content-Type: application/json"
data = "{\\"quantity\\":${quantity}}"
output = "/dev/null"
fail
`,
    );
    writeFileSync(config, requests.join('next\n'));
  };
  /**
   * Returns a contestant that gets other quantities in each run, since changes to the same quantities would not be
   * written.
   */
  const writing = (name: string, write: () => Promise<Sample>): Contestant => ({
    name,
    async attempt() {
      runs += 1;
      const wanted = new Map(petIds.map((petId, index) => [petId, 1000 * runs + (index % 1000)]));
      writeChanges(wanted);
      const sample = await write();
      await requireStock(served, wanted);
      return sample;
    },
  });
  const peer = (name: string, ...argv: readonly string[]) =>
    writing(name, () => measure({ argv, env: { URL: url, KEY: key } }));
  const pool = fileURLToPath(new URL('patch/pool.js', import.meta.url));
  return [
    peer(names.curl, 'curl', '-sS', '-Z', '--parallel-max', '8', '-K', config),
    writing(names.ours, () => petstock(freshState(), 'inventory', 'apply', csv)),
    peer(names.pool, process.execPath, pool, csv, '8'),
    {
      // Undoes a run that is not measured, so that the stock is the same as before.
      name: names.undo,
      async attempt() {
        const before = await served.stock();
        writeChanges(new Map([...before].map(([petId, quantity]) => [petId, quantity + 1])));
        const env = freshState();
        await petstock(env, 'inventory', 'apply', csv);
        const sample = await petstock(env, 'undo', '--last');
        await requireStock(served, before);
        return sample;
      },
    },
    // Resumes a run that was interrupted when a hundredth of it had been written.
    writing(names.resume, async () => {
      const env = freshState();
      const child = start(process.execPath, [program, 'inventory', 'apply', csv, '--yes', '--quiet'], env);
      const ended = once(child, 'exit');
      for (const stream of [child.stdout, child.stderr]) stream.resume();
      const run = await untilApplied(env, petIds.length / 100);
      child.kill('SIGINT');
      await ended;
      return petstock(env, 'inventory', 'apply', '--resume', run);
    }),
  ];
}

type Env = ReturnType<typeof settingsFor>;

async function requireStock(served: Served, wanted: ReadonlyMap<string, number>): Promise<void> {
  const stock = await served.stock();
  const wrong = [...wanted].filter(([petId, quantity]) => stock.get(petId) !== quantity).length;
  if (wrong > 0) throw new Error(`${wrong} quantities are wrong`);
}

/**
 * Waits until the only run of a state has written this many rows. Returns its id.
 * @throws Error after two minutes
 */
async function untilApplied(env: Env, rows: number): Promise<string> {
  const state = await openBenchState(env.PETSTOCK_STATE_DIR);
  try {
    for (const began = performance.now(); performance.now() - began < 120_000; await delay(5))
      for await (const { run, counts } of state.history.runs()) if (counts.applied >= rows) return run;
  } finally {
    await state.close();
  }
  throw new Error('a run that was to be interrupted writes nothing');
}

/**
 * Checks by its report and by its history that a run has applied every change.
 * @throws Error otherwise
 */
async function requireApplied(env: Env, report: string, changes: number): Promise<void> {
  const { counts, run } = JSON.parse(readFileSync(report, 'utf8'));
  if (counts.applied !== changes) throw new Error(`it reports ${JSON.stringify(counts)}`);
  const state = await openBenchState(env.PETSTOCK_STATE_DIR);
  let applied = 0;
  for await (const _ of state.history.rows(run, ['applied'])) applied += 1;
  await state.close();
  if (applied !== changes) throw new Error(`its history has ${applied} rows that were applied`);
}

function goalsOf(few = new Results(), many = new Results()): Report['goals'] {
  const cpu = (name: string) => many.median(name, 'cpuMs');
  const micros = Math.round((cpu(names.ours) - cpu(names.pool)) / 100);
  const memory = (name: string, command: string) => megabytes(many.median(name, 'peakMb'), 200, command);
  const speed = goalOf('`apply` of 10,000, no limit', 'at most 1.5 x `curl -Z`', [
    atMost(few.ratio(names.ours, names.curl), 1.5, '`curl -Z`'),
    ...faultsOf(few, [names.ours]),
  ]);
  const size = goalOf(
    '`apply`, `undo`, `--resume` of 100,000',
    "at most 200 MB; 100 us a row of CPU beyond undici's own",
    [
      memory(names.ours, '`apply`'),
      memory(names.undo, '`undo`'),
      memory(names.resume, '`--resume`'),
      judged(micros, `${micros} us a row`, micros <= 100),
      ...faultsOf(many, [names.ours, names.undo, names.resume]),
    ],
  );
  return [...(few.size === 0 ? [] : [speed]), ...(many.size === 0 ? [] : [size])];
}
