import { once } from 'node:events';
import { expect, test } from 'vitest';
import { generateKey } from '../../src/service/index.ts';
import { prepareServing } from './serving.ts';
import { NOON, start, TestClock, temporaryFile } from './support.ts';

test('admits exactly the limit, and loses no update, with three processes on one file', {
  timeout: 90_000,
}, async () => {
  const key = generateKey();
  const limits = { minute: 90, day: 100_000 };
  const options = { file: temporaryFile(), key, limits, pets: 123, ban: false } as const;
  const serve = await prepareServing();
  const processes = await Promise.all(Array.from({ length: 3 }, () => serve(options)));
  const petIds = Array.from({ length: 120 }, (_, index) => index + 1);
  const statuses = await Promise.all(petIds.map((petId) => processes[petId % 3]?.set(petId, 1_000 + petId)));
  expect(statuses.filter((status) => status === 200)).toHaveLength(90);
  expect(statuses.filter((status) => status === 429)).toHaveLength(30);
  const ended = processes.map(({ child }) => once(child, 'exit'));
  for (const { child } of processes) child.stdin.end();
  expect(await Promise.all(ended)).toEqual(Array(3).fill([0, null]));
  const { json } = await (await start({ ...options, clock: new TestClock(NOON + 60_000) })).get('/inventory');
  const stock = json as { petId: number; quantity: number }[];
  const written = stock.filter(({ petId, quantity }) => quantity === 1_000 + petId).map(({ petId }) => petId);
  expect(written).toEqual(petIds.filter((_, index) => statuses[index] === 200));
});

test('keeps confirmed changes and used limits after kill -9', { timeout: 90_000 }, async () => {
  const options = { file: temporaryFile(), key: generateKey(), plan: 'pro' } as const;
  const serve = await prepareServing();
  const { child, set } = await serve(options);
  for (let quantity = 1; quantity <= 20; quantity++) await set(1, quantity);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const answer = await (await start(options)).get('/inventory');
  expect(answer.text).toContain('{"petId":1,"quantity":20,');
  expect(answer.headers['x-ratelimit-remaining']).toBe('279');
});
