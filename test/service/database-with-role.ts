import { onTestFinished } from 'vitest';
import { adoptKey, generateKey, openStorage } from '../../src/service/index.ts';
import { runSql, temporaryDatabase } from '../support/postgres.ts';

/** Creates a database with tables of `owner`, which another role with this name can use. */
export async function databaseWithRole(role: string) {
  const url = await temporaryDatabase();
  const key = generateKey();
  const storage = await openStorage({ database: url, clock: Date });
  await adoptKey(storage, key, 'business', { keepsKnown: false });
  await storage.close();
  await runSql(
    url,
    `CREATE ROLE ${role} LOGIN`,
    `GRANT USAGE ON SCHEMA petstock_service TO ${role}`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA petstock_service TO ${role}`,
  );
  onTestFinished(async () => void (await runSql(url, `DROP OWNED BY ${role}`, `DROP ROLE ${role}`)));
  return { url, key, database: url.replace(/\/\/[^@]*@/, `//${role}@`) };
}
