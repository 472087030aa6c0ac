import { expect } from 'vitest';
import { rowsIn } from '../../../support/delimited-rows.ts';
import { confirming, openShop, stockOf, test } from '../../../support/shop.ts';

const largest = '9223372036854775807';

test.for([
  ['4 +5', { petId: '4', quantity: '44', status: 'available', before: '39' }, 44],
  ['4 -2', { petId: '4', quantity: '37', status: 'available', before: '39' }, 37],
  ['4 0', { petId: '4', quantity: '39', status: 'available', before: '39' }, 39],
  ['4 -40', { petId: '4', quantity: '-1', status: 'available', before: '39' }, -1],
  [`${largest} +3`, { petId: largest, quantity: '3', status: 'available', before: '0' }, 3],
] as const)('sends the sum of adjust %s in one PATCH', async ([words, item, quantity], { shop }) => {
  const { stdout, sent } = await shop.exits(`inventory adjust ${words} --header`, 0);
  const run = expect.stringMatching(/^\d{8}T\d{6}Z-\w{4}$/);
  expect(rowsIn(stdout)).toEqual([{ ...item, run }]);
  expect(sent).toEqual(['GET /v1/inventory', `PATCH /v1/inventory/${words.split(' ')[0]} {"quantity":${quantity}}`]);
});

test.for([
  ["a sum that a double can't hold", '4 9007199254740991', 2, ['GET /v1/inventory']],
  ['a pet that is not in the list', '4242 1', 9, ['GET /v1/inventory']],
  ['a delta with a fraction', '4 1.5', 2, []],
] as const)('refuses %s in adjust, and writes nothing', async ([_what, words, code, sent], { shop }) => {
  expect(await shop.run(`inventory adjust ${words}`)).toMatchObject({ code, stdout: '', sent });
});

test('warns in a script if adjust or set makes a stock negative', async ({ shop }) => {
  for (const [petId, command] of [
    [4, 'adjust 4 -500'],
    [6, 'set 6 -3'],
    [8, 'set 8 -3 --read-first'],
  ]) {
    const stderr = expect.stringContaining(`Warning: Pet ${petId} goes BELOW ZERO`);
    expect(await shop.run(`inventory ${command}`)).toMatchObject({ code: 0, stderr });
  }
});

test('omits the warning about a negative stock if the stock stays the same or rises', async ({ shop }) => {
  await shop.run('inventory set 4 -5');
  for (const delta of ['0', '+2']) {
    const { stderr } = await shop.exits(`inventory adjust 4 ${delta}`, 0);
    expect(stderr).not.toContain('Warning');
  }
});

test.for(['adjust 4 +1', 'set 4 40'])(
  'exits with 0 if %s gets no response but the stock shows the write',
  async (command) => {
    const shop = await openShop({ faults: ['PATCH /inventory/4:commit-then-drop'] });
    const { stderr } = await shop.exits(`inventory ${command} --retries 0`, 0);
    expect(stderr).not.toContain('history');
    expect(await shop.json('history list --json')).toMatchObject([{ state: 'done', counts: { applied: 1 } }]);
  },
);

test('refuses a delta under a ref under which the pet was changed, unless --again decides', async ({ shop }) => {
  const { run } = await shop.json('inventory adjust 4 +5 --ref D-1 --json');
  const adjust = (words: string) => `inventory adjust 4 ${words}`;
  for (const words of ['+5 --ref D-1', '5 --ref=d-1', '+5 --ref D-1 --dry-run', '+6 --ref D-1']) {
    const stderr = await shop.refused(adjust(words));
    expect(stderr).toContain(`4: +5 by run ${run.slice(-4)} at`);
    expect(stderr).toContain(`Hint: petstock history show ${run}\n`);
  }
  expect(await shop.refused('inventory apply - --yes', { stdin: 'petId,delta,ref\n4,5,D-1\n' })).toContain('ref "D-1"');
  for (const words of ['+1 --ref D-2', '+1', '+1', '+5 --ref D-1 --again']) await shop.exits(adjust(words), 0);
  const { asked, prompts } = confirming(false, true);
  const terminal = { terminal: 200, prompts };
  expect((await shop.run(adjust('+5 --ref D-1'), terminal)).code).toBe(2);
  expect(asked[0]).toBe(
    'Pet 4 in staging: 52 → 57 (+5), 1 pet was already changed under ref "D-1". Write this change?',
  );
  expect((await shop.run(adjust('+5 --ref D-1'), terminal)).code).toBe(0);
  expect((await stockOf(shop)).get('4')).toBe(57);
  await shop.exits('undo --last --yes', 0);
});

test('adjust obeys --dry-run and --expect', async ({ shop }) => {
  const { stdout, sent } = await shop.run('inventory adjust 4 +1 --dry-run --json');
  const rows = [{ before: 39, after: 40, result: 'planned' }];
  expect({ ...JSON.parse(stdout), sent }).toMatchObject({ dryRun: true, rows, sent: ['GET /v1/inventory'] });
  const refused = await shop.run('inventory adjust 4 +1 --expect 12');
  expect(refused).toMatchObject({ code: 7, sent: ['GET /v1/inventory'] });
  expect((await shop.run('inventory adjust 4 +1 --expect 39')).code).toBe(0);
});
