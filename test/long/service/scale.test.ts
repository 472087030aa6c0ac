import { readFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { generateKey, type RunningService } from '../../../src/service/index.ts';
import { sqlite } from '../../../src/shared/sqlite-engine.ts';
import { prepareServing } from '../../service/serving.ts';
import { start, temporaryFile } from '../../service/support.ts';

const { DatabaseSync } = sqlite();

const MANY = 200_000;
const readers = 12;

/** Requests the inventory and reads only its beginning. */
function slowlyReading({ url, key }: Pick<RunningService, 'url' | 'key'>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${key}` };
    get(`${url}/inventory`, { headers, agent: false }, (response) => resolve(response.pause())).on('error', reject);
  });
}

async function sizeOf(response: IncomingMessage): Promise<number> {
  let size = 0;
  for await (const chunk of response) size += chunk.length;
  return size;
}

/** Returns the most memory that a process has used so far, in MB. */
function peakMb(pid: number | undefined): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

test.runIf(process.platform === 'linux')(
  'streams lists to slow readers in little memory, and updates pets meanwhile',
  { timeout: 60_000 },
  async () => {
    const [key, serve] = [generateKey(), await prepareServing()];
    const peakWith = async (pets: number) => {
      const { child, url, set } = await serve({ file: temporaryFile(), key, pets });
      const slow = await Promise.all(Array.from({ length: readers }, () => slowlyReading({ url, key })));
      for (let petId = 1; petId <= 50; petId++) expect(await set(petId, 5)).toBe(200);
      const sizes = await Promise.all(slow.map(sizeOf));
      expect(new Set(sizes).size).toBe(1);
      const peak = peakMb(child.pid);
      child.kill('SIGKILL');
      return { peak, size: sizes[0] ?? 0 };
    };
    const [few, many] = [await peakWith(1_000), await peakWith(MANY)];
    expect(many.size).toBeGreaterThan(9_000_000);
    // Lists of 10 MB each are under way, compared with lists of 50 KB. A busy machine collects garbage late.
    expect(many.peak - few.peak).toBeLessThan((readers * 10) / 2);
  },
);

test('answers other requests between the pages of a list, however fast it is read', async () => {
  const service = await start({ file: temporaryFile(), pets: MANY });
  const reader = new Worker(
    `const { get } = require('node:http');
     const { workerData: { url, headers } } = require('node:worker_threads');
     get(url, { headers }, (response) => response.resume());`,
    {
      eval: true,
      workerData: { url: `${service.url}/inventory`, headers: { Authorization: `Bearer ${service.key}` } },
    },
  );
  onTestFinished(() => void reader.terminate());
  let turns = 0;
  let isOver = false;
  const ended = new Promise<void>((resolve) => reader.once('exit', () => resolve())).then(() => {
    isOver = true;
  });
  while (service.journal().length === 0) await new Promise((resolve) => setImmediate(resolve));
  const others: Promise<number>[] = [];
  while (service.journal()[0]?.status === null) await new Promise((resolve) => setImmediate(resolve));
  while (!isOver && turns < 10_000) {
    turns++;
    if (turns % 50 === 0) others.push(service.get('/store/orders').then(({ status }) => status));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await ended;
  expect(turns).toBeGreaterThanOrEqual(MANY / 1_000);
  expect(new Set(await Promise.all(others))).toEqual(new Set([200]));
});

test('disconnects a client that stops reading a list, and releases its snapshot', async () => {
  const file = temporaryFile();
  const timeouts = { headersMs: 60_000, requestMs: 300_000, readMs: 50 };
  const service = await start({ file, pets: MANY, timeouts });
  const slow = await slowlyReading(service);
  await service.patch('/inventory/1', '{"quantity":1}');
  const database = new DatabaseSync(file);
  const checkpoint = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)');
  await expect.poll(() => checkpoint.get().busy).toBe(0);
  database.close();
  await expect(sizeOf(slow)).rejects.toMatchObject({ code: 'ECONNRESET' });
});
