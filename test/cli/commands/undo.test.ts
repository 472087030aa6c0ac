import { expect } from 'vitest';
import { answers } from '../../support/scripted-service.ts';
import { apply, openShop, shopOf, stockOf, withReport } from '../../support/shop.ts';
import { test } from '../../support/till.ts';

const csv = 'petId,quantity\n4,12\n5,9\n9007199254740993,3\n';

test('undoes the changes of a run in a run of its own', async ({ shop }) => {
  const before = await stockOf(shop);
  const { report } = await apply(shop, csv);
  const undone = withReport(await shop.run(['undo', report.run, '--yes', '--json']));
  expect(undone.code).toBe(0);
  expect(undone.sent).toEqual([
    'GET /v1/inventory',
    'PATCH /v1/inventory/4 {"quantity":39}',
    'PATCH /v1/inventory/5 {"quantity":1}',
    'PATCH /v1/inventory/9007199254740993 {"quantity":0}',
  ]);
  expect(await stockOf(shop)).toEqual(before);
  const [latest, first] = await shop.json('history list --json');
  expect(latest).toMatchObject({ command: 'undo', undoes: report.run });
  expect(first).toMatchObject({ run: report.run, undoneBy: [latest.run] });
  expect(await shop.refused(`undo ${report.run} --yes`)).toContain(`was already undone by ${latest.run}`);
  await shop.exits(`undo ${latest.run.slice(-4)} --yes`, 0);
  expect((await stockOf(shop)).get('4')).toBe(12);
});

test('exits with 8 if the undo of an undo meets a changed row, and still shows the run as undone', async ({ shop }) => {
  await apply(shop, 'petId,quantity\n4,12\n5,9\n');
  const { run } = await shop.json('undo --last --yes --json');
  await shop.run('inventory set 5 77');
  await shop.exits(`undo ${run} --yes`, 8);
  expect((await shop.json('history list --json')).at(-1)).toMatchObject({ undoneBy: [run] });
});

test('undoes a row only if the stock is still what was written', async ({ shop }) => {
  const { report } = await apply(shop, csv);
  await shop.run('inventory set 5 77');
  await shop.run('inventory set 4 39');
  const undone = withReport(await shop.run(['undo', report.run, '--yes', '--json']));
  expect(undone.code).toBe(8);
  expect(undone.report.rows.map(({ result }) => result)).toEqual(['unchanged', 'conflict', 'applied']);
  expect((await stockOf(shop)).get('5')).toBe(77);
});

test('does not undo a row twice, and undoes a conflict once the later run is undone', async ({ shop }) => {
  const { report } = await apply(shop, csv);
  const undo = () => shop.json(`undo ${report.run} --yes --json`);
  await shop.run('inventory set 5 77 --read-first');
  const [{ run: between }] = await shop.json('history list --json');
  const blocked = (await undo()).rows.find(({ petId }: { readonly petId: number }) => petId === 5);
  expect(blocked.error.message).toContain(between);
  await shop.exits(`undo ${between} --yes`, 0);
  expect((await undo()).rows).toMatchObject([{ petId: 5, result: 'applied' }]);
  expect(await shop.refused(`undo ${report.run} --yes`)).toContain('already undone');
});

test('refuses to undo without --yes, without a run or in another environment', async ({ shop }) => {
  for (const command of ['undo k3x9 --last', 'undo']) await shop.refused(command);
  const { report } = await apply(shop, csv);
  for (const command of [`undo ${report.run}`, `inventory apply --resume ${report.run}`]) {
    const hint = `Hint: petstock ${command} --yes --env staging\n`;
    expect(await shop.refused(`${command} --yes --env production`)).toContain(hint);
  }
  await shop.exits(`undo ${report.run}`, 2);
  await shop.exits(`undo ${report.run} --dry-run --exit-code`, 3);
  expect((await stockOf(shop)).get('4')).toBe(12);
});

