import { describe, expect } from 'vitest';
import { sqlite } from '../../src/shared/sqlite-engine.ts';
import { runSql, temporaryDatabase } from '../support/postgres.ts';
import { databaseWithRole } from './database-with-role.ts';
import { outcome, start, startAt, test } from './support.ts';

/** Returns a clock with the real time, which a test can move ahead. */
function movableClock() {
  let ahead = 0;
  return {
    now: () => Date.now() + ahead,
    advance: (ms: number) => {
      ahead += ms;
    },
  };
}

describe('/readyz', { timeout: 60_000 }, () => {
  test.for([
    ['may not update pets', 'REVOKE UPDATE ON petstock_service.pets FROM server_a'],
    ['may not update keys', 'REVOKE UPDATE ON petstock_service.keys FROM server_a'],
    ['finds no table of pets', 'ALTER TABLE petstock_service.pets RENAME TO pets_old'],
    ["can't write", `ALTER TABLE petstock_service.pets ADD CONSTRAINT none CHECK (quantity IS NULL) NOT VALID`],
  ] as const)('fails /readyz once the role %s', async ([, statement]) => {
    const { url, key, database } = await databaseWithRole('server_a');
    const clock = movableClock();
    const service = await startAt(clock, { database, key, adminPort: 0, testControls: false });
    const ready = async () => outcome(await service.admin('GET', '/readyz', undefined, { key: null }));
    expect(await ready()).toBe('200');
    await runSql(url, statement);
    await service.patch('/inventory/1', '{"quantity":5}');
    // This request commits a charge, which proves nothing about the stock.
    await service.get('/store/orders');
    expect(await ready()).toBe('503 store_unavailable');
    expect((await service.admin('GET', '/metrics')).text).toMatch(/^petstock_store_up 0$/m);
    await expect(startAt(Date, { database, key })).rejects.toThrow(/permission denied|does not exist|violates/);
  });

  test.for([
    ['may not update pets', 'REVOKE UPDATE ON petstock_service.pets FROM server_c'],
    ['has no rights on keys', 'REVOKE ALL ON petstock_service.keys FROM server_c'],
    ['finds no table of pets', 'ALTER TABLE petstock_service.pets RENAME TO pets_old'],
  ] as const)(
    'fails /readyz and sets petstock_store_up to 0 once the role %s, even with probes only',
    async ([, statement]) => {
      const { url, key, database } = await databaseWithRole('server_c');
      const clock = movableClock();
      const service = await startAt(clock, { database, key, adminPort: 0, testControls: false });
      const seen = async () => [
        outcome(await service.admin('GET', '/readyz', undefined, { key: null })),
        /^petstock_store_up \d$/m.exec((await service.admin('GET', '/metrics')).text)?.[0],
      ];
      expect(await seen()).toEqual(['200', 'petstock_store_up 1']);
      await runSql(url, statement);
      clock.advance(6_000);
      expect(await seen()).toEqual(['503 store_unavailable', 'petstock_store_up 0']);
      expect(await seen()).toEqual(['503 store_unavailable', 'petstock_store_up 0']);
    },
  );

  test('fails /readyz while the table of pets is locked, but not while a single pet is locked', async () => {
    const { url, key, database } = await databaseWithRole('server_b');
    const clock = movableClock();
    const service = await startAt(clock, { database, key, adminPort: 0, testControls: false });
    const ready = async () => {
      clock.advance(6_000);
      return outcome(await service.admin('GET', '/readyz', undefined, { key: null }));
    };
    const { Client } = (await import('pg')).default;
    const other = new Client({ connectionString: url });
    await other.connect();
    await other.query('BEGIN; SELECT 1 FROM petstock_service.pets WHERE id = 1 FOR UPDATE');
    expect(await ready()).toBe('200');
    await other.query('LOCK TABLE petstock_service.pets IN EXCLUSIVE MODE');
    // The start and the probe each wait 5 s for the lock.
    const starting = expect(startAt(Date, { database, key })).rejects.toThrow('lock timeout');
    expect(await ready()).toBe('503 store_unavailable');
    expect((await service.admin('GET', '/metrics')).text).toMatch(/^petstock_store_up 0$/m);
    await starting;
    await other.query('ROLLBACK');
    await other.end();
    await expect.poll(ready).toBe('200');
  });

  test('fails /readyz while changes to the file fail, even if lists are still answered', async ({ file }) => {
    const service = await start({ file, adminPort: 0, testControls: false });
    const ready = async () => outcome(await service.admin('GET', '/readyz', undefined, { key: null }));
    expect(await ready()).toBe('200');
    const other = new (sqlite().DatabaseSync)(file);
    other.exec("CREATE TRIGGER never BEFORE UPDATE ON pets BEGIN SELECT raise(FAIL, 'no'); END");
    expect(outcome(await service.patch('/inventory/1', '{"quantity":5}'))).toBe('503 storage_unavailable');
    expect(outcome(await service.get('/inventory'))).toBe('200');
    expect(await ready()).toBe('503 store_unavailable');
    other.exec('DROP TRIGGER never');
    other.close();
    expect(await ready()).toBe('200');
  });
});

test('attempts at most one change to the storage in 5 s, however many probes come', async () => {
  const database = await temporaryDatabase();
  const clock = movableClock();
  const service = await startAt(clock, { database, adminPort: 0, testControls: false });
  const written = async () =>
    Number((await runSql(database, 'SELECT xmin::text FROM petstock_service.service'))[0]?.xmin);
  const first = await written();
  const probe = () => service.admin('GET', '/readyz', undefined, { key: null });
  await Promise.all(Array.from({ length: 20 }, probe));
  for (let count = 0; count < 5; count++) await probe();
  expect(await written()).toBe(first);
  clock.advance(6_000);
  await Promise.all(Array.from({ length: 20 }, probe));
  expect(await written()).not.toBe(first);
});
