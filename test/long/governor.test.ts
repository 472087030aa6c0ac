import { execFile } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, inject, test } from 'vitest';
import type { JournalEntry } from '../../src/service/journal.ts';
import { programCommand, runProgram, type Served, serve, startProgram, temporaryHome } from '../support/program.ts';

const run = promisify(execFile);
const loopProgram = fileURLToPath(import.meta.resolve('./governor-loop.js'));
const hammerProgram = fileURLToPath(import.meta.resolve('./governor-hammer.ts'));
const windowMs = 2000;
const window = (limit: number) => ['--window-seconds', `${windowMs / 1000}`, '--limit-minute', `${limit}`];

/** The smallest takes one window for each process: with `PETSTOCK_RUNS` only. */
const sharedLimits = process.env.PETSTOCK_RUNS === undefined ? [2, 20] : [1, 2, 20];

interface Loop {
  readonly requests: number;
  readonly concurrency: number;
  readonly stateFolder: string;
}

/** An executable brings none along: then it is that of the last build. */
function libraryBeside(program: string): string {
  return /\.c?js$/.test(program) ? join(dirname(program), 'index.js') : resolve('dist/index.js');
}

/** A bulk run through the library in a process of its own. */
async function loop({ url, key }: Served, options: Loop): Promise<{ answered: number; failed: string[] }> {
  const library = libraryBeside(inject('program'));
  const all = JSON.stringify({ library, baseUrl: url, key, ...options });
  const { stdout } = await run(process.execPath, [loopProgram, all]);
  return JSON.parse(stdout) as { answered: number; failed: string[] };
}

const refusals = (journal: readonly JournalEntry[]) => journal.filter(({ status }) => status === 429);

/** Requests that came before the end of a window in which one had been refused, but for those that were in flight then. */
function inside(journal: readonly JournalEntry[]): readonly JournalEntry[] {
  const inFlight = 400;
  return journal.filter(({ time }) =>
    refusals(journal).some((refusal) => time > refusal.time + inFlight && time < endOfWindow(refusal.time)),
  );
}

const endOfWindow = (time: number) => (Math.floor(time / windowMs) + 1) * windowMs;

describe('alone on the key: no 429', () => {
  test('one bulk-like loop, 10 at a time', async () => {
    const served = await serve(window(20));
    const loaded = Date.now();
    const outcome = await loop(served, { requests: 70, concurrency: 10, stateFolder: temporaryHome().state });
    expect(outcome).toEqual({ answered: 70, failed: [] });
    const journal = await served.journal();
    expect(refusals(journal)).toEqual([]);
    // 70 are 20 now and 50 in the three windows behind this one; the rest is the start of the process and noise.
    const best = endOfWindow(journal[0]?.time ?? loaded) + 2 * windowMs;
    expect((journal.at(-1)?.time ?? 0) - best).toBeLessThan(2 * windowMs + 1000);
  });

  test('four processes at once', async () => {
    const served = await serve(window(20));
    const stateFolder = temporaryHome().state;
    const loops = [1, 2, 3, 4].map(() => loop(served, { requests: 20, concurrency: 5, stateFolder }));
    for (const outcome of await Promise.all(loops)) expect(outcome).toEqual({ answered: 20, failed: [] });
    const journal = await served.journal();
    expect(journal).toHaveLength(80);
    expect(refusals(journal)).toEqual([]);
  });

  test.each(sharedLimits)('16 single commands at once on a limit of %i', async (limit) => {
    const served = await serve(['--window-seconds', '1', '--limit-minute', `${limit}`]);
    const options = { env: served.env, home: temporaryHome() };
    const results = await Promise.all(Array.from({ length: 16 }, () => runProgram('inventory list -q', options)));
    expect(results.map(({ code, stderr }) => ({ code, stderr }))).toEqual(results.map(() => ({ code: 0, stderr: '' })));
    const journal = await served.journal();
    expect(journal).toHaveLength(16);
    expect(refusals(journal)).toEqual([]);
  });

  test('xargs -P 32 of single commands', async () => {
    const served = await serve(window(10));
    const home = temporaryHome();
    const command = `seq 1 40 | xargs -P 32 -I{} "$@" inventory set {} 7 --quiet`;
    const env = {
      ...process.env,
      ...served.env,
      HOME: home.folder,
      PETSTOCK_CONFIG_DIR: home.config,
      PETSTOCK_STATE_DIR: home.state,
    };
    // Pets that are not there are answered with 404, which counts as well.
    const { stderr } = await run('sh', ['-c', command, 'sh', ...programCommand()], { env }).catch((error) => error);
    const journal = await served.journal();
    expect(journal, stderr).toHaveLength(40);
    expect(refusals(journal)).toEqual([]);
  });
});

test('a process that holds the probe is stopped for longer than its time: others go on, and it goes on when it is continued', async () => {
  const served = await serve([...window(20), '--fault', '*:first=1:hang']);
  const options = { env: served.env, home: temporaryHome() };
  const prober = startProgram('inventory list --timeout 2', options);
  await served.untilSeen(1);
  prober.kill('SIGSTOP');
  expect((await runProgram('inventory list', options)).code).toBe(0);
  await delay(500);
  prober.kill('SIGCONT');
  expect((await prober.result).code).toBe(0);
  const journal = await served.journal();
  expect(journal).toHaveLength(3);
  expect(refusals(journal)).toEqual([]);
});

test('two state folders are two machines: nothing is sent inside a Retry-After, and all is done', async () => {
  const served = await serve(window(20));
  const loops = [1, 2].map(() => loop(served, { requests: 30, concurrency: 4, stateFolder: temporaryHome().state }));
  for (const outcome of await Promise.all(loops)) expect(outcome).toEqual({ answered: 30, failed: [] });
  const journal = await served.journal();
  expect(inside(journal)).toEqual([]);
});

test('four processes that fight for the probe: never two at once', async () => {
  const folder = temporaryHome().state;
  const hammer = (name: string) => run(process.execPath, ['--import', 'tsx', hammerProgram, folder, name, '3']);
  const results = await Promise.all(['a', 'b', 'c', 'd'].map(hammer));
  for (const { stdout } of results) expect(JSON.parse(stdout)).toMatchObject({ faults: [] });
});

describe('the first request of a key, of which nothing is known yet', () => {
  test('is given up when its process is killed', async () => {
    const served = await serve(['--fault', 'GET /inventory:first=1:hang']);
    const home = temporaryHome();
    const killed = startProgram('inventory list', { home, env: served.env });
    await served.untilSeen(1);
    killed.kill('SIGKILL');
    await killed.result;
    const started = Date.now();
    expect((await runProgram('inventory list --max-wait 0', { home, env: served.env })).code).toBe(0);
    // Its lease would have been 31 s.
    expect(Date.now() - started).toBeLessThan(15_000);
  });

  test('holds others up for no longer than --max-wait', async () => {
    const served = await serve(['--fault', 'GET /inventory:first=1:hang']);
    const home = temporaryHome();
    const hanging = startProgram('inventory list', { home, env: served.env });
    await served.untilSeen(1);
    const { code, stderr } = await runProgram('inventory list --max-wait 3', { home, env: served.env });
    expect(code).toBe(6);
    expect(stderr).toMatch(/^Error: Rate limited: .* It works again in \d+ s, at /);
    expect(await served.journal()).toHaveLength(1);
    hanging.kill('SIGINT');
    expect((await hanging.result).code).toBe(130);
  });
});
