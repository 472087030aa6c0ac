import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';
import type { TestProject } from 'vitest/node';
import { initialData, type PostgresServer, type PostgresServerOptions, startPostgres } from './postgres-server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The Unix socket at which tests ask for the shared PostgreSQL, or for initial data for a server of their own. */
    readonly postgres: string;
  }
}

/** The variable through which the projects of a run, each of which loads this module, share the path of the socket. */
const variable = 'PETSTOCK_TEST_POSTGRES_SOCKET';

/**
 * Sets up one PostgreSQL for a run of the tests. It is started when a test first asks for it, so that a run that needs
 * none does not wait for it. If it can't be started, only the tests that need it fail.
 */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const known = process.env[variable];
  if (known !== undefined) {
    project.provide('postgres', known);
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), 'petstock-pg-asked-'));
  const socket = join(folder, 'socket');
  let initial: Promise<string> | undefined;
  let started: Promise<PostgresServer> | undefined;
  const asked = createServer(async ({ url }, response) => {
    try {
      initial ??= initialData();
      if (url === '/initial') return void response.end(await initial);
      started ??= initial.then((data) => startPostgres({ initial: data }));
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
    await initial?.then((data) => rmSync(dirname(data), { recursive: true })).catch(() => {});
    rmSync(folder, { recursive: true, force: true });
  };
}

/**
 * Returns the URL of the PostgreSQL of this run, for its superuser.
 * @throws Error if there is none
 */
function serverUrl(): Promise<string> {
  return askRun('/');
}

async function askRun(path: '/' | '/initial'): Promise<string> {
  // The request has a connection of its own, because the other side may just be closing one that is kept alive.
  const asking = request({ socketPath: inject('postgres'), path, agent: false }).end();
  const [answer] = await once(asking, 'response');
  let text = '';
  for await (const chunk of answer) text += chunk;
  if (answer.statusCode !== 200) throw new Error(text);
  return text;
}

/**
 * Creates an empty database in the PostgreSQL of this run, which is removed with it.
 * @returns the URL of the database
 */
export async function newDatabase(): Promise<string> {
  const url = await serverUrl();
  const name = `test_${randomBytes(8).toString('hex')}`;
  // This takes a tenth of the CPU of a database that is also written to the log.
  await runSql(url, `CREATE DATABASE ${name} STRATEGY file_copy`);
  return databaseUrl(url, name);
}

/**
 * Creates a database that is removed when the test is finished.
 * @returns its URL
 */
export async function temporaryDatabase(): Promise<string> {
  const url = await newDatabase();
  const name = /test_[0-9a-f]+/.exec(url)?.[0];
  onTestFinished(async () => {
    await runSql(await serverUrl(), `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  });
  return url;
}

/**
 * Starts a PostgreSQL server for a test that stops it, freezes it or needs TLS. The server ends when the test is
 * finished.
 */
export async function temporaryPostgres(options?: PostgresServerOptions): Promise<PostgresServer> {
  const server = await startPostgres({ initial: await askRun('/initial'), ...options });
  onTestFinished(() => server.stop());
  return server;
}

/** Returns the URL of another database of the same server. */
export function databaseUrl(url: string, database: string): string {
  return url.replace(/\/[^/?]*\?/, `/${database}?`);
}

/**
 * Runs statements one by one, on a connection of their own.
 * @returns the rows of the last statement
 */
export async function runSql(
  url: string,
  ...statements: readonly string[]
): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  // A server that is stopped on purpose closes open connections.
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
