import { expect } from 'vitest';
import { answers } from '../../support/scripted-actions.ts';
import { apply, changeFile, confirming, sent, stockOf, withReport } from '../../support/shop.ts';
import { test } from '../../support/till.ts';

const csv = 'petId,quantity\n4,12\n5,9\n9007199254740993,3\n';

test('takes back what a run has written, and is a run of its own', async ({ shop }) => {
  const before = await stockOf(shop);
  const { report } = await apply(shop, csv);
  const undone = withReport(await shop.run(['undo', report.run, '--yes', '--json']));
  expect(undone.code).toBe(0);
  expect(sent(undone)).toEqual([
    'GET /v1/inventory',
    'PATCH /v1/inventory/4 {"quantity":39}',
    'PATCH /v1/inventory/5 {"quantity":1}',
    'PATCH /v1/inventory/9007199254740993 {"quantity":0}',
  ]);
  expect(await stockOf(shop)).toEqual(before);
  const [latest, first] = await shop.json('history list --json');
  expect(latest).toMatchObject({ command: 'undo', undoes: report.run });
  expect(first).toMatchObject({ run: report.run, undoneBy: [latest.run] });
  expect(await shop.run(['undo', latest.run.slice(-4), '--yes'])).toMatchObject({ code: 0 });
  expect((await stockOf(shop)).get('4')).toBe(12);
});

test('only where the stock is still what was written', async ({ shop }) => {
  const { report } = await apply(shop, csv);
  await shop.run('inventory set 5 77');
  await shop.run('inventory set 4 39');
  const undone = withReport(await shop.run(['undo', report.run, '--yes', '--json']));
  expect(undone.code).toBe(8);
  expect(undone.report.rows.map(({ result }) => result)).toEqual(['unchanged', 'conflict', 'applied']);
  expect((await stockOf(shop)).get('5')).toBe(77);
});

test('never twice; what was a conflict may be taken back once what came between is taken back', async ({ shop }) => {
  const { report } = await apply(shop, csv);
  await shop.run('inventory set 5 77 --read-first');
  const [{ run: between }] = await shop.json('history list --json');
  const blocked = withReport(await shop.run(['undo', report.run, '--yes', '--json']));
  expect(blocked.report.rows.find(({ petId }) => petId === 5)?.error?.message).toContain(between);
  expect(await shop.run(['undo', between, '--yes'])).toMatchObject({ code: 0 });
  const again = withReport(await shop.run(['undo', report.run, '--yes', '--json']));
  expect(again.report.rows).toMatchObject([{ petId: 5, result: 'applied' }]);
  const third = await shop.run(['undo', report.run, '--yes']);
  expect(third).toMatchObject({ code: 2, requests: [] });
  expect(third.stderr).toContain('taken back already');
});

test('tells the environment of the run before it asks anything of another', async ({ shop }) => {
  const { report } = await apply(shop, csv);
  for (const command of [
    ['undo', report.run],
    ['inventory', 'apply', '--resume', report.run],
  ]) {
    expect(await shop.refused([...command, '--yes', '--env', 'production'])).toContain(
      `Hint: petstock ${command.join(' ')} --env staging\n`,
    );
  }
});

test('asks first, and has a dry run', async ({ shop }) => {
  const { report } = await apply(shop, csv);
  expect(await shop.run(['undo', report.run])).toMatchObject({ code: 2 });
  expect(await shop.run(['undo', report.run, '--dry-run', '--exit-code'])).toMatchObject({ code: 3 });
  expect((await stockOf(shop)).get('4')).toBe(12);
});

test('where nothing was written, or for another environment than the default, it says what fits', async ({ shop }) => {
  expect((await apply(shop, 'petId,quantity\n4,39\n')).stderr).not.toContain('Take it back');
  const env = { PETSTOCK_URL_PRODUCTION: shop.service.url, PETSTOCK_API_KEY_PRODUCTION: shop.service.key };
  const { report, stderr } = await apply(shop, 'petId,quantity\n4,12\n', ['-e', 'production'], { env });
  expect(stderr).toContain(`Take it back: petstock undo ${report.run.slice(-4)} --env production\n`);
  expect((await apply(shop, 'petId,quantity\n4,13\n', ['-q'])).stderr).toBe('');
});

