import { beforeEach, expect } from 'vitest';
import { hang } from '../../../support/scripted-service.ts';
import { changeFile, confirming, openShop, type Shop, stockOf } from '../../../support/shop.ts';
import { killAt, test } from '../../../support/till.ts';

let shop: Shop;
let before: ReadonlyMap<string, number>;
let apply: string;

beforeEach(async () => {
  shop = await openShop({ pets: 6, limits: { minute: 1_000_000, day: 1_000_000 } });
  before = await stockOf(shop);
  apply = `inventory apply ${changeFile(shop, 'petId,delta\n1,1\n2,1\n3,1\n', 'delivery.csv')} --yes`;
});

const onceMore = /was applied at .* by run \S+, and its deltas would be added once more\. Nothing was written/;

const added = async () => {
  const now = await stockOf(shop);
  return ['1', '2', '3'].map((petId) => (now.get(petId) ?? 0) - (before.get(petId) ?? 0));
};

test('recognizes a repeated file even after a later run that wrote nothing', async () => {
  expect(await shop.run(apply)).toMatchObject({ code: 0 });
  shop.service.setFaults(['PATCH /inventory/*:status=400']);
  expect((await shop.run(`${apply} --again`)).code).not.toBe(0);
  shop.service.setFaults([]);
  expect(await shop.refused(apply)).toMatch(onceMore);
  expect(await added()).toEqual([1, 1, 1]);
  expect(await shop.run(`${apply} --again`)).toMatchObject({ code: 0 });
  expect(await added()).toEqual([2, 2, 2]);
});

test.each([
  ['at its first request', 1, { other: 0, code: 2, stderr: expect.stringMatching(onceMore) }],
  ['after reading the stock', 2, { other: 7, code: 0, stderr: expect.any(String) }],
])('adds deltas once if another process applies the file while a command waits %s', async (_when, at, ends) => {
  let [requests, other] = [0, -1];
  const { code, stderr } = await shop.run(apply, {
    around: async (send) => {
      requests += 1;
      if (requests === at) other = (await shop.run(apply)).code;
      return send();
    },
  });
  expect(await added()).toEqual([1, 1, 1]);
  expect({ other, code, stderr }).toEqual(ends);
});

test('adds deltas only once if another process applies the file while the question is open', async () => {
  const confirm = async () => (await shop.run(apply)).code === 0;
  const asked = await shop.run(apply.replace(' --yes', ''), { terminal: 500, prompts: { confirm } });
  expect(asked).toMatchObject({ code: 2, stderr: expect.stringMatching(onceMore) });
  expect(await added()).toEqual([1, 1, 1]);
});

test('reports a conflict that names the earlier run if an edited export is applied again', async () => {
  const file = changeFile(shop, 'petId,expected,quantity\n1,12,30\n2,1,7\n', 'stock.csv');
  await shop.run('inventory apply - --yes', { stdin: 'petId,quantity\n1,12\n2,1\n' });
  const { run } = await shop.json(`inventory apply ${file} --yes --json`);
  const again = await shop.run(`inventory apply ${file} --yes`);
  const told = /conflicts\. \S+stock\.csv was applied at .* by run \w{4}\.\nHint: (.*)\n/;
  expect({ code: again.code, hint: told.exec(again.stderr)?.[1] }).toEqual({
    code: 7,
    hint: `petstock history show ${run}`,
  });
  expect((await shop.run(`undo ${run} --yes`)).code).toBe(0);
  expect((await shop.run(`inventory apply ${file} --yes`)).code).toBe(0);
});

test('treats a file as applied once its undo is undone', async () => {
  expect(await shop.run(apply)).toMatchObject({ code: 0 });
  const newest = async () => (await shop.json('history list --json'))[0].run;
  for (let times = 0; times < 2; times += 1) {
    expect((await shop.run(`undo ${await newest()} --yes`)).code).toBe(0);
  }
  expect(await shop.run(apply)).toMatchObject({ code: 2, stderr: expect.stringContaining('Nothing was written') });
  expect(await added()).toEqual([1, 1, 1]);
  expect((await shop.run('undo --last --yes')).code).toBe(0);
  expect(await added()).toEqual([0, 0, 0]);
});

test('does not add a delta again if it may already have been written', async ({ till }) => {
  const file = till.file('delivery.csv', 'petId,delta\n1,5\n');
  await killAt(till, hang, `inventory apply ${file} --yes`);
  till.service.sell(1, 1);
  expect((await till.run('inventory apply --resume latest --yes')).code).toBe(8);
  expect(await till.refused(`inventory apply ${file} --yes`)).toContain('Nothing was written');
  expect(till.service.stockOf(1)).toBe(9);
});

test('warns about a delivery without a ref that comes again with another line', async () => {
  const extended = changeFile(shop, 'petId,delta\n1,1\n2,1\n3,7\n', 'extended.csv');
  expect((await shop.run(`inventory apply ${extended} --dry-run -q`)).stderr).toBe('');
  const { run } = await shop.json(`${apply} --json`);
  const what = `2 pets already got the same units by run ${run.slice(-4)} at`;
  const { asked, prompts } = confirming(false);
  const typed = await shop.run(`inventory apply ${extended}`, { terminal: 400, prompts });
  expect(typed.stderr).toContain(`Warning: ${what}`);
  expect(asked[0]).toContain(`AGAIN? ${what}`);
  for (const [text, words] of [
    ['petId,delta\n1,-1\n2,-1\n3,7\n', ''],
    ['petId,delta\n1,1\n2,2\n3,7\n', ''],
    ['petId,delta,ref\n1,1,N-1\n2,1,N-1\n3,7,N-1\n', ''],
    ['petId,delta\n1,1\n2,1\n3,7\n', '--again'],
  ] as const) {
    const other = changeFile(shop, text, 'other.csv');
    expect((await shop.run(`inventory apply ${other} --dry-run -q ${words}`.trim())).stderr).toBe('');
  }
  expect(await shop.run(`inventory apply ${extended} --yes -q`)).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^Warning: 2 pets already got .*recognized for certain\.\n$/),
  });
  expect(await added()).toEqual([2, 2, 8]);
});
