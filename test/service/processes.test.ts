import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { generateKey, type ServiceOptions } from '../../src/service/index.ts';
import { outcomes, start, TestClock, temporaryFile } from './support.ts';

const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const SERVING = fileURLToPath(new URL('serving-process.ts', import.meta.url));

type Child = ChildProcessByStdio<Writable, Readable, null>;

/** Starts a process that serves the file, and resolves with it and its URL. */
async function serve(options: Omit<ServiceOptions, 'clock'>): Promise<{ child: Child; url: string }> {
  const child = spawn(process.execPath, ['--import', TSX, SERVING, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
  return { child, url: String(line).trim() };
}

async function statusOf(url: string, key: string): Promise<number> {
  const response = await fetch(`${url}/inventory`, { headers: { Authorization: `Bearer ${key}` } });
  await response.arrayBuffer();
  return response.status;
}

test('two services on one file admit exactly the limit together, and know of each other’s updates', async () => {
  const options = {
    file: temporaryFile(),
    key: generateKey(),
    limits: { minute: 21, day: 1000 },
    clock: new TestClock(),
  };
  const [one, other] = await Promise.all([start(options), start(options)]);
  await one.patch('/inventory/1', '{"quantity":4711}');
  expect((await other.get('/inventory')).text).toContain('"quantity":4711');
  const seen = await Promise.all([one, other, one, other].map((service) => outcomes(service, 10)));
  expect(seen.flat().filter((outcome) => outcome === '200')).toHaveLength(19);
});

test('strikes and bans are counted over all services on a file', async () => {
  const options = { file: temporaryFile(), key: generateKey(), limits: { minute: 1, day: 9 }, clock: new TestClock() };
  const [one, other] = await Promise.all([start(options), start(options)]);
  expect([...(await outcomes(one, 1)), ...(await outcomes(other, 1))]).toEqual(['200', '429 rate_limited']);
  options.clock.advance(1_001);
  expect(new Set([...(await outcomes(one, 5)), ...(await outcomes(other, 5))])).toEqual(new Set(['429 rate_limited']));
  expect([...(await outcomes(one, 1)), ...(await outcomes(other, 1))]).toEqual(['429 key_banned', '429 key_banned']);
});

test('four processes that create one file together admit exactly the limit', { timeout: 30_000 }, async () => {
  const key = generateKey();
  const options = { file: temporaryFile(), key, limits: { minute: 300, day: 100_000 }, ban: false } as const;
  const processes = await Promise.all(Array.from({ length: 4 }, () => serve(options)));
  const statuses = await Promise.all(
    processes.flatMap(({ url }) => Array.from({ length: 100 }, () => statusOf(url, key))),
  );
  expect(statuses.filter((status) => status === 200)).toHaveLength(300);
  expect(statuses.filter((status) => status === 429)).toHaveLength(100);
  const ended = processes.map(({ child }) => once(child, 'exit'));
  for (const { child } of processes) child.stdin.end();
  expect(await Promise.all(ended)).toEqual(Array(4).fill([0, null]));
});

test('what was answered is there after kill -9', { timeout: 30_000 }, async () => {
  const options = { file: temporaryFile(), key: generateKey(), plan: 'pro' } as const;
  const { child, url } = await serve(options);
  const headers = { Authorization: `Bearer ${options.key}`, 'Content-Type': 'application/json' };
  for (let quantity = 1; quantity <= 20; quantity++) {
    await fetch(`${url}/inventory/1`, { method: 'PATCH', headers, body: JSON.stringify({ quantity }) });
  }
  child.kill('SIGKILL');
  await once(child, 'exit');
  const answer = await (await start(options)).get('/inventory');
  expect(answer.text).toContain('{"petId":1,"quantity":20,');
  expect(answer.headers['x-ratelimit-remaining']).toBe('279');
});
