import { expect } from 'vitest';
import { serviceNameOf } from '../../../src/settings/key-and-url.ts';
import { recordRun, type TestRow } from '../../support/recorded-runs.ts';
import { changeFile, type Shop, test } from '../../support/shop.ts';

const none = { in: 0, out: 0, counted: 0, unknown: 0, env: 'staging', store: null, name: null };
/** Sets a stock as another client would, after 60 s, when no request can be in flight any more. */
async function setElsewhere(shop: Shop, quantity: number, petId = 4): Promise<void> {
  await shop.clock.advance(60_000);
  await shop.exits(['api', 'PATCH', `/inventory/${petId}`, '--data', `{"quantity":${quantity}}`], 0);
}

const totalsOf = (shop: Shop, words = '') => shop.json(`history totals --json${words}`);

test('adds up units in, out and counted in history totals, without a request', async ({ shop }) => {
  await shop.run(['config', 'set', 'codes', changeFile(shop, 'code,petId,name\n55,5,Rex\n', 'codes.csv')]);
  await shop.run('inventory adjust 4 +5');
  await shop.run('inventory apply - --yes', { stdin: 'petId,delta\n4,-2\n5,3\n' });
  await shop.run('inventory count --add --ref N-1 --yes', { stdin: '55 x4\ndone\n' });
  await shop.run('inventory count --take --ref S-1 --yes', { stdin: '5\ndone\n' });
  await shop.run('inventory count --yes', { stdin: '4 x40\n5 x9\ndone\n' });
  const totals = await shop.run('history totals --json');
  expect(totals).toMatchObject({ code: 0, requests: [] });
  expect(JSON.parse(totals.stdout)).toEqual([
    { ...none, petId: 4, in: 5, out: 2, counted: -2, now: 40 },
    { ...none, petId: 5, name: 'Rex', in: 7, out: 1, counted: 2, now: 9 },
  ]);
  expect((await shop.run('history totals -o tsv --fields petId,in')).stdout).toBe('4\t5\n5\t7\n');
  const page = (await shop.run('history totals --since today -o html')).stdout;
  expect(page).toMatch(/<h1>In and out of all stores and environments from .* until now<\/h1>/);
  expect(page).toContain('<td class="number">+2</td>');
});

test('subtracts undone units from history totals, and adds them again once the undo is undone', async ({ shop }) => {
  await shop.run('inventory adjust 4 +5');
  await shop.run('undo --last --yes');
  expect(await totalsOf(shop)).toEqual([{ ...none, petId: 4, now: 39 }]);
  const [undo] = await shop.json('history list --json');
  await shop.exits(`undo ${undo.run} --yes`, 0);
  expect(await totalsOf(shop)).toEqual([{ ...none, petId: 4, in: 5, now: 44 }]);
  await shop.run('inventory count --yes', { stdin: '4 x40\ndone\n' });
  await shop.run('undo --last --yes');
  expect(await totalsOf(shop)).toEqual([{ ...none, petId: 4, in: 5, now: 44 }]);
});

test('shows how many writes the sums of history totals leave out', async ({ shop }) => {
  await shop.run('inventory set 4 12');
  const { stdout, stderr } = await shop.run('history totals --json');
  expect(JSON.parse(stdout)).toEqual([{ ...none, petId: 4, unknown: 1, now: 12 }]);
  expect(stderr).toContain('Not in these sums: 1 write.');
  const table = await shop.run('history totals', { terminal: 100, env: { NO_COLOR: '1' } });
  expect(table.stdout).toContain('Not known');
});

test('counts an undo as unknown in history totals if it is unknown what the write changed', async ({ shop }) => {
  await shop.run('inventory set 4 5 -q');
  await shop.run('inventory set 4 90 -q');
  await shop.exits('undo latest --yes -q', 0);
  expect(await totalsOf(shop)).toEqual([{ ...none, petId: 4, unknown: 3, now: 5 }]);
});

test('counts an undo as a movement in history totals if its run was before the period', async ({ shop }) => {
  await shop.run('inventory adjust 4 +5');
  const later = new Date(shop.clock.now() + 3_600_000).toISOString();
  await shop.clock.advance(7_200_000);
  await shop.exits('undo latest --yes', 0);
  expect(await totalsOf(shop, ` --since ${later}`)).toEqual([{ ...none, petId: 4, out: 5, now: 39 }]);
});

test('counts unknown rows as unknown in history totals, even after a discard', async ({ shop }) => {
  const run = await recordRun(shop, [{ petId: 4n, before: 39, after: 44, result: 'unknown' }]);
  expect(await totalsOf(shop)).toMatchObject([{ petId: 4, in: 0, unknown: 1 }]);
  await shop.run(`history discard ${run} --yes`);
  expect(await totalsOf(shop)).toMatchObject([{ petId: 4, in: 0, unknown: 1 }]);
});

