import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { seededStock } from '../../src/service/index.ts';
import { Connections } from '../../src/service/storage/postgres/connections.ts';
import { ANSWER_MS } from '../../src/service/storage/postgres/database-errors.ts';
import { postgresPets } from '../../src/service/storage/postgres/pets.ts';
import { prepare } from '../../src/service/storage/postgres/schema.ts';
import { runSql, temporaryDatabase } from '../support/postgres.ts';
import { outcome, startAt } from './support.ts';

const quantityIn = async (url: string) =>
  (await runSql(url, 'SELECT quantity::int FROM petstock_service.pets WHERE id = 1'))[0]?.quantity;

test('does not make a change that reaches the database after its deadline, and reports the refusal', async () => {
  const url = await temporaryDatabase();
  const connections = new Connections([url]);
  onTestFinished(() => connections.close());
  await prepare(connections, seededStock());
  const before = await quantityIn(url);
  const [late, inTime] = [-ANSWER_MS - 1, 0].map((ahead) => postgresPets(connections, () => Date.now() + ahead));
  await expect(late?.setQuantity(1n, 4_711n)).rejects.toThrow('too late and was not made');
  expect(await quantityIn(url)).toBe(before);
  expect(await inTime?.setQuantity(1n, 4_712n)).toMatchObject({ quantity: 4_712n });
  expect(await quantityIn(url)).toBe(4_712);
});

test('reports that a change may have been made if its database connection ended meanwhile', async () => {
  const url = await temporaryDatabase();
  const service = await startAt(Date, { database: url });
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  onTestFinished(() => other.end());
  await other.query('BEGIN; SELECT 1 FROM petstock_service.pets WHERE id = 1 FOR UPDATE');
  const changed = service.patch('/inventory/1', '{"quantity":4711}');
  const ended = `SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
  await expect.poll(() => runSql(url, ended)).toEqual([{ ended: true }]);
  const answer = await changed;
  expect([outcome(answer), answer.headers['retry-after']]).toEqual(['503 outcome_unknown', '2']);
});

test('commits synchronously even if the database turns synchronous_commit off', async () => {
  const url = await temporaryDatabase();
  await runSql(url, `ALTER DATABASE ${/test_\w+/.exec(url)?.[0]} SET synchronous_commit = off`);
  const connections = new Connections([url]);
  onTestFinished(() => connections.close());
  const setting = "SELECT current_setting('synchronous_commit') AS setting";
  expect(await connections.change(setting)).toEqual([{ setting: 'on' }]);
  expect(await connections.transact(async (client) => (await client.query(setting)).rows)).toEqual([{ setting: 'on' }]);
});
