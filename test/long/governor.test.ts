import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { JournalEntry } from '../../src/service/journal.ts';
import { runProgram, serve, startProgram, temporaryHome } from '../support/program.ts';

/** The smallest takes one window for each process: with `PETSTOCK_RUNS` only. */
const sharedLimits = process.env.PETSTOCK_RUNS === undefined ? [2, 20] : [1, 2, 20];

const refusals = (journal: readonly JournalEntry[]) => journal.filter(({ status }) => status === 429);

test.each(sharedLimits)('16 commands at once, alone on a key with a limit of %i: no 429', async (limit) => {
  const served = await serve(['--window-seconds', '1', '--limit-minute', `${limit}`]);
  const options = { env: served.env, home: temporaryHome() };
  const results = await Promise.all(Array.from({ length: 16 }, () => runProgram('inventory list -q', options)));
  expect(results.map(({ code, stderr }) => ({ code, stderr }))).toEqual(results.map(() => ({ code: 0, stderr: '' })));
  const journal = await served.journal();
  expect(journal).toHaveLength(16);
  expect(refusals(journal)).toEqual([]);
});

test('a process that holds the probe is stopped for longer than its time: others go on, and it goes on when it is continued', async () => {
  const served = await serve(['--window-seconds', '2', '--limit-minute', '20', '--fault', '*:first=1:hang']);
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
