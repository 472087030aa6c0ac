import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished } from 'vitest';
import { openStore } from '../../src/service/index.ts';
import { seededStock } from '../../src/service/seed/stock.ts';
import { hasOwnEngine } from '../../src/shared/sqlite-engine.ts';
import { start, test } from './support.ts';

/** Puts a fresh stock in the place of the one in the file, as `sandbox reset` does. */
async function reseedDatabase(file: string): Promise<void> {
  const store = await openStore({ file, clock: Date });
  await store.replace(seededStock({}), { forgetsUsage: true }).finally(() => store.close());
}

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
