import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished } from 'vitest';
import { openStore } from '../../src/service/index.ts';
import type { Seed } from '../../src/service/seed/stock.ts';
import { seededStock } from '../../src/service/seed/stock.ts';
import { openSqlite } from '../../src/service/store/sqlite/sqlite-store.ts';
import { hasOwnEngine } from '../../src/shared/sqlite-engine.ts';
import { outcomes, rate, start, test } from './support.ts';

/** Puts a fresh stock in the place of the one in the file, as `sandbox reset` does. */
async function reseedDatabase(file: string, seed: Seed = {}): Promise<void> {
  const store = await openStore({ file, clock: Date });
  await store.replace(seededStock(seed), { forgetsUsage: true }).finally(() => store.close());
}

test('a fresh stock, all at once, for a service that goes on; what was used is forgotten', async ({ file }) => {
  const service = await start({ file, plan: 'free', limits: { minute: 4, day: 9 } });
  const before = (await service.get('/inventory')).text;
  await service.patch('/inventory/1', '{"quantity":4711}');
  expect(await outcomes(service, 3)).toEqual(['200', '200', '429 rate_limited']);
  await reseedDatabase(file);
  const after = await service.get('/inventory');
  expect([after.text, rate(after).slice(0, 4)]).toEqual([before, '4/3/']);
  await reseedDatabase(file, { pets: 30, seed: 2 });
  expect((await service.get('/inventory')).json).toHaveLength(30);
});

test('it waits for whoever is writing', async ({ file }) => {
  await (await start({ file })).close();
  const writer = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads');
     const { DatabaseSync } = require(workerData.engine);
     const database = new DatabaseSync(workerData.file);
     database.exec('BEGIN IMMEDIATE; UPDATE pets SET quantity = 4711');
     parentPort.postMessage('locked');
     Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
     database.exec('COMMIT');`,
    { eval: true, workerData: { file, engine: hasOwnEngine() ? 'node:sqlite' : '@photostructure/sqlite' } },
  );
  onTestFinished(() => void writer.terminate());
  await once(writer, 'message');
  await reseedDatabase(file);
  expect((await (await start({ file })).get('/inventory')).text).not.toContain('4711');
});

test('it does not wait for whoever is reading, who goes on with the stock of before', async ({ file }) => {
  const store = await openSqlite(file, seededStock({ pets: 5_000 }), Date);
  onTestFinished(() => store.close());
  const slow = store.inventory();
  const pages = [(await slow.next()).value];
  await reseedDatabase(file, { pets: 10 });
  for await (const page of slow) pages.push(page);
  expect(JSON.parse(`[${pages.join(',')}]`)).toHaveLength(5_000);
  for await (const page of store.inventory()) expect(JSON.parse(`[${page}]`)).toHaveLength(10);
});
