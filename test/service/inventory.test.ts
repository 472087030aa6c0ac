import { get as httpGet, type IncomingMessage } from 'node:http';
import { expect } from 'vitest';
import { sqlite } from '../../src/shared/sqlite-engine.ts';
import { start, test } from './support.ts';

const { DatabaseSync } = sqlite();

test('the opening stock has every status, empty shelves and low ones, and ids above 2^53', async () => {
  const { text, json } = await (await start()).get('/inventory');
  const items = json as { quantity: number; status: string }[];
  expect(new Set(items.map(({ status }) => status))).toEqual(new Set(['available', 'pending', 'sold']));
  expect(items.some(({ quantity }) => quantity === 0)).toBe(true);
  expect(items.some(({ quantity }) => quantity > 0 && quantity < 4)).toBe(true);
  expect(text).toContain('"petId":9007199254740993,');
  expect(text).toContain('"petId":9223372036854775807,');
});

test('the same seed gives the same stock, another seed another one', async () => {
  const [one, same, other] = await Promise.all([start({ seed: 5 }), start({ seed: 5 }), start({ seed: 6 })]);
  const texts = await Promise.all([one, same, other].map(async (service) => (await service.get('/inventory')).text));
  expect(texts[1]).toBe(texts[0]);
  expect(texts[2]).not.toBe(texts[0]);
});

test.each([
  [0, []],
  [1, ['1']],
  [2, ['1', '9007199254740993']],
  [5, ['1', '2', '9007199254740992', '9007199254740993', '9223372036854775807']],
])('%i pets have the ids %j', async (pets, ids) => {
  const { text } = await (await start({ pets })).get('/inventory');
  expect([...text.matchAll(/"petId":(\d+)/g)].map(([, id]) => id)).toEqual(ids);
});

test('a client that goes away in the middle of a list leaves no snapshot behind', async ({ file }) => {
  const service = await start({ file, pets: 60_000 });
  const headers = { Authorization: `Bearer ${service.key}` };
  const list = await new Promise<IncomingMessage>((resolve) => {
    httpGet(`${service.url}/inventory`, { headers }, resolve);
  });
  list.destroy();
  await service.patch('/inventory/1', '{"quantity":1}');
  const database = new DatabaseSync(file);
  const checkpoint = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)');
  await expect.poll(() => checkpoint.get().busy).toBe(0);
  database.close();
});