test('prints an undo command that names the environment, except with -q or if nothing was written', async ({
  shop,
}) => {
  expect((await apply(shop, 'petId,quantity\n4,39\n')).stderr).not.toContain('Undo:');
  const env = { PETSTOCK_URL_PRODUCTION: shop.service.url, PETSTOCK_API_KEY_PRODUCTION: shop.service.key };
  const { report, stderr } = await apply(shop, 'petId,quantity\n4,12\n', ['-e', 'production'], { env });
  expect(stderr).toContain(`Undo: petstock undo ${report.run.slice(-4)} --env production\n`);
  expect((await apply(shop, 'petId,quantity\n4,13\n', ['-q'])).stderr).toBe('');
});

test('undo --last names its run, and skips undos and undone runs', async ({ shop }) => {
  const first = await apply(shop, 'petId,quantity\n4,12\n');
  const { report } = await apply(shop, 'petId,quantity,reason\n5,9,fair\n6,9,fair\n');
  const last = withReport(await shop.exits('undo --last --yes --json', 0, `Run ${report.run}: inventory apply`));
  expect(last.report.rows.map(({ petId }) => petId)).toEqual([5, 6]);
  const stock = await stockOf(shop);
  expect(['4', '5', '6'].map((petId) => stock.get(petId))).toEqual([12, 1, 14]);
  await shop.exits('undo --last --yes', 0, `Run ${first.report.run}`);
  await shop.exits('undo latest --yes', 9, 'Nothing to undo in staging');
});

test('undo --last goes by the last write of a resumed run', async ({ till }) => {
  till.service.next('PATCH /inventory/1', answers(400));
  const stdin = 'petId,delta\n1,+5\n2,+5\n';
  const { run } = await till.json('inventory apply - --yes --fail-fast --concurrency 1 --json', { stdin });
  await till.run('inventory adjust 2 +1');
  const [adjust] = await till.history();
  await till.run(`inventory apply --resume ${run} --yes`);
  for (const [undone, stock] of [
    [run, 11],
    [adjust?.run, 10],
  ]) {
    await till.exits('undo --last --yes', 0, `Run ${undone}: inventory`);
    expect(till.service.stockOf(2)).toBe(stock);
  }
});

test('undo --last skips a run whose pet another environment has written since', async ({ shop }) => {
  const env = { PETSTOCK_URL_PRODUCTION: shop.service.url, PETSTOCK_API_KEY_PRODUCTION: shop.service.key };
  const first = await apply(shop, 'petId,quantity\n4,12\n');
  const second = await apply(shop, 'petId,quantity\n5,9\n');
  const { report } = await apply(shop, 'petId,quantity\n5,8\n', ['-e', 'production'], { env });
  const skipped = `Skipped: run ${second.report.run} (inventory apply) can't be undone: run ${report.run} (inventory apply) has written the stock since.\n`;
  await shop.exits('undo --last --yes', 0, [skipped, `Run ${first.report.run}: inventory apply`]);
  expect((await stockOf(shop)).get('5')).toBe(8);
});

test('undo --last skips a run of another URL, and reports the skipped run', async ({ shop }) => {
  const { report } = await apply(shop, csv);
  const elsewhere = await openShop();
  const other = await apply(shopOf({ ...elsewhere, folders: shop.folders, clock: shop.clock }), csv);
  const passed = `Skipped: run ${other.report.run} (inventory apply) was made at ${elsewhere.service.url}.\n`;
  await shop.exits('undo --last --yes', 0, [passed, `Run ${report.run}: inventory apply`]);
  await shop.exits('undo --last --yes', 9, `was made at ${elsewhere.service.url}`);
  // A run at another URL is refused even if its id is given.
  expect(await shop.refused(`undo ${other.report.run} --yes`)).toContain('Nothing was sent');
});

