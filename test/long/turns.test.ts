import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { seeded } from '../rate-limit/seeded.ts';
import { type Patch, patchedProgram } from '../support/patched-program.ts';
import { runSql, temporaryDatabase } from '../support/postgres.ts';
import { serve, temporaryHome } from '../support/program.ts';
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

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Row {
  readonly petId: number;
  readonly result: string;
  readonly delta: number | null;
  readonly before: number | null;
  readonly after: number;
  readonly error: { readonly code: string } | null;
}

/** How a round disturbs its processes. */
type Disturb = (child: ChildProcess, random: () => number) => void;

/** Kills a process soon after it has begun to talk to the service, which it announces. */
const killed: Disturb = (child, random) => {
  const [isKilled, ms] = [random() < 0.6, random() * 900];
  if (isKilled) child.stderr?.once('data', () => setTimeout(() => child.kill('SIGKILL'), ms));
};
const stopped: Disturb = (child, random) => {
  if (random() > 0.5) return;
  const signal = random() < 0.5 ? 'SIGSTOP' : 'SIGTSTP';
  setTimeout(() => child.kill(signal), 300 + random() * 1200);
  setTimeout(() => child.kill('SIGCONT'), 3000 + random() * 2000);
};

/**
 * Many processes add to the same pets over a network that delivers what was sent after its sender's death. Then all
 * open runs are resumed.
 * @returns what does not add up: pets whose stock is not what the history says
 */
async function round(program: string, random: () => number, disturb: Disturb, stateUrl?: string): Promise<string[]> {
  const chosen = faults.filter((_fault, index) => index === 5 || random() < 0.4);
  const service = await serve({
    pets: 12,
    ids: 'small',
    ban: false,
    limits: { minute: 1_000_000, day: 1_000_000_000 },
    faults: chosen,
  });
  const url = await slowNetwork(service.url, 400, random);
  const home = temporaryHome();
  const env = {
    ...{ PATH: process.env.PATH, HOME: home.folder, PETSTOCK_CONFIG_DIR: home.config, PETSTOCK_STATE_DIR: home.state },
    ...{
      TMPDIR: home.folder,
      PETSTOCK_VERBOSE: 'true',
      PETSTOCK_URL_STAGING: url,
      PETSTOCK_API_KEY_STAGING: service.key,
    },
    ...(stateUrl !== undefined && { PETSTOCK_STATE_URL: stateUrl }),
  };
  const start = (words: readonly string[]) => {
    const child = spawn(process.execPath, [program, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk) => (stdout += chunk));
    child.stderr.on('data', (chunk) => (stderr += chunk));
    const ended = once(child, 'close').then(([code, signal]): Ended => ({ code, signal, stdout, stderr }));
    return { child, ended };
  };
  const run = (...words: readonly string[]) => start(words).ended;
  const stock = async () => {
    const response = await fetch(`${service.url}/inventory`, { headers: { authorization: `Bearer ${service.key}` } });
    return new Map(
      ((await response.json()) as Row[]).map((item) => [
        item.petId,
        (item as unknown as { quantity: number }).quantity,
      ]),
    );
  };
  await run('state', stateUrl === undefined ? 'info' : 'init');
  service.setFaults([]);
  const fresh = await stock();
  service.setFaults(chosen);
  const pets = [1, 2, 3, 4].slice(0, 2 + Math.floor(random() * 3));
  const patience = ['--timeout', '2', '--retries', '8'];
  const processes = Array.from({ length: 4 + Math.floor(random() * 3) }, (_, index) => {
    const pet = pets[Math.floor(random() * pets.length)] ?? 1;
    if (random() < 0.4) return start(['inventory', 'adjust', `${pet}`, `${1 + Math.floor(random() * 9)}`, ...patience]);
    const file = join(home.folder, `${index}.csv`);
    const rows = [...pets, 7].map((petId) => `${petId},${1 + Math.floor(random() * 9)}\n`);
    writeFileSync(file, `petId,delta\n${rows.join('')}`);
    return start(['inventory', 'apply', file, '--yes', '--again', ...patience]);
  });
  for (const { child } of processes) disturb(child, random);
  const stop = stateUrl === undefined ? undefined : terminating(stateUrl);
  await Promise.all(processes.map(({ ended }) => ended));
  stop?.();
  service.setFaults([]);
  for (let tries = 0; tries < 15; tries += 1) {
    const runs: { run: string; state: string }[] = JSON.parse(
      (await run('history', 'list', '--limit', '1000', '--json')).stdout,
    );
    const open = runs.filter(({ state }) => state !== 'done');
    if (open.length === 0) break;
    for (const one of open) await run('inventory', 'apply', '--resume', one.run, '--yes', ...patience);
  }
  await delay(1500);
  const final = await stock();
  const exported = (await run('history', 'export', '-o', 'ndjson')).stdout
    .trim()
    .split('\n')
    .filter((line) => line !== '');
  const rows: Row[] = exported.map((line) => JSON.parse(line));
  const problems: string[] = [];
  for (const [pet, before] of fresh) {
    const own = rows.filter(({ petId }) => petId === pet);
    const sums = own.reduce(
      (found, { result, before: was, after, error }) => {
        const change = after - (was ?? Number.NaN);
        if (result === 'applied') return found.map((sum) => sum + change);
        return result === 'conflict' && error?.code === 'unclear' ? found.flatMap((sum) => [sum, sum + change]) : found;
      },
      [before],
    );
    if (!sums.includes(final.get(pet) ?? Number.NaN))
      problems.push(`pet ${pet}: ${final.get(pet)}, not ${sums.join(' or ')}`);
  }
  return problems;
}

