import { rmSync } from 'node:fs';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect, test } from 'vitest';
import { generateKey, inspectDatabase, StorageError } from '../../src/service/index.ts';
import { digestOf } from '../../src/service/keys/key.ts';
import { NOON, outcome, rate, start, temporaryFile } from './support.ts';

/** The schema as 0.1.0 made it. */
const VERSION_2 = `
  CREATE TABLE pets (
    id INTEGER PRIMARY KEY,
    quantity INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('available', 'pending', 'sold'))
  ) STRICT;
  CREATE TABLE keys (
    digest BLOB PRIMARY KEY, plan TEXT NOT NULL, minute_limit INTEGER NOT NULL, day_limit INTEGER NOT NULL,
    created_at INTEGER NOT NULL, revoked_at INTEGER, minute_start INTEGER NOT NULL DEFAULT -1,
    minute_length INTEGER NOT NULL DEFAULT 0, minute_used INTEGER NOT NULL DEFAULT 0, day_start INTEGER NOT NULL DEFAULT -1,
    day_used INTEGER NOT NULL DEFAULT 0, first_refusal_at INTEGER, strikes INTEGER NOT NULL DEFAULT 0, banned_until INTEGER
  ) STRICT, WITHOUT ROWID;
  PRAGMA application_id = ${0x70657473};
  PRAGMA user_version = 2;
  PRAGMA journal_mode = WAL;
  INSERT INTO pets VALUES (9007199254740993, 41, 'pending'), (5, -2, 'sold');`;

function oldFile(key: string): string {
  const file = temporaryFile();
  const database = new DatabaseSync(file);
  database.exec(VERSION_2);
  database
    .prepare(
      `INSERT INTO keys (digest, plan, minute_limit, day_limit, created_at, minute_start, minute_length, minute_used, day_start, day_used)
       VALUES (?, 'enterprise', 10, 100, ?, ?, 60000, 4, ?, 50)`,
    )
    .run(Buffer.from(digestOf(key), 'hex'), NOON, NOON, NOON - 43_200_000);
  database.close();
  return file;
}

function change(file: string, statement: string): void {
  const database = new DatabaseSync(file);
  database.exec(statement);
  database.close();
}

test('a file of 0.1.0 is brought to this version with its stock, keys and what they have used', async () => {
  const key = generateKey();
  const file = oldFile(key);
  expect(inspectDatabase(file)).toEqual({ pets: 2 });
  const service = await start({ file, key });
  const answer = await service.get('/inventory');
  expect(answer.text).toBe(
    '[{"petId":5,"quantity":-2,"status":"sold"},{"petId":9007199254740993,"quantity":41,"status":"pending"}]',
  );
  expect(rate(answer)).toMatch(/^10\/5\//);
  expect((await service.get('/store/orders')).text).toBe('[]');
  expect(outcome(await service.patch('/inventory/5', '{"quantity":3}'))).toBe('200');
  await service.close();
  expect((await (await start({ file, key })).get('/inventory')).text).toContain('{"petId":5,"quantity":3,');
});

test('four services that open it at once migrate it once', async () => {
  const key = generateKey();
  const file = oldFile(key);
  const services = await Promise.all(Array.from({ length: 4 }, () => start({ file, key })));
  for (const service of services) expect(outcome(await service.get('/inventory'))).toBe('200');
});

test('what fails in the middle leaves the file as it was', async () => {
  const key = generateKey();
  const file = oldFile(key);
  change(file, 'CREATE TABLE orders (something)');
  await expect(start({ file, key })).rejects.toThrow(StorageError);
  change(file, 'DROP TABLE orders');
  expect(outcome(await (await start({ file, key })).get('/inventory'))).toBe('200');
});

test('a file of a later version is refused, and not taken for a broken one that may be replaced', async () => {
  const file = oldFile(generateKey());
  change(file, 'PRAGMA user_version = 99');
  await expect(start({ file })).rejects.toMatchObject({
    name: 'StorageError',
    isDamaged: false,
    message: expect.stringMatching(/later version of petstock \(schema 99/),
  });
  rmSync(file);
});
