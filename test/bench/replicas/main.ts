import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { startPostgres } from '../../support/postgres-server.ts';
import { type Server, startServer } from '../service/servers.ts';
import { startSlowReader } from '../service/slow-reader.ts';
import { buildProject } from '../support/build.ts';
import { median, table } from '../support/table.ts';

const execute = promisify(execFile);
const lua = fileURLToPath(new URL('../service/patch.lua', import.meta.url));

/** One change of stock as the service does it, without the service: the row of a key and that of a pet, two commits. */
const pgbenchScript = `
BEGIN;
SELECT * FROM petstock_service.keys ORDER BY digest LIMIT 1 FOR NO KEY UPDATE;
UPDATE petstock_service.keys SET minute_used = minute_used + 1 WHERE digest = (SELECT digest FROM petstock_service.keys ORDER BY digest LIMIT 1);
COMMIT;
UPDATE petstock_service.pets SET quantity = quantity + 1 WHERE id = 1 RETURNING id, quantity, status;
`;

/**
 * `npm run bench -- replicas [--quick] [--pets 1000000]`: changes of stock per second over SQLite, over PostgreSQL with one
 * service and with four on it, and by pgbench alone; then a list of many pets from four services at once. Linux; needs wrk
 * and pgbench (Debian: `apt-get install wrk postgresql`). Everything is on one machine, and shares its processors.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { quick: { type: 'boolean', default: false }, pets: { type: 'string', default: '1000000' } },
  });
  const build = await buildProject({ serve: 'test/bench/service/serve.ts' });
  const folder = mkdtempSync(join(tmpdir(), 'petstock-bench-'));
  const postgres = await startPostgres({ settings: ['fsync = on'] });
  try {
    const bench = { script: build.entry('serve'), folder, database: postgres.url, socket: postgres.folder };
    const rounds = values.quick ? { seconds: 1, rounds: 1 } : { seconds: 3, rounds: 3 };
    process.stdout.write(`${await throughput(bench, rounds)}\n${await stream(bench, Number(values.pets))}`);
  } finally {
    await postgres.stop();
    rmSync(folder, { recursive: true });
    build.remove();
  }
}

interface Bench {
  readonly script: string;
  readonly folder: string;
  readonly database: string;
  readonly socket: string;
}

async function throughput(bench: Bench, { seconds, rounds }: { readonly seconds: number; readonly rounds: number }) {
  const sqlite = await startServer(bench.script, '24', join(bench.folder, 'one.db'));
  const replicas: Server[] = [];
  for (let count = 0; count < 4; count++) replicas.push(await startServer(bench.script, '24', bench.database));
  const key = replicas[0]?.key ?? '';
  const loads: Readonly<Record<string, () => Promise<number>>> = {
    'SQLite, one service': () => load([sqlite], sqlite.key, seconds),
    'PostgreSQL, one service': () => load(replicas.slice(0, 1), key, seconds),
    'PostgreSQL, four services': () => load(replicas, key, seconds),
    'pgbench, one client': () => pgbench(bench, 1, seconds),
    'pgbench, 64 clients': () => pgbench(bench, 64, seconds),
  };
  const measured = new Map(Object.keys(loads).map((name) => [name, [] as number[]]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, measure] of Object.entries(loads)) measured.get(name)?.push(await measure());
  }
  await Promise.all([sqlite, ...replicas].map((server) => server.stop()));
  const rate = (name: string) => median(measured.get(name) ?? []);
  const rows = Object.keys(loads).map((name) => [
    name,
    rate(name).toFixed(0),
    (rate(name) / rate('SQLite, one service')).toFixed(2),
  ]);
  return table([['PATCH /inventory/1, 64 connections', 'per second', 'of SQLite'], ...rows]);
}

/** All with one key, which is the worst that can be: every change waits for the row of the key. */
async function load(servers: readonly Server[], key: string, seconds: number): Promise<number> {
  const each = String(64 / servers.length);
  const reports = await Promise.all(
    servers.map(({ url }) =>
      execute('wrk', [
        '-t1',
        `-c${each}`,
        `-d${seconds}s`,
        '-H',
        `Authorization: Bearer ${key}`,
        '-s',
        lua,
        `${url}/inventory/1`,
      ]),
    ),
  );
  return reports.reduce((sum, { stdout }) => {
    if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(stdout);
    return sum + Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]);
  }, 0);
}

async function pgbench({ folder, socket }: Bench, clients: number, seconds: number): Promise<number> {
  const script = join(folder, 'patch.sql');
  writeFileSync(script, pgbenchScript);
  const args = ['-n', '-M', 'prepared', '-f', script, '-c', `${clients}`, '-T', `${seconds}`];
  const { stdout } = await execute('pgbench', [...args, '-h', socket, '-U', 'postgres', 'postgres']);
  return Number(/tps = ([\d.]+)/.exec(stdout)?.[1]);
}

/** Lists of many pets from four services at once, over a database of its own. */
async function stream({ script, database }: Bench, pets: number): Promise<string> {
  const seeding = performance.now();
  const own = `${database.replace('/postgres?', '/template1?')}`;
  const servers = [await startServer(script, String(pets), own)];
  const startSeconds = (performance.now() - seeding) / 1000;
  while (servers.length < 4) servers.push(await startServer(script, String(pets), own));
  const key = servers[0]?.key ?? '';
  const slow = await startSlowReader(servers[0]?.url ?? '', key);
  const listing = performance.now();
  const sizes = await Promise.all(servers.map(async ({ url }) => (await startSlowReader(url, key)).finish()));
  const listSeconds = (performance.now() - listing) / 1000;
  sizes.push(await slow.finish());
  if (new Set(sizes).size !== 1) throw new Error('the lists differ in length');
  const peak = Math.max(...servers.map((server) => server.peakMb()));
  await Promise.all(servers.map((server) => server.stop()));
  const head = ['pets', 'first start s', 'four lists at once s', 'list MB', 'peak MB of a service'];
  const size = ((sizes[0] ?? 0) / 1e6).toFixed(1);
  return table([head, [String(pets), startSeconds.toFixed(1), listSeconds.toFixed(1), size, peak.toFixed(0)]]);
}