test('undo --last shows which run it is, and takes the latest of the environment back', async ({ shop }) => {
  await apply(shop, 'petId,quantity\n4,12\n');
  const { report } = await apply(shop, 'petId,quantity,reason\n5,9,fair\n6,9,fair\n');
  const result = withReport(await shop.run('undo --last --yes --json'));
  expect(result.code).toBe(0);
  expect(result.stderr).toContain(`Run ${report.run}: inventory apply`);
  expect(result.report.rows.map(({ petId }) => petId)).toEqual([5, 6]);
  const stock = await stockOf(shop);
  expect([stock.get('4'), stock.get('5'), stock.get('6')]).toEqual([12, 1, 14]);
});

test('undo --last passes over undos, and over runs that were taken back', async ({ shop }) => {
  const first = await apply(shop, 'petId,quantity\n4,12\n');
  await apply(shop, 'petId,quantity\n5,9\n');
  await shop.run('undo --last --yes');
  const again = await shop.run('undo --last --yes');
  expect(again.code).toBe(0);
  expect(again.stderr).toContain(`Run ${first.report.run}`);
  const third = await shop.run('undo --last --yes');
  expect(third).toMatchObject({ code: 2, requests: [] });
  expect(third.stderr).toContain('There is nothing to take back in staging');
});

test('on a terminal the question says which run it is, with --quiet too', async ({ shop }) => {
  const file = changeFile(shop, 'petId,quantity\n4,12\n');
  await shop.run(['inventory', 'apply', file, '--yes']);
  const { asked, prompts } = confirming(true);
  await shop.run('undo --last --quiet', { terminal: 100, prompts });
  expect(asked).toEqual([
    expect.stringMatching(/^Pet 4 in staging: 12 → 39 .*, as before inventory apply, run \w{4}\. Take it back\?$/),
  ]);
});

test('a run and --last are not both taken, nor none of them', async ({ shop }) => {
  expect(await shop.run('undo k3x9 --last')).toMatchObject({ code: 2, requests: [] });
  expect(await shop.run('undo')).toMatchObject({ code: 2, requests: [] });
});

// A plain set does not read. What `undo` goes back to is what the history last knew of the pet, and nothing else.
test('a row that a resumed run found as it was wanted counts', async ({ till: { service, run } }) => {
  const stdin = 'petId,quantity\n1,5\n2,6\n';
  service.next('PATCH /inventory/1', answers(400));
  const broken = await run('inventory apply - --yes --fail-fast --concurrency 1 --json', { stdin });
  service.sell(2, 4);
  const resumed = await run(`inventory apply --resume ${JSON.parse(broken.stdout).run} --yes --json`);
  expect(JSON.parse(resumed.stdout).rows[1]).toMatchObject({ petId: 2, result: 'unchanged' });
  await run('inventory set 2 3');
  const undone = await run('undo --last --yes --json');
  expect(undone.code).toBe(0);
  expect(JSON.parse(undone.stdout).rows).toMatchObject([{ petId: 2, before: 3, after: 6, result: 'applied' }]);
  expect(service.stockOf(2)).toBe(6);
});

test('a row that a run left to another, or to a conflict, counts with the stock that it was planned on', async ({
  till: { service, run },
}) => {
  const stdin = 'petId,quantity,expected\n1,5,10\n2,6,11\n';
  await run('inventory apply - --yes --json', { stdin });
  await run('inventory set 2 3');
  expect((await run('undo --last --yes --json')).code).toBe(0);
  expect(service.stockOf(2)).toBe(10);
});

test('a row that needed no change when the run was planned is counted and not kept, and what get shows is no history', async ({
  till: { service, run },
}) => {
  const stdin = 'petId,quantity\n1,5\n2,10\n';
  await run('inventory apply - --yes', { stdin });
  await run('inventory get 2');
  await run('inventory set 2 3');
  const [{ run: set }] = JSON.parse((await run('history list --json')).stdout);
  const undone = await run(`undo ${set} --yes`);
  expect(undone).toMatchObject({ code: 2, requests: [] });
  expect(undone.stderr).toContain('without reading it, so it is not known what it was');
  expect(undone.stderr).toContain('--read-first');
  expect(service.stockOf(2)).toBe(3);
});
