import { join } from 'node:path';
import { buildProject } from './support/builds.ts';
import { firstLine, start, temporaryFolder } from './support/children.ts';
import { load, readList, readLists, type Target } from './support/load.ts';
import { goalOf, megabytes, type Options, type Report, table } from './support/report.ts';
import { median } from './support/rounds.ts';
import { cpuSeconds, peakMb, serve } from './support/served.ts';

/**
 * Measures the service's CPU time per request beside a bare node:http server that sends a constant, in turns; then its
 * time and memory with 1,000 pets and with a million (`--pets`). Needs Linux.
 */
export async function run({ isQuick, pets = 1_000_000, rounds = isQuick ? 1 : 3 }: Options): Promise<Report> {
  const { program } = await buildProject();
  const text = await throughput(program, rounds, isQuick ? 1 : 2);
  const [few, many] = [await scale(program, 1000), await scale(program, pets)];
  const head = ['pets', 'start s', 'two lists s', 'list MB', 'longest PATCH ms', 'peak MB'];
  const more = many.peak - few.peak;
  const goal = goalOf('memory of the sandbox with 1,000,000 pets', 'within 40 MB of that with 1,000', [
    megabytes(more, 40, 'more'),
  ]);
  return { text: `${text}\n${table([head, few.row, many.row])}`, goals: pets === 1_000_000 ? [goal] : [] };
}

const bareScript = `const body = '[{"petId":1,"quantity":12,"status":"available"}]';
const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length };
const server = require('node:http').createServer((request, response) => {
  request.resume();
  response.writeHead(200, headers).end(body);
});
server.listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port));`;

async function throughput(program: string, rounds: number, seconds: number): Promise<string> {
  const child = start(process.execPath, ['-e', bareScript]);
  const bare = { url: await firstLine(child, 20), key: '', pid: child.pid ?? 0 };
  const service = await serve({ program, pets: 1, store: ['--file', join(temporaryFolder(), 'throughput.db')] });
  const paths = ['bare', '/inventory', '/pets/1', 'PATCH /inventory/1'];
  const samples: { readonly path: string; readonly rate: number; readonly cost: number }[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    // The first round is the warm-up.
    if (round === 1) samples.length = 0;
    for (const path of paths) {
      const target = path === 'bare' ? bare : service;
      const before = cpuSeconds(target.pid);
      const requests = await load([target], path === 'bare' ? '/' : path, { seconds, connections: 64 });
      samples.push({ path, rate: requests / seconds, cost: ((cpuSeconds(target.pid) - before) * 1e6) / requests });
    }
  }
  await service.stop();
  const of = (path: string, what: 'rate' | 'cost') =>
    median(samples.filter((sample) => sample.path === path).map((sample) => sample[what]));
  const rows = paths.map((path) => {
    const cost = of(path, 'cost');
    return [path, of(path, 'rate').toFixed(0), cost.toFixed(1), (cost / of('bare', 'cost')).toFixed(2)];
  });
  return table([['64 connections', 'requests/s', 'CPU us/request', 'of bare'], ...rows]);
}

/**
 * Measures a service with this many pets: its start, two lists at once, and 500 updates during a third list, while a
 * slow reader has stopped in the middle of another. Returns the row of the table, and the peak memory in MB.
 */
async function scale(program: string, pets: number): Promise<{ readonly row: string[]; readonly peak: number }> {
  const seeding = performance.now();
  const served = await serve({ program, pets, store: ['--file', join(temporaryFolder(), 'pets.db')] });
  const startSeconds = (performance.now() - seeding) / 1000;
  const waits: number[] = [];
  const lists = await readLists([served, served], async () => {
    const busy = readList(served);
    for (let update = 0; update < 500; update++) waits.push(await patch(served, 1 + (update % 24)));
    await busy;
  });
  if (new Set(lists.sizes.map((size) => Math.round(size / 1e4))).size !== 1)
    throw new Error('the lists differ in length');
  const peak = peakMb(served.pid);
  await served.stop();
  const figures = [startSeconds, lists.seconds, Math.max(...lists.sizes) / 1e6, Math.max(...waits), peak];
  return { peak, row: [String(pets), ...figures.map((figure) => figure.toFixed(1))] };
}

/** Updates a pet. Returns how long that took, in milliseconds. */
async function patch({ url, key }: Target, petId: number): Promise<number> {
  const began = performance.now();
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const response = await fetch(`${url}/inventory/${petId}`, { method: 'PATCH', headers, body: '{"quantity":5}' });
  if (!response.ok) throw new Error(`PATCH was answered with ${response.status}`);
  await response.arrayBuffer();
  return performance.now() - began;
}
