import { expect, it, vi } from 'vitest';
import { runSql, temporaryDatabase, temporaryPostgres } from './postgres.ts';

/** The first test starts the server. */
vi.setConfig({ testTimeout: 60_000 });

it('gives each test a database of its own', async () => {
  const [one, other] = [await temporaryDatabase(), await temporaryDatabase()];
  await runSql(one, 'CREATE TABLE birds (name text)');
  const tables = `SELECT count(*)::int AS count FROM pg_tables WHERE tablename = 'birds'`;
  expect([await runSql(one, tables), await runSql(other, tables)]).toEqual([[{ count: 1 }], [{ count: 0 }]]);
});

it('comes back with what was committed after it was killed', async () => {
  const server = await temporaryPostgres();
  await runSql(server.url, 'CREATE TABLE birds (name text)', `INSERT INTO birds VALUES ('wren')`);
  await server.kill();
  await expect(runSql(server.url, 'SELECT 1')).rejects.toThrow();
  await server.restart();
  expect(await runSql(server.url, 'SELECT name FROM birds')).toEqual([{ name: 'wren' }]);
});
