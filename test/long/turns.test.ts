import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { seeded } from '../rate-limit/seeded.ts';
import { type Patch, patchedProgram } from '../support/patched-program.ts';
import { runSql, temporaryDatabase } from '../support/postgres.ts';
import { type Served, serve, temporaryHome } from '../support/program.ts';
import { type Exchange, scriptedService } from '../support/scripted-service.ts';
import { slowNetwork } from '../support/slow-network.ts';

/** The number of rounds of each kind. `PETSTOCK_RUNS=100` runs a full test; `PETSTOCK_SEED` changes the rounds. */
const rounds = Number(process.env.PETSTOCK_RUNS ?? 4);
const seed = Number(process.env.PETSTOCK_SEED ?? 1);

vi.setConfig({ testTimeout: 120_000 * (rounds + 1) });

const faults = [
  'PATCH /inventory/*:p=0.08:commit-then-drop',
  'PATCH /inventory/*:p=0.06:reset',
  'PATCH /inventory/*:p=0.05:truncate',
  'PATCH /inventory/*:p=0.06:status=503',
  'GET /inventory:p=0.05:reset',
  'PATCH /inventory/*:delay=20-200',
];

interface Row {
  readonly petId: number;
  readonly result: string;
  readonly before: number | null;
  readonly after: number;
  readonly error: { readonly code: string } | null;
}

/** What happens to the processes of a round. */
interface Trial {
  /** Disturbs a process. */
  disturb?(child: ChildProcess, random: () => number): void;
  /** Whether the state is in PostgreSQL, where connections are terminated. */
  readonly isShared?: boolean;
  /** Whether the files of turns are removed again and again, so that several processes have the turn at a time. */
  readonly isSwept?: boolean;
}

/** Kills a process soon after it has begun to talk to the service, which it announces. */
const kill: Trial['disturb'] = (child, random) => {
  const [isKilled, ms] = [random() < 0.6, random() * 900];
  if (isKilled) child.stderr?.once('data', () => setTimeout(() => child.kill('SIGKILL'), ms));
};

/** Stops a process for a while. */
const stop: Trial['disturb'] = (child, random) => {
  if (random() > 0.5) return;
  const signal = random() < 0.5 ? 'SIGSTOP' : 'SIGTSTP';
  setTimeout(() => child.kill(signal), 300 + random() * 1200);
  setTimeout(() => child.kill('SIGCONT'), 3000 + random() * 2000);
};

const trials = {
  killed: { disturb: kill },
  stopped: { disturb: stop },
  'left alone': {},
  'without files of turns': { isSwept: true },
  'without connections': { disturb: kill, isShared: true },
} satisfies Readonly<Record<string, Trial>>;

