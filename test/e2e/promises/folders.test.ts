import { once } from 'node:events';
import { mkdirSync, renameSync, rmSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Petstock, petstockAt, reportOf } from '../../support/petstock.ts';
import { hold } from '../../support/scripted-actions.ts';
import { scriptedService, tenEach } from '../../support/scripted-service.ts';

test('a state whose first command was killed while it was made is no damage', async () => {
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

describe('the state folder goes away during a run', () => {
  const ways = [
    ['is removed', (petstock: Petstock) => rmSync(petstock.home.state, { recursive: true })],
    ['is moved', (petstock: Petstock) => renameSync(petstock.home.state, `${petstock.home.state}-2`)],
    [
      'loses its write-ahead log',
      ({ home }: Petstock) => {
        for (const end of ['-wal', '-shm']) rmSync(join(home.state, `state.db${end}`));
      },
    ],
  ] as const;

  test.each(ways)('%s: it stops before the next intents, and says so with exit 8', async (_what, away) => {
    const { service, result } = await applyWithout(away, 200, '--concurrency 1');
    const sent = service.seen('PATCH').length;
    // Intents are written for a few rows at once.
    expect(sent).toBeLessThanOrEqual(3 + 4);
    expect(result.code).toBe(8);
    expect(reportOf(result).counts).toMatchObject({ notAttempted: 200 - sent, applied: sent });
    expect(result.stderr).toContain('state');
  });

  test.each(ways)('%s when all intents are written: it is not exit 0', async (_what, away) => {
    const { result } = await applyWithout(away, 40, '--concurrency 16');
    expect(result.code).not.toBe(0);
    expect(result.stderr).toContain('state');
  });

  /** An apply of so many rows; while the third waits for its answer, the folder goes. */
  async function applyWithout(away: (petstock: Petstock) => void, rows: number, options: string) {
    const service = await scriptedService({ stock: tenEach(rows) });
    const petstock = petstockAt(service);
    const third = hold();
    service.next('PATCH /inventory/3', third.action);
    const lines = Array.from({ length: rows }, (_, index) => `${index + 1},50`);
    const file = petstock.file('a.csv', ['petId,quantity', ...lines]);
    const program = petstock.start(`inventory apply ${file} --yes --json ${options}`);
    await third.reached;
    away(petstock);
    third.release();
    return { service, result: await program.result };
  }

  test('before the first row: nothing is sent, exit 1', async () => {
    const service = await scriptedService();
    const petstock = petstockAt(service);
    const list = hold();
    service.next('GET', list.action);
    const file = petstock.file('a.csv', ['petId,quantity', '1,50']);
    const program = petstock.start(`inventory apply ${file}`, { terminal: 100 });
    await list.reached;
    list.release();
    await program.until('stdout', 'Write it?');
    rmSync(petstock.home.state, { recursive: true });
    program.type('y\r');
    expect(await program.result).toMatchObject({ code: 1 });
    expect(service.seen('PATCH')).toEqual([]);
  });
});

describe('a state folder that can not be used', () => {
  const unusable = [
    ['a file in its place', (petstock: Petstock) => petstock.file('state', ['not a folder'])],
    ['a folder below /proc', () => '/proc/petstock'],
  ] as const;

  test.each(unusable)('%s: reads of 8 processes share the limit, and each says so, with -q too', async (_what, at) => {
    const service = await scriptedService({ limit: { limit: 6, seconds: 2 } });
    const petstock = petstockAt(service);
    const runtime = join(petstock.home.folder, 'runtime');
    mkdirSync(runtime, { mode: 0o700 });
    const env = { PETSTOCK_STATE_DIR: at(petstock), XDG_RUNTIME_DIR: runtime };
    const queue = Array.from({ length: 10 }, (_, index) => index);
    const results: { code: number | null; isSaid: boolean }[] = [];
    const work = async () => {
      while (queue.pop() !== undefined) {
        const { code, stderr } = await petstock.run('inventory list -q', { env });
        results.push({ code, isSaid: stderr.includes('PETSTOCK_STATE_DIR') || stderr.includes(at(petstock)) });
      }
    };
    await Promise.all(Array.from({ length: 8 }, work));
    expect(service.requests.filter(({ status }) => status === 429)).toEqual([]);
    expect(results.filter(({ code, isSaid }) => code !== 0 || !isSaid)).toEqual([]);
  });
});