test('counts a conflict as unknown in history totals if its row may have been written', async ({ shop }) => {
  const row = { petId: 4n, before: 39, after: 44, result: 'conflict' } as const;
  await recordRun(shop, [{ ...row, error: { code: 'unclear', message: 'check the stock' } }]);
  await recordRun(shop, [{ ...row, petId: 5n, error: { code: 'conflict', message: 'the stock is 40' } }]);
  expect(await totalsOf(shop)).toMatchObject([{ petId: 4, in: 0, out: 0, unknown: 1 }]);
});

test('keeps a run in history totals until an undo has written its row', async ({ shop }) => {
  const { run } = await shop.json('inventory adjust 4 +5 --json');
  await setElsewhere(shop, 50);
  await shop.exits(`undo ${run} --yes`, 7, 'the stock is 50, not 44 as written');
  expect(await totalsOf(shop)).toEqual([{ ...none, petId: 4, in: 5, now: 44 }]);
  await setElsewhere(shop, 39);
  await shop.exits(`undo ${run} --yes`, 0);
  expect(await totalsOf(shop)).toEqual([{ ...none, petId: 4, in: 5, now: 44 }]);
  await setElsewhere(shop, 44);
  await shop.exits(`undo ${run} --yes`, 0);
  expect(await totalsOf(shop)).toEqual([{ ...none, petId: 4, now: 39 }]);
});

test.for([
  [41, { in: 2, out: 0 }],
  [36, { in: 0, out: 3 }],
  [47, { in: 8, out: 0 }],
] as const)(
  'counts the actual difference in history totals if the service stored %i for an undo to 39',
  async ([quantity, sums], { shop }) => {
    const row = { petId: 4n, before: 39, after: 44, result: 'applied' } as const;
    const undoes = await recordRun(shop, [{ ...row, petId: 3n, before: 1, after: 90 }, row]);
    const undone = { petId: 4n, before: 44, after: 39, quantity, result: 'differs' } as const;
    await recordRun(shop, [{ ...undone, line: 2 }], { command: 'undo', undoes });
    expect(await totalsOf(shop)).toEqual([
      { ...none, petId: 3, in: 89, now: 90 },
      { ...none, petId: 4, ...sums, now: quantity },
    ]);
  },
);

test('counts the undo of unknown rows as unknown in history totals, and cancels out the other rows', async ({
  shop,
}) => {
  const rows: TestRow[] = [
    { petId: 4n, before: 39, after: 44, result: 'unknown' },
    { petId: 5n, before: 1, after: 3, result: 'applied' },
    { petId: 6n, before: 6, after: 9, result: 'unknown' },
  ];
  const run = await recordRun(shop, rows, { service: serviceNameOf(shop.service.url) });
  await shop.run(`history discard ${run} --yes`);
  await setElsewhere(shop, 44);
  await setElsewhere(shop, 3, 5);
  const undo = await shop.json(`undo ${run} --yes --json`);
  expect(undo.rows).toMatchObject([{ petId: 4, result: 'applied' }, { petId: 5, result: 'applied' }, { petId: 6 }]);
  expect(await totalsOf(shop)).toEqual([
    { ...none, petId: 4, unknown: 2, now: 39 },
    { ...none, petId: 5, now: 1 },
    { ...none, petId: 6, unknown: 1, now: 14 },
  ]);
  await shop.exits(`undo ${undo.run} --yes`, 0);
  expect(await totalsOf(shop)).toEqual([
    { ...none, petId: 4, unknown: 3, now: 44 },
    { ...none, petId: 5, in: 2, now: 3 },
    { ...none, petId: 6, unknown: 1, now: 14 },
  ]);
});

test('leaves conflicts out of history totals, and rows outside the given period or environment', async ({ shop }) => {
  await shop.run(['inventory', 'apply', changeFile(shop, 'petId,quantity,expected\n4,1,2\n5,9,1\n'), '--yes']);
  expect(await totalsOf(shop)).toEqual([{ ...none, petId: 5, in: 8, now: 9 }]);
  await shop.run('--env sandbox inventory adjust 4 -1');
  expect(await totalsOf(shop, ' --env staging')).toHaveLength(1);
  expect(await totalsOf(shop)).toMatchObject([
    { petId: 4, out: 1, env: 'sandbox' },
    { petId: 5, env: 'staging' },
  ]);
  expect(await totalsOf(shop, ' --env sandbox')).toMatchObject([{ petId: 4, name: 'Rabbit', now: 38 }]);
  expect(await totalsOf(shop, ' --until 2020-01-01')).toEqual([]);
  const table = await shop.run('history totals', { terminal: 100, env: { NO_COLOR: '1' } });
  expect(table.stdout).toMatch(/sandbox\n.*staging\n/);
  expect(await shop.refused('history totals --since never')).toContain('--since takes a date');
});
