import { onTestFinished } from 'vitest';
import { adoptKey, generateKey, openStorage } from '../../src/service/index.ts';
import { runSql, temporaryDatabase } from '../support/postgres.ts';

/** A database with tables that `owner` has made, and how another role of this name reaches it. */
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
