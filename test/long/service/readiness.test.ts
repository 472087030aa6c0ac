import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { databaseWithRole } from '../../service/database-with-role.ts';
import { startProgram } from '../../support/program.ts';

// Readiness is checked first, because a committed change counts for 5 s, which could end in between.
test.for([
  ['may not update pets', 'REVOKE UPDATE ON petstock_service.pets FROM server_d'],
  ['has no rights on keys', 'REVOKE ALL ON petstock_service.keys FROM server_d'],
  ['finds no table of pets', 'ALTER TABLE petstock_service.pets RENAME TO pets_old'],
  ['finds the table of pets locked', 'BEGIN; LOCK TABLE petstock_service.pets IN EXCLUSIVE MODE'],
] as const)('reports petstock_store_up 0 after each 503 of /readyz once the role %s', async ([, statement]) => {
  const { url, key, database } = await databaseWithRole('server_d');
  const token = 'a-constant-token-of-ours';
  const env = { PETSTOCK_SERVE_DATABASE: database, PETSTOCK_SERVE_KEY: key, PETSTOCK_SERVE_ADMIN_TOKEN: token };
  const program = startProgram('sandbox serve --port 0 --admin-port 0 --json', { env });
  const { admin } = JSON.parse(await program.until('stdout', '\n'));
  const seen = async () => {
    const { status } = await fetch(`${admin}/readyz`);
    const metrics = await fetch(`${admin}/metrics`, { headers: { Authorization: `Bearer ${token}` } });
    return `${status}, ${/^petstock_store_up \d$/m.exec(await metrics.text())}`;
  };
  expect(await seen()).toBe('200, petstock_store_up 1');
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  onTestFinished(() => other.end());
  await other.query(statement);
  const unready: string[] = [];
  const look = async () => {
    const now = await seen();
    if (now.startsWith('503')) unready.push(now);
    return unready.length;
  };
  await expect.poll(look, { timeout: 60_000 }).toBe(5);
  expect(new Set(unready)).toEqual(new Set(['503, petstock_store_up 0']));
});
