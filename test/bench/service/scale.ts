import { join } from 'node:path';
import { table } from '../support/table.ts';
import { startServer } from './servers.ts';
import { startSlowReader } from './slow-reader.ts';

/**
 * Time to seed, and most memory of the service with few pets and with many, while a slow reader holds one list, others
 * read the whole of it, and updates go on. @returns a table
 */
export async function scale(server: { readonly script: string; readonly folder: string }, many: number) {
  const [few, lots] = [await measure(server, 1_000), await measure(server, many)];
  const head = ['pets', 'start s', 'two lists s', 'list MB', 'longest PATCH ms', 'peak MB'];
  const more = (lots.peakMb - few.peakMb).toFixed(1);
  return `${table([head, few.row, lots.row])}memory: ${more} MB more; goal: at most 40\n`;
}

async function measure({ script, folder }: { readonly script: string; readonly folder: string }, pets: number) {
  const seeding = performance.now();
  const { url, key, peakMb: peakNow, stop } = await startServer(script, String(pets), join(folder, `${pets}.db`));
  const startSeconds = (performance.now() - seeding) / 1000;
  const slow = await startSlowReader(url, key);

  const listing = performance.now();
  const lists = await Promise.all([1, 2].map(async () => (await startSlowReader(url, key)).finish()));
  const listSeconds = (performance.now() - listing) / 1000;

  const waits: number[] = [];
  const busy = startSlowReader(url, key).then((reader) => reader.finish());
  for (let update = 0; update < 500; update++) waits.push(await patch(url, key, 1 + (update % pets)));
  lists.push(await busy, await slow.finish());
  if (new Set(lists.map((size) => Math.round(size / 1e4))).size !== 1) throw new Error('the lists differ in length');
  const peakMb = peakNow();
  await stop();
  return {
    peakMb,
    row: [
      String(pets),
      startSeconds.toFixed(2),
      listSeconds.toFixed(2),
      (Math.max(...lists) / 1e6).toFixed(1),
      Math.max(...waits).toFixed(0),
      peakMb.toFixed(1),
    ],
  };
}

/** @returns milliseconds */
async function patch(url: string, key: string, petId: number): Promise<number> {
  const began = performance.now();
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const response = await fetch(`${url}/inventory/${petId}`, { method: 'PATCH', headers, body: '{"quantity":5}' });
  if (!response.ok) throw new Error(`PATCH was answered with ${response.status}`);
  await response.arrayBuffer();
  return performance.now() - began;
}