test('undoes a plain set to the stock that a resumed run had found unchanged', async ({ till }) => {
  const { service } = till;
  service.next('PATCH /inventory/1', answers(400));
  const stdin = 'petId,quantity\n1,5\n2,6\n';
  const broken = await till.json('inventory apply - --yes --fail-fast --concurrency 1 --json', { stdin });
  service.sell(2, 4);
  const resumed = await till.json(`inventory apply --resume ${broken.run} --yes --json`);
  expect(resumed.rows[1]).toMatchObject({ petId: 2, result: 'unchanged' });
  await till.run('inventory set 2 3');
  const undone = await till.exits('undo --last --yes --json', 0);
  expect(await till.rows(undone)).toMatchObject([{ petId: 2, before: 3, after: 6, result: 'applied' }]);
  expect(service.stockOf(2)).toBe(6);
});

test('undoes a plain set to the stock that an earlier conflict had read', async ({ till }) => {
  await till.run('inventory apply - --yes --json', { stdin: 'petId,quantity,expected\n1,5,10\n2,6,11\n' });
  await till.run('inventory set 2 3');
  await till.exits('undo --last --yes --json', 0);
  expect(till.service.stockOf(2)).toBe(10);
});

test('refuses to undo a plain set if only a get or an unchanged row had read the pet', async ({ till }) => {
  await till.run('inventory apply - --yes', { stdin: 'petId,quantity\n1,5\n2,10\n' });
  await till.run('inventory get 2');
  await till.run('inventory set 2 3');
  const [set] = await till.history();
  const stderr = await till.refused(`undo ${set?.run} --yes`);
  expect(stderr).toContain('without reading it first, so the previous value is unknown');
  expect(till.service.stockOf(2)).toBe(3);
});

test("undo --last skips and reports runs that it can't or need not undo", async () => {
  const shop = await openShop({ quantityBounds: { min: 0n } });
  for (const repeated of [1, 2]) await shop.run(`inventory set 8 32 --expect 32 --ref ${repeated}`);
  await shop.run('inventory adjust 4 +5');
  await shop.run('inventory set 8 32 --expect 32');
  await shop.run('inventory set 5 3');
  await shop.run('inventory set 6 -4');
  const { stderr } = await shop.exits('undo --last --yes', 0);
  for (const why of ['wrote nothing.', 'changed nothing.', 'set a stock without reading it first'])
    expect(stderr.replace(/run \S+ \(/g, 'run (')).toContain(`Skipped: run (inventory set) ${why}`);
  expect((await stockOf(shop)).get('4')).toBe(39);
  await shop.exits('undo --last --yes', 9, /Nothing to undo in staging\.(.|\n)*was already undone(.|\n)*And 1 more\./);
});

test('undo --last follows the order of writes even if the clock was set back', async ({ shop }) => {
  await shop.run('inventory adjust 4 +5');
  shop.clock.step(-3_600_000);
  await shop.run('inventory adjust 5 +5');
  await shop.run('undo --last --yes');
  expect([(await stockOf(shop)).get('4'), (await stockOf(shop)).get('5')]).toEqual([44, 1]);
});

test('records the reason of undo --last, and repeats its options in hints', async ({ shop }) => {
  await shop.run('inventory adjust 4 +5 --ref N-881');
  const options = '--max-zero 3 --reason mistake --ref X-1';
  const [{ run: adjusted }] = await shop.json('history list --json');
  expect(await shop.refused(`undo --last ${options}`)).toContain(
    `Hint: petstock undo ${adjusted} ${options} --env staging --dry-run\n`,
  );
  expect(await shop.refused(`undo ${adjusted} ${options} --env sandbox`)).toContain(
    `Hint: petstock undo ${adjusted} ${options} --env staging\n`,
  );
  const { run } = await shop.json(`undo --last --yes ${options} --json`);
  const { rows } = await shop.json(`history show ${run} --json`);
  expect(rows).toMatchObject([{ petId: 4, reason: 'mistake', ref: 'N-881' }]);
});
