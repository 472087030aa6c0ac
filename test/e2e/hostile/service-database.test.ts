import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startAt } from '../../service/support.ts';
import { databaseUrl, runSql, temporaryDatabase, temporaryPostgres } from '../../support/postgres.ts';
import { transactionPooler } from '../../support/transaction-pooler.ts';

const start = (database: string) => startAt(Date, { database, adminPort: 0, testControls: false });

const as = (url: string, role: string) => url.replace(/\/\/[^@]*@/, `//${role}@`);

/** Returns statements that create a trap for each function that the service might look up. */
const traps = (trap: string) =>
  [
    'max(bytea)',
    'clock_timestamp()',
    'pg_backend_pid()',
    'current_setting(text)',
    'to_timestamp(float8)',
    'floor(numeric)',
    'encode(bytea, text)',
    'unnest(bigint[])',
    'pg_advisory_xact_lock(bigint)',
    'set_config(text, text, boolean)',
  ].map((name) => `CREATE FUNCTION public.${name} RETURNS text LANGUAGE plpgsql AS $$ ${trap} $$`);

test('neither runs functions that another role creates in public nor lets that role read keys', async () => {
  const url = await temporaryDatabase();
  const trap = "BEGIN INSERT INTO public.caught VALUES (current_user); RETURN 'x'; END";
  await runSql(
    url,
    'DROP ROLE IF EXISTS mallory',
    'CREATE ROLE mallory LOGIN',
    'GRANT ALL ON SCHEMA public TO mallory',
    `ALTER DATABASE ${/test_\w+/.exec(url)?.[0]} SET search_path = public, pg_catalog`,
    `ALTER ROLE postgres IN DATABASE ${/test_\w+/.exec(url)?.[0]} SET search_path = public, pg_catalog`,
  );
  onTestFinished(async () => void (await runSql(url, 'DROP OWNED BY mallory', 'DROP ROLE mallory')));
  const mallory = as(url, 'mallory');
  await runSql(
    mallory,
    'SET search_path = public',
    'CREATE TABLE public.caught (who text)',
    'GRANT ALL ON public.caught TO PUBLIC',
  );
  for (const statement of traps(trap)) await runSql(mallory, 'SET search_path = pg_catalog', statement);
  for (const [operator, type] of [
    ['=', 'bigint'],
    ['=', 'bytea'],
    ['<', 'timestamptz'],
    ['||', 'text'],
  ]) {
    const name = `public.trap_${type}_${operator === '||' ? 'c' : operator === '=' ? 'e' : 'l'}`;
    const result = operator === '||' ? 'text' : 'boolean';
    await runSql(
      mallory,
      `CREATE FUNCTION ${name}(${type}, ${type}) RETURNS ${result} LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.caught VALUES (current_user); RETURN NULL; END $$`,
      `CREATE OPERATOR public.${operator} (LEFTARG = ${type}, RIGHTARG = ${type}, FUNCTION = ${name})`,
    );
  }
  const service = await start(url);
  expect(await service.patch('/inventory/1', '{"quantity":7}')).toMatchObject({ status: 200 });
  for (const path of ['/inventory', '/pets/1', '/store/orders']) {
    expect(await service.get(path)).toMatchObject({ status: 200 });
  }
  await service.controls.setPet(5n, { status: 'sold' });
  await service.controls.setUsage(service.keyId, { minute: 3n }, 60_000);
  await service.advanceClock(60);
  await service.controls.reset();
  expect(await service.admin('GET', '/readyz')).toMatchObject({ status: 200 });
  expect(await runSql(url, 'SELECT * FROM public.caught')).toEqual([]);
  await expect(runSql(mallory, 'SELECT * FROM petstock_service.keys')).rejects.toThrow(/permission denied/);
});

test('serves with the documented roles, of which only the owner can create, drop or alter tables', async () => {
  const server = await temporaryPostgres();
  const document = readFileSync(join(import.meta.dirname, '../../../docs/hosting/roles.sql'), 'utf8');
  const [before = '', after = ''] = document.split(/^-- 2\..*$/m);
  const statements = (sql: string) =>
    sql
      .replace(/^--.*$/gm, '')
      .split(';')
      .map((one) => one.trim())
      .filter(Boolean);
  await runSql(server.url, ...statements(before));
  const url = databaseUrl(server.url, 'staging');
  const [owner, staging] = [as(url, 'staging_owner'), as(url, 'staging')];
  await expect(start(staging)).rejects.toThrow(
    /permission denied for database staging\. .*staging_owner|permission denied .*owner of the schema creates/s,
  );
  await (await start(owner)).close();
  // A missing right is reported with the statements that grant it.
  await expect(start(staging)).rejects.toThrow(/GRANT USAGE ON SCHEMA petstock_service TO staging; GRANT SELECT/);
  await runSql(owner, ...statements(after));
  const service = await start(staging);
  expect(await service.patch('/inventory/1', '{"quantity":7}')).toMatchObject({ status: 200 });
  expect(await service.get('/inventory')).toMatchObject({ status: 200 });
  await service.controls.reset();
  expect(await service.admin('GET', '/readyz')).toMatchObject({ status: 200 });
  for (const statement of [
    'DROP TABLE petstock_service.pets',
    'ALTER TABLE petstock_service.keys ADD COLUMN mine text',
    'TRUNCATE petstock_service.keys',
    'DELETE FROM petstock_service.keys',
    'CREATE TABLE petstock_service.mine (a int)',
  ]) {
    await expect(runSql(staging, statement)).rejects.toThrow(/permission denied|must be owner/);
  }
  await expect(runSql(as(url, 'nobody_else'), 'SELECT 1')).rejects.toThrow();
});

test('refuses a pooler in transaction mode before it runs any other statement', async () => {
  const { url, statements } = await transactionPooler();
  await expect(start(url)).rejects.toThrow(/pooler in transaction mode .*session mode/);
  const asks = 'SELECT pg_catalog.pg_backend_pid() AS pid';
  expect(statements).toEqual([asks, 'BEGIN', asks]);
});
