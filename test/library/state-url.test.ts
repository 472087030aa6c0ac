import { readdirSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { UnavailableError } from '../../src/library/index.ts';
import { laterDatabase } from '../support/later-database.ts';
import { temporaryDatabase } from '../support/postgres.ts';
import { temporaryFolders } from '../support/shop.ts';
import { clientOf, type OwnOptions, open as openWith } from './rig.ts';

/** The first test also starts the server. */
vi.setConfig({ testTimeout: 60_000 });

const open = (own: OwnOptions) => openWith({ stateFolder: undefined, ...own });

test('records a run in the history of everyone who shares the database', async () => {
  const stateUrl = await temporaryDatabase();
  const { shop, client } = await open({ stateUrl });
  const report = await client.apply([{ petId: 1, quantity: 15 }]);
  expect(report).toMatchObject({ error: undefined, counts: { applied: 1 } });
  await client.close();
  const env = { PETSTOCK_STATE_URL: stateUrl };
  expect(await shop.json('history list --json', { env })).toMatchObject([{ run: report.run }]);
  expect(await shop.run(`undo ${report.run} --yes`, { env })).toMatchObject({ code: 0 });
  expect(await shop.json('history list --json')).toEqual([]);
});

const unreachable = 'postgresql://ann:secret@127.0.0.1:1/pets';

test("fails each request if the database can't be reached, and hides the database password", async () => {
  const { shop, client } = await open({ stateUrl: unreachable });
  const error = await client.probe().catch((reason) => reason);
  expect(error).toBeInstanceOf(UnavailableError);
  expect(error.message).not.toContain('secret');
  expect(shop.service.journal()).toEqual([]);
});

test("reads with the limits in a folder, but does not write, while the database can't be reached", async () => {
  const warnings: string[] = [];
  const { shop, client } = await openWith({ stateUrl: unreachable, onWarning: (line) => warnings.push(line) });
  await client.probe();
  expect(warnings).toEqual([expect.stringContaining('uses only the rate limits known on this machine')]);
  await expect(client.apply([{ petId: 1, quantity: 15 }])).rejects.toThrow("can't be reached");
  expect(shop.service.journal().filter(({ method }) => method === 'PATCH')).toEqual([]);
});

test('saves a gate reported by another machine to a file on this one', async () => {
  const stateUrl = await temporaryDatabase();
  const { shop, client: other } = await open({ stateUrl });
  const { state: runtime } = await temporaryFolders();
  await other.limits();
  vi.stubEnv('PETSTOCK_RUNTIME_DIR', runtime);
  const client = clientOf(shop, { stateUrl, maxWait: 0 });
  shop.service.setFaults(['GET /inventory:first=1:status=429:retry-after=120']);
  await expect(other.probe().finally(() => other.close())).rejects.toBeDefined();
  await expect(client.probe()).rejects.toMatchObject({ kind: 'rate-limited' });
  await client.close();
  vi.unstubAllEnvs();
  expect(readdirSync(runtime).filter((name) => name.startsWith('told-'))).toHaveLength(1);
});

test('obeys gates and records writes in a database that becomes reachable later', async () => {
  const database = await temporaryDatabase();
  const { stateUrl, listen } = await laterDatabase(database);
  const { shop, client: other } = await open({ stateUrl: database, maxWait: 0 });
  const { state: stateFolder } = await temporaryFolders();
  vi.stubEnv('PETSTOCK_RUNTIME_DIR', (await temporaryFolders()).state);
  const client = clientOf(shop, { stateUrl, stateFolder, maxWait: 0 });
  await expect(client.adjust(1, 1)).rejects.toThrow("can't be reached");
  await client.probe();
  vi.stubEnv('PETSTOCK_RUNTIME_DIR', (await temporaryFolders()).state);
  await listen();
  await shop.clock.sleep(60_000);
  await client.adjust(1, 1);
  shop.service.setFaults(['GET /inventory:first=1:status=429:retry-after=120']);
  await expect(other.probe()).rejects.toMatchObject({ status: 429 });
  vi.unstubAllEnvs();
  await expect(client.probe()).rejects.toMatchObject({ kind: 'rate-limited', status: undefined });
  await Promise.all([client.close(), other.close()]);
  const env = { PETSTOCK_STATE_URL: database };
  expect(await shop.json('history list --json', { env })).toHaveLength(1);
});
