import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median, table } from '../support/table.ts';
import { type Server, startServer } from './servers.ts';

interface Sample {
  /** Requests per second. */
  readonly rate: number;
  /** Microseconds of the server's processor time for each request: steadier than the rate on a busy machine. */
  readonly cpu: number;
}

const goals: Readonly<Record<string, string>> = { 'GET /inventory, 1 pet': '0.50', 'PATCH /inventory/1': '0.25' };

/** Requests per second beside a bare node:http server that answers a constant, in turns. @returns a table */
export async function throughput(
  { script, folder }: { readonly script: string; readonly folder: string },
  { seconds, rounds }: { readonly seconds: number; readonly rounds: number },
): Promise<string> {
  const bare = await startServer(script, 'bare');
  const service = await startServer(script, '1', join(folder, 'throughput.db'));
  const lua = fileURLToPath(new URL('patch.lua', import.meta.url));
  const loads: Readonly<Record<string, () => Sample>> = {
    bare: () => load(bare, seconds, '/'),
    'GET /inventory, 1 pet': () => load(service, seconds, '/inventory'),
    'GET /pets/1': () => load(service, seconds, '/pets/1'),
    'PATCH /inventory/1': () => load(service, seconds, '/inventory/1', '-s', lua),
  };
  const measured = new Map(Object.keys(loads).map((name) => [name, [] as Sample[]]));
  for (const run of Object.values(loads)) run();
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of Object.entries(loads)) measured.get(name)?.push(run());
  }
  await Promise.all([bare.stop(), service.stop()]);

  const middle = (name: string, of: keyof Sample) => median((measured.get(name) ?? []).map((sample) => sample[of]));
  const rows = Object.keys(loads).map((name) => [
    name,
    middle(name, 'rate').toFixed(0),
    (middle(name, 'rate') / middle('bare', 'rate')).toFixed(2),
    goals[name] ?? '-',
    middle(name, 'cpu').toFixed(1),
    (middle('bare', 'cpu') / middle(name, 'cpu')).toFixed(2),
  ]);
  return table([['64 connections', 'requests/s', 'of bare', 'goal', 'CPU us/request', 'of bare'], ...rows]);
}

/** @throws when an answer was no success, or when there is no wrk */
function load({ url, key, cpuSeconds }: Server, seconds: number, path: string, ...more: readonly string[]): Sample {
  const before = cpuSeconds();
  const args = ['-t1', '-c64', `-d${seconds}s`, '-H', `Authorization: Bearer ${key}`, ...more, url + path];
  const report = execFileSync('wrk', args, { encoding: 'utf8' });
  if (/Non-2xx|Socket errors/.test(report)) throw new Error(report);
  const requests = Number(/(\d+) requests in/.exec(report)?.[1]);
  return {
    rate: Number(/Requests\/sec:\s+([\d.]+)/.exec(report)?.[1]),
    cpu: ((cpuSeconds() - before) * 1e6) / requests,
  };
}
