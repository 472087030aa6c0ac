import { expect } from 'vitest';
import { apply, changeFile, stockOf, withReport } from '../../support/changes.ts';
import { test } from '../../support/shop.ts';

test('after an apply, stderr says how to take it back', async ({ shop }) => {
  const { report, stderr } = await apply(shop, 'petId,quantity\n4,12\n');
  expect(stderr).toContain(`Take it back: petstock undo ${report.run.slice(-4)}\n`);
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
  const asked: string[] = [];
  const confirm = async (question: string) => asked.push(question) > 0;
  await shop.run('undo --last --quiet', { terminal: 100, prompts: { confirm } });
  expect(asked).toEqual([
    expect.stringMatching(/^Pet 4 in staging: 12 → 39 .*, as before inventory apply, run \w{4}\. Take it back\?$/),
  ]);
});

test('a run and --last are not both taken, nor none of them', async ({ shop }) => {
  expect(await shop.run('undo k3x9 --last')).toMatchObject({ code: 2, requests: [] });
  expect(await shop.run('undo')).toMatchObject({ code: 2, requests: [] });
});
