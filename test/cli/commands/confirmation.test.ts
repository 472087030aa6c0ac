import { describe, expect } from 'vitest';
import { changeFile, confirming, openShop, type Shop, sent, stockOf, test } from '../../support/shop.ts';

async function carefulShop(): Promise<Shop> {
  const shop = await openShop();
  await shop.run('config set confirm always');
  return shop;
}

describe('a confirmation of a single write shows before and after', () => {
  test.each([
    ['adjust 4 +5', '39 → 44'],
    ['adjust 4 -50', '39 → -11'],
    ['set 4 12 --expect 39', '39 → 12'],
    ['set 4 12 --read-first', '39 → 12'],
  ])('%s', async (command, change) => {
    const shop = await carefulShop();
    const { asked, prompts } = confirming(true);
    expect(await shop.run(`inventory ${command}`, { terminal: 80, prompts })).toMatchObject({ code: 0 });
    expect(asked).toEqual([expect.stringContaining(`Pet 4 in staging: ${change}`)]);
  });

  test('where the stock moves while the question stands open, it is asked again', async () => {
    const shop = await carefulShop();
    const asked: string[] = [];
    const confirm = async (question: string) => {
      asked.push(question);
      if (asked.length === 1) await shop.run('inventory set 4 20 --yes');
      return true;
    };
    expect(await shop.run('inventory adjust 4 +5', { terminal: 80, prompts: { confirm } })).toMatchObject({ code: 0 });
    expect(asked.map((question) => /\d+ → \d+/.exec(question)?.[0])).toEqual(['39 → 44', '20 → 25']);
    expect((await stockOf(shop)).get('4')).toBe(25);
  });
});

test('a plain set shows the stock that the history knows', async () => {
  const shop = await carefulShop();
  await shop.run('inventory set 4 20 --yes');
  const { asked, prompts } = confirming(true);
  const result = await shop.run('inventory set 4 12 --no-read-first', { terminal: 80, prompts });
  expect(asked).toEqual(['Pet 4 in staging: 20 → 12 (-8), as the history of this machine knows it. Write it?']);
  expect(sent(result)).toEqual(['PATCH /v1/inventory/4 {"quantity":12}']);
});

test('a mistyped name is asked for once more', async ({ shop }) => {
  const env = { PETSTOCK_URL_PRODUCTION: shop.service.url, PETSTOCK_API_KEY_PRODUCTION: shop.service.key };
  const file = changeFile(shop, 'petId,quantity\n4,12\n');
  const asked: string[] = [];
  const typing = (...words: string[]) => ({
    text: async (question: string) => {
      asked.push(question);
      return words.shift() ?? '';
    },
  });
  const command = ['inventory', 'apply', file, '-e', 'production'];
  const right = await shop.run(command, { env, terminal: 80, prompts: typing('prodution', 'production') });
  expect(right.code).toBe(0);
  expect(asked).toEqual([
    'Pet 4 in production: 39 → 12 (-27). Write it? Type production to go on',
    '"prodution" is not production. Type production to go on, or press Enter to stop',
  ]);
  const other = changeFile(shop, 'petId,quantity\n4,13\n', 'other.csv');
  const wrong = await shop.run([...command.slice(0, 2), other, '-e', 'production'], {
    env,
    terminal: 80,
    prompts: typing('no\x9b2J\u202e', 'nope'),
  });
  expect(wrong).toMatchObject({ code: 2 });
  expect(asked.at(-1)).toMatch(/^"no" is not production/);
});

test.for(['y', 'yes', 'Production', 'productio', 'production!', 'staging', 'north/production', ''])(
  'only the name itself writes to production: %j',
  async (word, { shop }) => {
    const env = { PETSTOCK_URL_PRODUCTION: shop.service.url, PETSTOCK_API_KEY_PRODUCTION: shop.service.key };
    const file = changeFile(shop, 'petId,quantity\n4,12\n');
    const prompts = { text: async () => word };
    const result = await shop.run(['inventory', 'apply', file, '-e', 'production'], { env, terminal: 80, prompts });
    expect(result.code).toBe(2);
    expect(sent(result).filter((request) => !request.startsWith('GET '))).toEqual([]);
    expect((await stockOf(shop)).get('4')).toBe(39);
  },
);
