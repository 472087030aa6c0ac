import { copyFileSync, existsSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { get as httpGet } from 'node:http';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { FaultSpecError, generateKey, inspectDatabase } from '../../src/service/index.ts';
import { outcome, outcomes, rate, start, temporaryFile, test } from './support.ts';

test('the IPv6 loopback address can be listened at', async () => {
  const service = await start({ host: '::1' });
  expect(service.url).toMatch(/^http:\/\/\[::1\]:\d+\/v1$/);
});

test('stock, usage and entitlement last over a restart with the same key', async ({ file }) => {
  const first = await start({ file, plan: 'pro' });
  const updated = await first.patch('/inventory/9223372036854775807', '{"quantity":31}');
  await first.close();
  const second = await start({ file, key: first.key, pets: 3, seed: 99 });
  const list = await second.get('/inventory');
  expect(list.json).toHaveLength(24);
  expect(list.text).toContain(updated.text);
  expect(rate(list)).toMatch(/^300\/298\//);
});

test('a known key gets the plan or the limits that are given explicitly, and keeps what it has used', async ({
  file,
}) => {
  const key = generateKey();
  const free = await start({ file, key, plan: 'free' });
  expect(rate(await free.get('/inventory'))).toMatch(/^60\/59\//);
  const pro = await start({ file, key, plan: 'pro' });
  expect(rate(await pro.get('/inventory'))).toMatch(/^300\/298\//);
  const own = await start({ file, key, limits: { minute: 7, day: 9 } });
  expect(rate(await own.get('/inventory'))).toMatch(/^7\/4\//);
  const lowered = await start({ file, key, limits: { minute: 2, day: 9 } });
  expect(await outcomes(lowered, 1)).toEqual(['429 rate_limited']);
});

test('the file is its owner’s alone', async ({ file }) => {
  const service = await start({ file });
  await service.get('/inventory');
  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
  for (const path of [file, `${file}-wal`, `${file}-shm`]) expect(modeOf(path)).toBe('600');
});

test('a file that is no database is neither served nor changed', async () => {
  const file = temporaryFile('notes.txt');
  writeFileSync(file, 'Feed the cats. '.repeat(100));
  await expect(start({ file })).rejects.toMatchObject({ name: 'StorageError' });
  expect(() => inspectDatabase(file)).toThrow('not a database');
  expect(statSync(file).size).toBe(1_500);
});

test('a file that cannot be created or opened is a StorageError', async ({ file }) => {
  writeFileSync(file, '');
  for (const unusable of [join(file, 'below-a-file.db'), dirname(file)]) {
    await expect(start({ file: unusable })).rejects.toMatchObject({ name: 'StorageError' });
  }
});

test('a fault that cannot be read keeps the service from starting, and leaves no file', async ({ file }) => {
  await expect(start({ file, faults: ['*:nonsense'] })).rejects.toThrow(FaultSpecError);
  expect(existsSync(file)).toBe(false);
});

test('closing ends idle connections at once, whether they have sent a request or not', async ({ service }) => {
  const port = Number(new URL(service.url).port);
  const silent = connect(port, '127.0.0.1');
  const idle = connect(port, '127.0.0.1');
  await new Promise((resolve) => silent.once('connect', resolve));
  idle.write(`GET /v1/inventory HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.key}\r\n\r\n`);
  await new Promise((resolve) => idle.once('data', resolve));
  const started = Date.now();
  await service.close();
  expect(Date.now() - started).toBeLessThan(4000);
});

test('closing lets what is in flight be answered', async () => {
  const service = await start({ faults: ['GET /pets/*:delay=60'] });
  const answer = new Promise<number | undefined>((resolve, reject) => {
    const headers = { Authorization: `Bearer ${service.key}` };
    httpGet(`${service.url}/pets/1`, { headers }, (response) => resolve(response.resume().statusCode)).on(
      'error',
      reject,
    );
  });
  while (service.journal().length === 0) await service.get('/inventory');
  await service.close();
  expect(await answer).toBe(200);
  await expect(service.get('/inventory')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('closing twice is closing once', async ({ service }) => {
  await Promise.all([service.close(), service.close()]);
  await service.close();
});

const SET = '{"quantity":4711}';

test('a database file that is deleted is noticed: 503 for reads and writes, never 200', async ({ file }) => {
  const service = await start({ file });
  expect(outcome(await service.get('/inventory'))).toBe('200');
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
  expect(outcome(await service.get('/inventory'))).toBe('503 storage_unavailable');
  expect(outcome(await service.patch('/inventory/1', SET))).toBe('503 storage_unavailable');
});

test('so is one that is replaced by a copy; with the file back in its place it goes on', async ({ file }) => {
  const service = await start({ file });
  copyFileSync(file, `${file}.copy`);
  renameSync(file, `${file}.aside`);
  renameSync(`${file}.copy`, file);
  expect(outcome(await service.patch('/inventory/1', SET))).toBe('503 storage_unavailable');
  renameSync(`${file}.aside`, file);
  expect(outcome(await service.patch('/inventory/1', SET))).toBe('200');
});