/** Returns a function that starts commands at a service; all of them have one state. */
async function opened(program: string, { url, key }: Pick<Served, 'url' | 'key'>, isShared = false) {
  const home = temporaryHome();
  const database = isShared ? await temporaryDatabase() : undefined;
  const env = {
    ...{ PATH: process.env.PATH, HOME: home.folder, TMPDIR: home.folder },
    ...{ PETSTOCK_CONFIG_DIR: home.config, PETSTOCK_STATE_DIR: home.state, PETSTOCK_VERBOSE: 'true' },
    ...{ PETSTOCK_URL_STAGING: url, PETSTOCK_API_KEY_STAGING: key },
    ...(database !== undefined && { PETSTOCK_STATE_URL: database }),
  };
  const start = (...words: readonly string[]) => {
    const child = spawn(process.execPath, [program, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    child.stdout.on('data', (chunk) => (stdout += chunk));
    child.stderr.resume();
    return { child, ended: once(child, 'close').then(() => stdout) };
  };
  const run = (...words: readonly string[]) => start(...words).ended;
  const openRuns = async (): Promise<readonly { readonly run: string }[]> => {
    const runs = JSON.parse(await run('history', 'list', '--limit', '1000', '--json'));
    return runs.filter(({ state }: { readonly state: string }) => state !== 'done');
  };
  const resumeAll = async () => {
    for (let tries = 0; tries < 15; tries += 1) {
      const open = await openRuns();
      if (open.length === 0) return;
      for (const one of open) await run('inventory', 'apply', '--resume', one.run, '--yes', ...patience);
    }
  };
  const rows = async (): Promise<readonly Row[]> => {
    const lines = (await run('history', 'export', '-o', 'ndjson')).split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
  };
  if (database !== undefined) await run('state', 'init');
  return { home, database, start, run, openRuns, resumeAll, rows };
}

async function stockOf({ url, key }: Served): Promise<ReadonlyMap<number, number>> {
  const response = await fetch(`${url}/inventory`, { headers: { authorization: `Bearer ${key}` } });
  const items = (await response.json()) as { readonly petId: number; readonly quantity: number }[];
  return new Map(items.map(({ petId, quantity }) => [petId, quantity]));
}

const service = { pets: 12, ids: 'small', ban: false, limits: { minute: 1_000_000, day: 1_000_000_000 } } as const;
const patience = ['--timeout', '2', '--retries', '8'];

/**
 * Many processes add to the same pets. Then all open runs are resumed.
 * @returns what does not add up: pets whose stock is not what the history says
 */
async function round(program: string, random: () => number, trial: Trial): Promise<string[]> {
  const chosen = faults.filter((_fault, index) => index === 5 || random() < 0.4);
  const served = await serve(service);
  const fresh = await stockOf(served);
  const { key } = served;
  const url = await slowNetwork(served.url, 400, random);
  const { home, database, start, resumeAll, rows } = await opened(program, { url, key }, trial.isShared);
  served.setFaults(chosen);
  const pets = [1, 2, 3, 4].slice(0, 2 + Math.floor(random() * 3));
  const processes = Array.from({ length: 4 + Math.floor(random() * 3) }, (_, index) => {
    const pet = pets[Math.floor(random() * pets.length)] ?? 1;
    if (random() < 0.4) return start('inventory', 'adjust', `${pet}`, `${1 + Math.floor(random() * 9)}`, ...patience);
    const file = join(home.folder, `${index}.csv`);
    const rows = [...pets, 7].map((petId) => `${petId},${1 + Math.floor(random() * 9)}\n`);
    writeFileSync(file, `petId,delta\n${rows.join('')}`);
    return start('inventory', 'apply', file, '--yes', '--again', ...patience);
  });
  for (const { child } of processes) trial.disturb?.(child, random);
  const end = new AbortController();
  if (trial.isSwept === true) repeat(end.signal, 5, () => removeTurns(join(home.state, 'locks')));
  if (database !== undefined) repeat(end.signal, 200, () => terminateOne(database));
  await Promise.all(processes.map(({ ended }) => ended));
  end.abort();
  served.setFaults([]);
  await resumeAll();
  await delay(1500);
  return problemsOf(fresh, await rows(), await stockOf(served));
}

function problemsOf(fresh: ReadonlyMap<number, number>, rows: readonly Row[], final: ReadonlyMap<number, number>) {
  return [...fresh].flatMap(([pet, before]) => {
    const own = rows.filter(({ petId }) => petId === pet);
    const sums = own.reduce(
      (found, { result, before: was, after, error }) => {
        const change = after - (was ?? Number.NaN);
        if (result === 'applied') return found.map((sum) => sum + change);
        return result === 'conflict' && error?.code === 'unclear' ? found.flatMap((sum) => [sum, sum + change]) : found;
      },
      [before],
    );
    const stock = final.get(pet) ?? Number.NaN;
    return sums.includes(stock) ? [] : [`pet ${pet}: ${stock}, not ${[...new Set(sums)].join(' or ')}`];
  });
}

function repeat(signal: AbortSignal, ms: number, work: () => unknown): void {
  const timer = setInterval(work, ms);
  signal.addEventListener('abort', () => clearInterval(timer));
}

/** Removes the files of turns: processes that come later lock others of the same names. */
function removeTurns(folder: string): void {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  for (const name of names) if (/^(?:bulk|next|turn)-/.test(name)) rmSync(join(folder, name), { force: true });
}

/** The other connections of a database, in SQL. */
const others = "datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'petstock%'";

async function terminateOne(database: string): Promise<void> {
  const one = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${others} ORDER BY random() LIMIT 1`;
  await runSql(database, one).catch(() => {});
}

/** Runs rounds until one has a problem. */
async function firstProblems(program: string, trial: Trial, count: number): Promise<readonly string[]> {
  for (let index = 0; index < count; index += 1) {
    const found = await round(program, seeded(seed * 1000 + index), trial);
    if (found.length > 0) return [`round ${index}`, ...found];
  }
  return [];
}

/** Eight processes add to the same pet at a time. @returns how often the stock was read and written */
async function requestsOfEight(program: string): Promise<Readonly<Record<string, number>>> {
  const served = await serve(service);
  const { key } = served;
  const { run } = await opened(program, { url: await slowNetwork(served.url, 400, seeded(seed)), key });
  await Promise.all(Array.from({ length: 8 }, () => run('inventory', 'adjust', '1', '+1')));
  const methods = served.journal().map(({ method }) => method);
  return {
    reads: methods.filter((each) => each === 'GET').length,
    writes: methods.filter((each) => each === 'PATCH').length,
  };
}

/** A scene for a few processes, which add to pet 1 of a service that the scene directs. */
async function openStage(program: string, isShared = false) {
  const service = await scriptedService({ stock: { 1: 10 } });
  const commands = await opened(program, service, isShared);
  const held: Exchange[] = [];
  const add = (count: number, timeout = 20) =>
    commands.start('inventory', 'adjust', '1', `+${count}`, '--timeout', `${timeout}`);
  return {
    ...{ ...commands, service, add },
    /** Holds up the next requests. */
    hold: (method: string, count = 1) => {
      service.next(method, ...Array.from({ length: count }, () => (exchange: Exchange) => void held.push(exchange)));
    },
    /** Returns the last request that is held up when so many have come. */
    untilHeld: async (method: string, count: number): Promise<Exchange> => {
      await service.untilSeen(method, count);
      return held.at(-1) as Exchange;
    },
    /** Resumes all runs. @returns what does not add up */
    end: async () => {
      await commands.resumeAll();
      const stock = new Map([[1, service.stockOf(1) ?? Number.NaN]]);
      return problemsOf(new Map([[1, 10]]), await commands.rows(), stock);
    },
  };
}

/** A request arrives when its process is dead, and another may have written. */
async function requestOfTheDead(program: string): Promise<readonly string[]> {
  const { add, hold, untilHeld, end } = await openStage(program);
  hold('PATCH');
  const first = add(5, 8);
  const late = await untilHeld('PATCH', 1);
  first.child.kill('SIGKILL');
  await first.ended;
  const second = add(7);
  await Promise.race([second.ended, delay(8000)]);
  late.commit();
  await second.ended;
  return end();
}

/** Others get the turn while the stock is read, because the files of turns have vanished. */
async function twoTurnsAtATime(program: string): Promise<readonly string[]> {
  const { add, hold, untilHeld, end, home, run } = await openStage(program);
  // While nothing is known of the limit, one request is sent at a time.
  await run('inventory', 'list');
  hold('GET');
  const first = add(5);
  const read = await untilHeld('GET', 2);
  removeTurns(join(home.state, 'locks'));
  // After a single write, the stock would seem to come from a replica that is behind.
  for (const count of [7, 3]) await add(count).ended;
  read.answer(200, '[{"petId":1,"quantity":10,"status":"available"}]');
  await first.ended;
  return end();
}

/** As in `twoTurnsAtATime`, but the stock is read to find out whether a request that has failed was carried out. */
async function twoTurnsAfterAFailure(program: string): Promise<readonly string[]> {
  const { add, hold, untilHeld, end, home, run, service } = await openStage(program);
  await run('inventory', 'list');
  hold('PATCH');
  const first = add(5);
  const failing = await untilHeld('PATCH', 1);
  hold('GET', 2);
  const second = add(7);
  // It waits for the turn of the first.
  await delay(6000);
  failing.answer(503);
  const read = await untilHeld('GET', 3);
  removeTurns(join(home.state, 'locks'));
  const readAgain = await untilHeld('GET', 4);
  read.answerNormally();
  await service.untilSeen('PATCH', 2);
  readAgain.answer(200, '[{"petId":1,"quantity":10,"status":"available"}]');
  await Promise.all([first.ended, second.ended]);
  return end();
}

/**
 * A process loses the lock of its run, and another resumes it and is killed. The answer to the first comes while the
 * request of the second is under way, which arrives only when a third process may have written.
 */
async function outcomeOfTheReplaced(program: string): Promise<readonly string[]> {
  const { add, hold, untilHeld, end, start, openRuns, database = '' } = await openStage(program, true);
  hold('PATCH', 2);
  const first = add(5);
  const early = await untilHeld('PATCH', 1);
  const [one] = await openRuns();
  await runSql(database, `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE ${others}`);
  const second = start('inventory', 'apply', '--resume', one?.run ?? '', '--yes', '--timeout', '8');
  const late = await untilHeld('PATCH', 2);
  early.answerNormally();
  await first.ended;
  second.child.kill('SIGKILL');
  await second.ended;
  const third = add(7);
  await Promise.race([third.ended, delay(8000)]);
  late.commit();
  await third.ended;
  return end();
}

test.each(Object.entries(trials))('every change counts once while processes are %s', async (_kind, trial) => {
  expect(await firstProblems(await patchedProgram([]), trial, rounds)).toEqual([]);
});

test('processes that change a pet at a time read and write it once each', async () => {
  expect(await requestsOfEight(await patchedProgram([]))).toEqual({ reads: 8, writes: 8 });
});

test('a core without turns is found by its reads', async () => {
  const noTurn: Patch = {
    file: 'src/writes/execute.ts',
    from: 'return await state.takeTurn(this.#run.service, {',
    to: 'if (this.#run !== undefined) return { transact: state.transact, isLost: false, release: async () => {} };\n      return await state.takeTurn(this.#run.service, {',
  };
  const { reads } = await requestsOfEight(await patchedProgram([noTurn]));
  expect(reads).toBeGreaterThan(8);
});

const planner = 'src/writes/turn-planner.ts';

test.each<[string, (program: string) => Promise<readonly string[]>, Patch]>([
  [
    'look at what is under way',
    requestOfTheDead,
    {
      file: planner,
      from: 'inFlightUntil > moment.now);',
      to: 'inFlightUntil > moment.now && moment.now < 0);',
    },
  ],
  [
    'second look at the last intent',
    twoTurnsAtATime,
    { file: planner, from: 'if (last !== plan.last) return', to: 'if (last < 0) return' },
  ],
  [
    'new stock after writes of others',
    twoTurnsAfterAFailure,
    { file: planner, from: 'return hasOthers || ', to: 'return ' },
  ],
  [
    'look whether an outcome is that of the last intent',
    outcomeOfTheReplaced,
    {
      file: 'src/state/intents.ts',
      from: 'AND coalesce(rows.intent, 0) <= done.column3',
      to: 'AND done.column3 >= 0',
    },
  ],
])('every change counts once only with a %s', async (_what, play, patch) => {
  expect(await play(await patchedProgram([]))).toEqual([]);
  expect(await play(await patchedProgram([patch]))).not.toEqual([]);
});
