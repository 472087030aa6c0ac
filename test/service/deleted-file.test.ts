import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { outcome, start, temporaryFile } from './support.ts';

const SET = '{"quantity":4711}';

test('a database file that is deleted is noticed: 503 for reads and writes, never 200', async () => {
  const file = temporaryFile();
  const service = await start({ file });
  expect(outcome(await service.get('/inventory'))).toBe('200');
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
  expect(outcome(await service.get('/inventory'))).toBe('503 storage_unavailable');
  expect(outcome(await service.patch('/inventory/1', SET))).toBe('503 storage_unavailable');
});

test('so is one that is replaced by a copy; with the file back in its place it goes on', async () => {
  const file = temporaryFile();
  const service = await start({ file });
  copyFileSync(file, `${file}.copy`);
  renameSync(file, `${file}.aside`);
  renameSync(`${file}.copy`, file);
  expect(outcome(await service.patch('/inventory/1', SET))).toBe('503 storage_unavailable');
  renameSync(`${file}.aside`, file);
  expect(outcome(await service.patch('/inventory/1', SET))).toBe('200');
});
