import { once } from 'node:events';
import { mkdirSync, renameSync, rmSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { petstockAt, reportOf } from '../support/petstock.ts';
import { hold, scriptedService, tenEach } from '../support/scripted-service.ts';

test('opens a state whose first command was killed while it created the state', async () => {
  const service = await scriptedService();
  const petstock = petstockAt(service);
  mkdirSync(petstock.home.state, { mode: 0o700, recursive: true });
  const watcher = watch(petstock.home.state);
  const program = petstock.start('inventory adjust 1 1');
  await once(watcher, 'change');
  program.kill('SIGKILL');
  watcher.close();
  await program.result;
  expect(await petstock.run('history list --json')).toMatchObject({ code: 0, stderr: '' });
  const { code, stderr } = await petstock.run('inventory adjust 2 1 --quiet');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  writeFileSync(join(petstock.home.state, 'state.db'), '');
  expect((await petstock.run('history list')).stderr).toContain('damaged');
});

describe('a run that loses its state folder', () => {
  test.each<[what: string, away: (state: string) => void]>([
    ['is removed', (state) => rmSync(state, { recursive: true })],
    ['is moved', (state) => renameSync(state, `${state}-2`)],
    [
      'loses its write-ahead log',
      (state) => ['-wal', '-shm'].forEach((end) => void rmSync(join(state, `state.db${end}`))),
    ],
  ])('stops a run with exit code 8 if its state folder %s', async (_what, away) => {
    const { service, result } = await applyWithout(away, 60);
    const sent = service.seen('PATCH').length;
    // The rows of a turn are sent: their intents were on disk.
    expect(sent).toBeLessThan(20);
    expect(result.code).toBe(8);
    expect(reportOf(result).counts).toMatchObject({ notAttempted: 60 - sent, applied: sent });
    expect(result.stderr).toContain('state');
  });

  /** Applies this many rows. `away` runs while the third row waits for its response. */
  async function applyWithout(away: (state: string) => void, rows: number) {
    const service = await scriptedService({ stock: tenEach(rows) });
    const petstock = petstockAt(service);
    const third = hold();
    service.next('PATCH /inventory/3', third.action);
    const lines = Array.from({ length: rows }, (_, index) => `${index + 1},50`);
    const file = petstock.file('a.csv', ['petId,quantity', ...lines]);
    const program = petstock.start(`inventory apply ${file} --yes --json --concurrency 1`);
    await third.reached;
    away(petstock.home.state);
    // The check of the folder before the third request counts for 10 ms.
    await setTimeout(20);
    third.release();
    return { service, result: await program.result };
  }

  test('exits with 1 and sends no PATCH if the state folder is removed before the first row', async () => {
    const service = await scriptedService();
    const petstock = petstockAt(service);
    const file = petstock.file('a.csv', ['petId,quantity', '1,50']);
    const program = petstock.start(`inventory apply ${file}`, { terminal: 100 });
    await program.until('stdout', 'Write this change?');
    rmSync(petstock.home.state, { recursive: true });
    program.type('y\r');
    expect(await program.result).toMatchObject({ code: 1 });
    expect(service.seen('PATCH')).toEqual([]);
  });
});

test('sends nothing inside a Retry-After from 4 processes, which all warn, without a state folder', async () => {
  const service = await scriptedService({ limit: { limit: 3, seconds: 2 } });
  const petstock = petstockAt(service);
  const state = '/proc/petstock';
  const env = { PETSTOCK_STATE_DIR: state };
  const queue = Array.from({ length: 5 }, (_, index) => index);
  const results: { code: number | null; isSaid: boolean }[] = [];
  const work = async () => {
    while (queue.pop() !== undefined) {
      const { code, stderr } = await petstock.run('inventory list -q', { env });
      results.push({ code, isSaid: stderr.includes('PETSTOCK_STATE_DIR') || stderr.includes(state) });
    }
  };
  await Promise.all(Array.from({ length: 4 }, work));
  // A request that was on its way when the 429 came is not inside; Retry-After is a second at least.
  const refused = service.requests.filter(({ status }) => status === 429);
  const inside = service.requests.filter((one) => refused.some(({ at }) => one.at > at + 400 && one.at < at + 1000));
  expect(inside).toEqual([]);
  expect(results).toEqual(Array(5).fill({ code: 0, isSaid: true }));
});
