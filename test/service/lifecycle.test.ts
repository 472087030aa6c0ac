import { once } from 'node:events';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished } from 'vitest';
import { FaultSpecError, generateKey, openStockFile } from '../../src/service/index.ts';
import { type Seed, seededStock } from '../../src/service/seed.ts';
import { hasOwnEngine } from '../../src/shared/sqlite-engine.ts';
import { outcomes, rate, start, test } from './support.ts';

test('listens on the IPv6 loopback address', async () => {
  expect((await start({ host: '::1' })).url).toMatch(/^http:\/\/\[::1\]:\d+\/v1$/);
});

test('does not start on a port that is in use', async ({ service }) => {
  const port = Number(new URL(service.url).port);
  await expect(start({ port })).rejects.toMatchObject({ code: 'EADDRINUSE', port });
});

test('keeps stock and usage across a restart with the same key', async ({ file }) => {
  const first = await start({ file, plan: 'pro' });
  const updated = await first.patch('/inventory/9223372036854775807', '{"quantity":31}');
  await first.close();
  const second = await start({ file, key: first.key, plan: 'pro', pets: 3, seed: 99 });
  const list = await second.get('/inventory');
  expect(list.json).toHaveLength(24);
  expect(list.text).toContain(updated.text);
  expect(rate(list)).toMatch(/^300\/298\//);
});

test('applies the plan or limits given at the start to a known key, and keeps its usage', async ({ file }) => {
  const key = generateKey();
  for (const [grant, shown] of [
    [{ plan: 'free' }, /^60\/59\//],
    [{ plan: 'pro' }, /^300\/298\//],
    [{ limits: { minute: 7, day: 9 } }, /^7\/4\//],
  ] as const) {
    expect(rate(await (await start({ file, key, ...grant })).get('/inventory'))).toMatch(shown);
  }
  const lowered = await start({ file, key, limits: { minute: 2, day: 9 } });
  expect(await outcomes(lowered, 1)).toEqual(['429 rate_limited']);
});

test("refuses a file that is not a database or can't be created, and leaves it unchanged", async ({ file }) => {
  writeFileSync(file, 'Feed the cats. '.repeat(100));
  for (const unusable of [file, join(file, 'below-a-file.db'), dirname(file)]) {
    await expect(start({ file: unusable })).rejects.toThrow(/not a database|ENOTDIR|unable to open/);
  }
  expect(statSync(file).size).toBe(1_500);
});

test("does not start with a fault that can't be read, and creates no file", async ({ file }) => {
  await expect(start({ file, faults: ['*:nonsense'] })).rejects.toThrow(FaultSpecError);
  expect(existsSync(file)).toBe(false);
});

test('closes idle and hanging connections within 4 s, and may be closed twice', async () => {
  const service = await start({ faults: ['GET /pets/*:hang'] });
  const port = Number(new URL(service.url).port);
  const [silent, idle] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
  await once(silent, 'connect');
  idle.write(`GET /v1/inventory HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.key}\r\n\r\n`);
  await once(idle, 'data');
  const hanging = service.get('/pets/1').catch(() => 'cut off');
  while (!service.journal().some(({ path }) => path === '/v1/pets/1')) await service.get('/nowhere');
  const started = Date.now();
  await Promise.all([service.close(), service.close()]);
  await service.close();
  expect(Date.now() - started).toBeLessThan(4000);
  expect(await hanging).toBe('cut off');
});

test('answers requests in flight before it closes', async () => {
  const service = await start({ faults: ['GET /pets/*:delay=60'] });
  const answer = service.get('/pets/1');
  while (service.journal().length === 0) await service.get('/inventory');
  await service.close();
  expect((await answer).status).toBe(200);
  await expect(service.get('/inventory')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('changes nothing if a client disconnects in the middle of a request body', async ({ file }) => {
  const service = await start({ file });
  const before = (await service.get('/inventory')).text;
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  const head = `PATCH /v1/inventory/1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.key}`;
  const type = 'Content-Type: application/json\r\nContent-Length: 20';
  socket.write(`${head}\r\n${type}\r\n\r\n{"quantity":5}`, () => socket.destroy());
  await once(socket, 'close');
  expect((await service.get('/inventory')).text).toBe(before);
});

test('waits for another writer of the file before it replaces the stock', async ({ file }) => {
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
  const store = await openStockFile(file, seededStock());
  store.replace(seededStock());
  store.close();
  expect((await (await start({ file })).get('/inventory')).text).not.toContain('4711');
});

const itemsOf = (seed: Seed) => [...seededStock(seed).items];

test('seeds a stock with every status, and with pets at zero and at low stock', () => {
  const items = itemsOf({});
  expect(new Set(items.map(({ status }) => status))).toEqual(new Set(['available', 'pending', 'sold']));
  expect(items.some(({ quantity }) => quantity === 0n)).toBe(true);
  expect(items.some(({ quantity }) => quantity > 0n && quantity < 4n)).toBe(true);
});

test('seeds the same stock for the same seed, and another stock for another seed', () => {
  expect(itemsOf({ seed: 5 })).toEqual(itemsOf({ seed: 5 }));
  expect(itemsOf({ seed: 5 })).not.toEqual(itemsOf({ seed: 6 }));
});

test.each([
  [0, 'large', []],
  [1, 'large', [1n]],
  [2, 'large', [1n, 9_007_199_254_740_993n]],
  [5, 'large', [1n, 2n, 9_007_199_254_740_992n, 9_007_199_254_740_993n, 9_223_372_036_854_775_807n]],
  [30, 'small', Array.from({ length: 30 }, (_, at) => BigInt(at + 1))],
] as const)('seeds %i pets with %s ids', (pets, ids, expected) => {
  expect(itemsOf({ pets, ids }).map(({ petId }) => petId)).toEqual(expected);
});
