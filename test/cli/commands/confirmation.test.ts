import { PassThrough, Writable } from 'node:stream';
import { expect, test as plain } from 'vitest';
import { createPrompts } from '../../../src/cli/prompts.ts';
import { changeFile, confirming, openShop, type Shop, stockOf, test } from '../../support/shop.ts';

async function carefulShop(): Promise<Shop> {
  const shop = await openShop();
  await shop.run('config set confirm always');
  return shop;
}

plain.each([
  ['adjust 4 +5', '39 → 44'],
  ['adjust 4 -50', '39 → -11'],
  ['set 4 12 --expect 39', '39 → 12'],
  ['set 4 12 --read-first', '39 → 12'],
])('shows the stock before and after in the question about a single write: %s', async (command, change) => {
  const shop = await carefulShop();
  const { asked, prompts } = confirming(true);
  await shop.exits(`inventory ${command}`, 0, [], { terminal: 80, prompts });
  expect(asked).toEqual([expect.stringContaining(`Pet 4 in staging: ${change}`)]);
});

plain('shows the stock from the history when a plain set asks for confirmation', async () => {
  const shop = await carefulShop();
  await shop.run('inventory set 4 20 --yes');
  const { asked, prompts } = confirming(true);
  const result = await shop.run('inventory set 4 12 --no-read-first', { terminal: 80, prompts });
  expect(asked).toEqual(['Pet 4 in staging: 20 → 12 (-8), according to the history. Write this change?']);
  expect(result.sent).toEqual(['PATCH /v1/inventory/4 {"quantity":12}']);
});

plain('prints the target before a question even with --quiet, and exits with 2 without a terminal', async () => {
  const shop = await carefulShop();
  const { asked, prompts } = confirming(true);
  const command = 'api PATCH /inventory/4 --data {"quantity":1} -q';
  await shop.exits(command, 0, `▸ staging · ${shop.service.url}`, { terminal: 80, prompts, env: { NO_COLOR: '1' } });
  expect(asked).toEqual(['Send PATCH /inventory/4?']);
  for (const terminals of [
    ['stdin', 'stdout'],
    ['stdout', 'stderr'],
  ] as const) {
    await shop.exits(command, 2, 'this is not a terminal. Nothing was sent', { terminal: 80, terminals });
  }
});

/** Applies a file to production and types these words in turn. @returns the questions, and the writes that were sent */
async function applyTyping(shop: Shop, quantity: number, code: number, ...words: readonly string[]) {
  const env = { PETSTOCK_URL_PRODUCTION: shop.service.url, PETSTOCK_API_KEY_PRODUCTION: shop.service.key };
  const asked: string[] = [];
  const output = new Writable({
    write: (chunk, _encoding, done) => {
      asked.push(String(chunk).trim());
      done();
    },
  });
  const input = new PassThrough();
  input.write(words.map((word) => `${word}\n`).join(''));
  const prompts = createPrompts({ input, output });
  const file = changeFile(shop, `petId,quantity\n4,${quantity}\n5,${quantity}\n`, `${quantity}.csv`);
  const command = ['inventory', 'apply', file, '-e', 'production'];
  const result = await shop.exits(command, code, [], { env, terminal: 80, prompts });
  return { asked, written: result.sent.filter((request) => !request.startsWith('GET ')) };
}

test('asks once more if "production" is mistyped', async ({ shop }) => {
  expect((await applyTyping(shop, 12, 0, 'prodution', 'production')).asked).toEqual([
    'Write 2 changes to production? Units: 11 added, 27 removed. Type production to continue:',
    '"prodution" is not production. Type production to continue, or press Enter to cancel:',
  ]);
  const scanned = await applyTyping(shop, 14, 2, '2000000000060', '2000000000077', 'n');
  expect(scanned.asked.at(-1)).toMatch(/^"2000000000077" is not an answer, and was not counted\. Write 2 changes/);
  const { asked } = await applyTyping(shop, 13, 2, 'no!\x9bJ\u202e', 'nope');
  expect(asked.at(-1)).toMatch(/^"no!<U\+009B>J<U\+202E>" is not production/);
});

test('writes several pets in production only if "production" is typed, and cancels at once on n', async ({ shop }) => {
  for (const word of ['y', 'yes', 'productio', 'production!', 'staging', 'north/production', ''])
    expect((await applyTyping(shop, 12, 2, word, word)).written, word).toEqual([]);
  for (const word of ['n', 'No', ' NO ']) expect((await applyTyping(shop, 12, 2, word)).asked, word).toHaveLength(1);
  expect((await stockOf(shop)).get('4')).toBe(39);
  expect((await applyTyping(shop, 12, 0, ' Production ')).written).toHaveLength(2);
});

test('asks a yes-or-no question for one pet in production, and for its undo', async ({ shop }) => {
  const env = { PETSTOCK_URL_PRODUCTION: shop.service.url, PETSTOCK_API_KEY_PRODUCTION: shop.service.key };
  const { asked, prompts } = confirming(true);
  const file = changeFile(shop, 'petId,quantity\n4,12\n');
  for (const command of [`inventory apply ${file}`, 'undo --last'])
    await shop.exits(`${command} -e production`, 0, [], { env, terminal: 80, prompts });
  expect(asked).toEqual([
    'Pet 4 in production: 39 → 12 (-27). Write this change?',
    expect.stringMatching(
      /^Pet 4 in production: 12 → 39 \(\+27\), as before inventory apply, run \w{4}\. Undo this change\?$/,
    ),
  ]);
});
