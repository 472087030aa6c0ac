import { expect, test } from 'vitest';
import { start } from './support.ts';

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
  [0, 'large', []],
  [1, 'large', ['1']],
  [2, 'large', ['1', '9007199254740993']],
  [5, 'large', ['1', '2', '9007199254740992', '9007199254740993', '9223372036854775807']],
  [30, 'small', Array.from({ length: 30 }, (_, at) => `${at + 1}`)],
] as const)('%i pets with %s ids have the ids %j', async (pets, kind, ids) => {
  const { text } = await (await start({ pets, ids: kind })).get('/inventory');
  expect([...text.matchAll(/"petId":(\d+)/g)].map(([, id]) => id)).toEqual(ids);
});
