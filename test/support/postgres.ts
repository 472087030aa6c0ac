import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { inject, onTestFinished, TestRunner } from 'vitest';
import type { TestProject } from 'vitest/node';
import { type PostgresServer, startPostgres } from './postgres-server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The Unix socket at which a test asks for the PostgreSQL of this run. */
    readonly postgres: string;
  }
}

/** Holds the socket for the projects of one run, which have a module of this name each. */
const variable = 'PETSTOCK_TEST_POSTGRES_SOCKET';

/**
 * One PostgreSQL a run of the tests, started when a test first asks for it: a run that needs none does not wait for it. A run
 * where it can't be had fails in the tests that need it.
 */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const known = process.env[variable];
  if (known !== undefined) {
    project.provide('postgres', known);
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), 'petstock-pg-asked-'));
  const socket = join(folder, 'socket');
  let started: Promise<PostgresServer> | undefined;
  const asked = createServer(async (_request, response) => {
    started ??= startPostgres();
    try {
      response.end((await started).url);
    } catch (error) {
      response.writeHead(500).end((error as Error).message);
    }
  });
  asked.listen(socket);
  await once(asked, 'listening');
  process.env[variable] = socket;
  project.provide('postgres', socket);
  return async () => {
    delete process.env[variable];
    asked.close();
    asked.closeAllConnections();
    await started?.then((server) => server.stop()).catch(() => {});
    rmSync(folder, { recursive: true, force: true });
  };
}

/** Skips the test that asks, in runs of mutants: a database waits on real clocks, and a mutant on every test that reaches it. */
function skipWithoutPostgres(): void {
  if (process.env.PETSTOCK_TEST_POSTGRES === 'none') TestRunner.getCurrentTest()?.context.skip();
}

/** @returns the address of the PostgreSQL of this run, as its superuser. @throws where none can be had */
async function serverUrl(): Promise<string> {
  skipWithoutPostgres();
  // With a connection of its own: one that is kept alive may be closed by the other side at this moment.
  const asking = request({ socketPath: inject('postgres'), path: '/', agent: false }).end();
  const [answer] = await once(asking, 'response');
  let text = '';
  for await (const chunk of answer) text += chunk;
  if (answer.statusCode !== 200) throw new Error(text);
  return text;
}

/** An empty database in the PostgreSQL of this run, gone with it. @returns its address */
export async function newDatabase(): Promise<string> {
  const url = await serverUrl();
  const name = `test_${randomBytes(8).toString('hex')}`;
  // A tenth of the CPU of a database that is written to the log, too.
  await runSql(url, `CREATE DATABASE ${name} STRATEGY file_copy`);
  return databaseUrl(url, name);
}

/** The same, gone when the test is finished. */
export async function temporaryDatabase(): Promise<string> {
  const url = await newDatabase();
  const name = /test_[0-9a-f]+/.exec(url)?.[0];
  onTestFinished(async () => {
    await runSql(await serverUrl(), `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  });
  return url;
}

/** A PostgreSQL of its own for a test that stops it, freezes it or asks for TLS; gone when the test is finished. */
export async function temporaryPostgres(...options: Parameters<typeof startPostgres>): Promise<PostgresServer> {
  skipWithoutPostgres();
  const server = await startPostgres(...options);
  onTestFinished(() => server.stop());
  return server;
}

/** @returns the address of another database of the same server */
export function databaseUrl(url: string, database: string): string {
  return url.replace(/\/[^/?]*\?/, `/${database}?`);
}

/** Runs statements one by one, on a connection of their own. @returns the rows of the last one */
export async function runSql(
  url: string,
  ...statements: readonly string[]
): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  // A server that is stopped on purpose ends what is open.
  client.on('error', () => {});
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) ({ rows } = await client.query(statement));
    return rows;
  } finally {
    await client.end();
  }
}
