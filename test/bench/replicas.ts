import { join } from 'node:path';
import { startPostgres } from '../support/postgres-server.ts';
import { buildProject } from './support/builds.ts';
import { temporaryFolder } from './support/children.ts';
import { load, readLists } from './support/load.ts';
import { type Options, type Report, table } from './support/report.ts';
import { median } from './support/rounds.ts';
import { peakMb, type Served, serve } from './support/served.ts';

/**
 * Measures changes of stock per second with SQLite, and with PostgreSQL and one or four services, then a list of many
 * pets (`--pets`) from four services at once. Needs Linux. All processes share the processors of this machine.
 */
export async function run({ isQuick, pets = 1_000_000, rounds = isQuick ? 1 : 3 }: Options): Promise<Report> {
  const { program } = await buildProject();
  const postgres = await startPostgres({ settings: ['fsync = on'], within: '/tmp' });
  try {
    const own = postgres.url.replace('/postgres?', '/template1?');
    const text = `${await throughput(program, postgres.url, rounds)}\n${await stream(program, own, pets)}`;
    return { text, goals: [] };
  } finally {
    await postgres.stop();
  }
}

const database = (url: string) => ['--database', url, '--key', 'a-key-of-the-benchmark'];

/** Sends all changes with one key, the worst case: each of them waits for the row of the key. */
async function throughput(program: string, url: string, rounds: number): Promise<string> {
  const sqlite = await serve({ program, pets: 24, store: ['--file', join(temporaryFolder(), 'one.db')] });
  const replicas: Served[] = [];
  for (let count = 0; count < 4; count++) replicas.push(await serve({ program, pets: 24, store: database(url) }));
  const targets = new Map<string, readonly Served[]>([
    ['SQLite, one service', [sqlite]],
    ['PostgreSQL, one service', replicas.slice(0, 1)],
    ['PostgreSQL, four services', replicas],
  ]);
  const seconds = 3;
  const rates = new Map<string, number[]>();
  for (let round = 0; round < rounds; round++) {
    for (const [name, servers] of targets) {
      const sent = await load(servers, 'PATCH /inventory/1', { seconds, connections: 64 / servers.length });
      rates.set(name, [...(rates.get(name) ?? []), sent / seconds]);
    }
  }
  await Promise.all([sqlite, ...replicas].map((server) => server.stop()));
  const rows = Array.from(rates, ([name, own]) => [name, median(own).toFixed(0)]);
  return table([['PATCH /inventory/1, 64 connections', 'per second'], ...rows]);
}

/** Lists many pets from four services at once, in a database of their own. */
async function stream(program: string, url: string, pets: number): Promise<string> {
  const seeding = performance.now();
  const servers = [await serve({ program, pets, store: database(url) })];
  const startSeconds = (performance.now() - seeding) / 1000;
  while (servers.length < 4) servers.push(await serve({ program, pets, store: database(url) }));
  const { seconds, sizes } = await readLists(servers);
  if (new Set(sizes).size !== 1) throw new Error('the lists differ in length');
  const peak = Math.max(...servers.map(({ pid }) => peakMb(pid)));
  await Promise.all(servers.map((server) => server.stop()));
  const head = ['pets', 'first start s', 'four lists at once s', 'list MB', 'peak MB of a service'];
  const figures = [startSeconds, seconds, (sizes[0] ?? 0) / 1e6, peak];
  return table([head, [String(pets), ...figures.map((figure) => figure.toFixed(1))]]);
}