async function roundsOf(program: string, kind: string, disturb: Disturb, count: number, url?: () => Promise<string>) {
  const problems: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const random = seeded(seed * 1000 + index);
    const found = await round(program, random, disturb, await url?.());
    problems.push(...found.map((problem) => `${kind}, round ${index}: ${problem}`));
  }
  return problems;
}

test.each([
  ['killed', killed],
  ['stopped', stopped],
  ['left alone', () => {}],
] as const)('every change counts once while processes are %s', async (kind, disturb) => {
  expect(await roundsOf(await patchedProgram([]), kind, disturb, rounds)).toEqual([]);
});

/** Terminates connections to a database until the returned function is called. */
function terminating(url: string): () => void {
  const others = "datname = current_database() AND pid <> pg_backend_pid() AND application_name LIKE 'petstock%'";
  const one = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${others} ORDER BY random() LIMIT 1`;
  const timer = setInterval(() => void runSql(url, one).catch(() => {}), 200);
  return () => clearInterval(timer);
}

test('every change counts once while backends of a shared state are terminated', async () => {
  const program = await patchedProgram([]);
  const problems: string[] = [];
  for (let index = 0; index < rounds; index += 1) {
    problems.push(...(await round(program, seeded(seed * 1000 + index), killed, await temporaryDatabase())));
  }
  expect(problems).toEqual([]);
});

describe('a core that is broken', () => {
  const execute = 'src/writes/execute.ts';
  const planner = 'src/writes/turn-planner.ts';
  const noTurn: Patch = {
    file: execute,
    from: 'return await state.takeTurn(this.#run.service, {',
    to: 'if (this.#run !== undefined) return { transact: state.transact, isLost: false, release: async () => {} };\n      return await state.takeTurn(this.#run.service, {',
  };
  const noInFlight: Patch = {
    file: planner,
    from: 'if (inFlightUntil <= now) continue;',
    to: 'if (inFlightUntil <= now || now > 0) continue;',
  };
  const noRecheck: Patch = {
    file: planner,
    from: 'if (last !== plan.last) return',
    to: 'if (last < 0) return',
  };
  const newerIntents: Patch = {
    file: 'src/state/intents.ts',
    from: 'AND coalesce(rows.intent, 0) <= done.column3',
    to: 'AND done.column3 >= 0',
  };
  const others: Patch = {
    file: planner,
    from: 'const hasOthers = others.some(({ intent }) => intent > stock.last);',
    to: 'const hasOthers = others.some(({ intent }) => intent < 0);',
  };

  test.each<[string, readonly Patch[]]>([
    ['no look at what is under way', [noInFlight]],
    ['no turn and no look at the last intent', [noTurn, noRecheck]],
    ['no turn and no look at what others have written', [noTurn, noRecheck, others]],
    ['no turn and outcomes on newer intents', [noTurn, noInFlight, newerIntents]],
  ])('is found: %s', async (kind, patches) => {
    const program = await patchedProgram(patches);
    let problems: readonly string[] = [];
    for (let index = 0; index < 40 && problems.length === 0; index += 1) {
      problems = await round(program, seeded(seed * 1000 + index), killed);
    }
    expect(problems, kind).not.toEqual([]);
  });
});
