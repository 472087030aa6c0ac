import { expect, test } from 'vitest';
import { answers } from '../../support/scripted-actions.ts';
import { scriptedService } from '../../support/scripted-service.ts';
import { openShop } from '../../support/shop.ts';

/** A plain set does not read. What `undo` goes back to is what the history last knew of the pet, and nothing else. */
async function shopWith(stdin: string) {
  const shop = await openShop();
  const service = await scriptedService();
  const run = (command: string) => shop.run(command, { env: service.env, stdin });
  return { service, run };
}

test('a row that a resumed run found as it was wanted counts', async () => {
  const { service, run } = await shopWith('petId,quantity\n1,5\n2,6\n');
  service.next('PATCH /inventory/1', answers(400));
  const broken = await run('inventory apply - --yes --fail-fast --concurrency 1 --json');
  service.sell(2, 4);
  const resumed = await run(`inventory apply --resume ${JSON.parse(broken.stdout).run} --yes --json`);
  expect(JSON.parse(resumed.stdout).rows[1]).toMatchObject({ petId: 2, result: 'unchanged' });
  await run('inventory set 2 3');
  const undone = await run('undo --last --yes --json');
  expect(undone.code).toBe(0);
  expect(JSON.parse(undone.stdout).rows).toMatchObject([{ petId: 2, before: 3, after: 6, result: 'applied' }]);
  expect(service.stockOf(2)).toBe(6);
});

test('a row that a run left to another, or to a conflict, counts with the stock that it was planned on', async () => {
  const { service, run } = await shopWith('petId,quantity,expected\n1,5,10\n2,6,11\n');
  await run('inventory apply - --yes --json');
  await run('inventory set 2 3');
  expect((await run('undo --last --yes --json')).code).toBe(0);
  expect(service.stockOf(2)).toBe(10);
});

test('a row that needed no change when the run was planned is counted and not kept, and what get shows is no history', async () => {
  const { service, run } = await shopWith('petId,quantity\n1,5\n2,10\n');
  await run('inventory apply - --yes');
  await run('inventory get 2');
  await run('inventory set 2 3');
  const [{ run: set }] = JSON.parse((await run('history list --json')).stdout);
  const undone = await run(`undo ${set} --yes`);
  expect(undone).toMatchObject({ code: 2, requests: [] });
  expect(undone.stderr).toContain('without reading it, so it is not known what it was');
  expect(undone.stderr).toContain('--read-first');
  expect(service.stockOf(2)).toBe(3);
});
