import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { JournalEntry } from '../../src/service/http/exchange.ts';
import { type Home, runProgram, type Served, serve, startProgram, temporaryHome } from '../support/program.ts';

const run = promisify(execFile);
const hammerProgram = fileURLToPath(import.meta.resolve('./limits-hammer.ts'));
const windowMs = 2000;
const window = (minute: number) => ({ windowSeconds: windowMs / 1000, limits: { minute, day: 1e8 } });

/** Stock of 100 pets, with the ids from 1 on. */
const pets = { pets: 100, ids: 'small' } as const;

/** With a limit of 1, each process needs a window, so this limit is tested only with `PETSTOCK_RUNS`. */
const sharedLimits = process.env.PETSTOCK_RUNS === undefined ? [2, 20] : [1, 2, 20];

/** Sets the stock of `count` pets, beginning with this one, in one run. All rows must be applied. */
async function setPets(env: Served['env'], home: Home, { first = 1, count }: { first?: number; count: number }) {
  const rows = Array.from({ length: count }, (_, index) => `${first + index},${1000 + index}\n`);
  const command = 'inventory apply - --yes --json --max-wait 120';
  const { code, stdout, stderr } = await runProgram(command, { env, home, stdin: `petId,quantity\n${rows.join('')}` });
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout).counts).toMatchObject({ applied: count });
}

const refusals = (journal: readonly JournalEntry[]) => journal.filter(({ status }) => status === 429);

/** Checks that the service received this many requests and refused none. @returns the requests */
async function unrefused({ journal }: Served, count: number, said?: string): Promise<readonly JournalEntry[]> {
  const requests = journal();
  expect(requests, said).toHaveLength(count);
  expect(refusals(requests)).toEqual([]);
  return requests;
}

/** Returns the requests that arrived after a refusal in the same window, except those in flight at that moment. */
function inside(journal: readonly JournalEntry[]): readonly JournalEntry[] {
  const inFlight = 400;
  return journal.filter(({ time }) =>
    refusals(journal).some((refusal) => time > refusal.time + inFlight && time < endOfWindow(refusal.time)),
  );
}

const endOfWindow = (time: number) => (Math.floor(time / windowMs) + 1) * windowMs;

describe('one user of a key', () => {
  test('gets no 429 with a run of 69 rows', async () => {
    const served = await serve({ ...window(20), ...pets });
    const loaded = Date.now();
    await setPets(served.env, temporaryHome(), { count: 69 });
    const journal = await unrefused(served, 70);
    // 20 of the 70 requests fit into this window and 50 into the next three. The rest is start-up time and noise.
    const best = endOfWindow(journal[0]?.time ?? loaded) + 2 * windowMs;
    expect((journal.at(-1)?.time ?? 0) - best).toBeLessThan(2 * windowMs + 1000);
  });

  test('gets no 429 with four runs at once', async () => {
    const served = await serve({ ...window(20), ...pets });
    const home = temporaryHome();
    await Promise.all([1, 21, 41, 61].map((first) => setPets(served.env, home, { first, count: 19 })));
    const requests = served.journal();
    expect(refusals(requests)).toEqual([]);
    // A run that waits for more than 5 s reads its stock again.
    expect(requests.filter(({ method }) => method === 'PATCH')).toHaveLength(76);
  });

  test.each(sharedLimits)('gets no 429 with 16 commands at once and a limit of %i', async (limit) => {
    const served = await serve({ windowSeconds: 1, limits: { minute: limit, day: 1e8 } });
    const options = { env: served.env, home: temporaryHome() };
    const results = await Promise.all(Array.from({ length: 16 }, () => runProgram('inventory list -q', options)));
    for (const result of results) expect(result).toMatchObject({ code: 0, stderr: '' });
    await unrefused(served, 16);
  });

  test('gets no 429 with 40 commands under xargs -P 32', async () => {
    const served = await serve(window(10));
    const through = ['sh', '-c', `seq 1 40 | xargs -P 32 -I{} "$@" {} 7 --quiet`, 'sh'];
    // Requests for missing pets get a 404, which counts as well.
    const { stderr } = await runProgram('inventory set', { env: served.env, through });
    await unrefused(served, 40, stderr);
  });
});

test('lets other processes continue while the one with the first request is suspended', async () => {
  const served = await serve({ ...window(20), faults: ['*:first=1:hang'] });
  const options = { env: served.env, home: temporaryHome() };
  const prober = startProgram('inventory list --timeout 2', options);
  await served.untilSeen(1);
  prober.kill('SIGSTOP');
  expect((await runProgram('inventory list', options)).code).toBe(0);
  await delay(500);
  prober.kill('SIGCONT');
  expect((await prober.result).code).toBe(0);
  await unrefused(served, 3);
});

test('gets no 429 while commands are killed at any moment', async () => {
  const served = await serve({ ...window(20), ...pets });
  const options = { env: served.env, home: temporaryHome() };
  const command = (pet: number) => `inventory set ${pet} 7 --timeout 2 --max-wait 60 --quiet`;
  const ended = await Promise.all(
    Array.from({ length: 24 }, async (_, index) => {
      await delay(index * 100);
      const program = startProgram(command(index + 1), options);
      // Every other one is killed: while it starts, waits, sends or records.
      if (index % 2 === 0) void delay(150 + index * 40).then(() => program.kill('SIGKILL'));
      return program.result;
    }),
  );
  expect(ended.filter(({ code, signal }) => code !== 0 && signal !== 'SIGKILL')).toEqual([]);
  expect(refusals(served.journal())).toEqual([]);
});

test('does not send from two state folders for the rest of a window that had a 429', async () => {
  const served = await serve({ ...window(20), ...pets });
  const homes = [temporaryHome(), temporaryHome()];
  await Promise.all(homes.map((home, index) => setPets(served.env, home, { first: 1 + index * 30, count: 29 })));
  expect(inside(served.journal())).toEqual([]);
});

test('never lets two of four processes probe at once', async () => {
  const folder = temporaryHome().state;
  const hammer = () => run(process.execPath, ['--import', 'tsx', hammerProgram, folder, '3']);
  const results = await Promise.all(Array.from({ length: 4 }, hammer));
  for (const { stdout } of results) expect(JSON.parse(stdout)).toMatchObject({ faults: [] });
});

describe('the first request of a key', () => {
  const hanging = async () => {
    const served = await serve({ faults: ['GET /inventory:first=1:hang'] });
    const options = { home: temporaryHome(), env: served.env };
    const program = startProgram('inventory list', options);
    await served.untilSeen(1);
    return { served, options, program };
  };

  test('holds others up for its --timeout and a second if its process is killed', async () => {
    const served = await serve({ faults: ['GET /inventory:first=1:hang'] });
    const options = { home: temporaryHome(), env: served.env };
    const program = startProgram('inventory list --timeout 2', options);
    await served.untilSeen(1);
    program.kill('SIGKILL');
    await program.result;
    const started = Date.now();
    expect((await runProgram('inventory list', options)).code).toBe(0);
    expect(Date.now() - started).toBeLessThan(15_000);
    expect(await served.journal()).toHaveLength(2);
  });

  test('exits with 6 after --max-wait if the first request of another process hangs', async () => {
    const { served, options, program } = await hanging();
    const { code, stderr } = await runProgram('inventory list --max-wait 3', options);
    expect(code).toBe(6);
    expect(stderr).toMatch(/^Error: Requests of other commands with this key have no answer yet/m);
    expect(served.journal()).toHaveLength(1);
    program.kill('SIGINT');
    expect((await program.result).code).toBe(130);
  });
});
