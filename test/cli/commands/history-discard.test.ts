import { expect } from 'vitest';
import { recordRun } from '../../support/recorded-runs.ts';
import { hang } from '../../support/scripted-service.ts';
import { changeFile, confirming, noCounts } from '../../support/shop.ts';
import { killAt, test } from '../../support/till.ts';

const applied = { petId: 4n, before: 39, after: 40, result: 'applied', quantity: 40 } as const;
const unsent = { petId: 5n, before: 1, after: 2, result: 'pending' } as const;
const unknown = { petId: 6n, before: 14, after: 15, result: 'unknown' } as const;

test('discards an unfinished run without sending anything, and keeps the run in the history', async ({ shop }) => {
  const run = await recordRun(shop, [applied, unsent]);
  const { stdout, sent } = await shop.exits(`history discard ${run.slice(-4)} --json`, 0, '1 of 2 changes written');
  expect(sent).toEqual([]);
  const listed = { run, state: 'done', counts: { ...noCounts, applied: 1, failed: 1, pending: 0 } };
  expect(JSON.parse(stdout)).toMatchObject(listed);
  expect(await shop.json('history list --json')).toMatchObject([listed]);
  expect(await shop.json('history list --json --state incomplete')).toEqual([]);
  expect(await shop.json(`history show ${run} --json --state failed`)).toMatchObject({
    rows: [{ petId: 5, error: { code: 'discarded' } }],
  });
  for (const show of ['history list', `history show ${run}`]) {
    const { stdout, stderr } = await shop.run(show, { terminal: 120 });
    expect(stdout + stderr).toMatch(/1 of 2 applied, discarded|1 of 2 changes written; discarded/);
    expect(stderr).not.toContain('--resume');
  }
  await shop.exits('inventory apply --resume latest --yes', 9, 'There is no unfinished run');
});

test('refuses to resume a discarded run by its id', async ({ shop }) => {
  const run = await recordRun(shop, [unsent]);
  await shop.exits(`history discard ${run}`, 0);
  for (const options of ['--yes', '--dry-run']) {
    const { sent } = await shop.exits(`inventory apply --resume ${run} ${options}`, 7, [
      'was discarded. Nothing was',
      `petstock history show ${run}`,
    ]);
    expect(sent).toEqual([]);
  }
  await shop.exits(`history discard ${run}`, 0, 'was already discarded');
});

test('discards a run with unknown rows, and warns about them', async ({ shop }) => {
  const run = await recordRun(shop, [applied, unknown, unsent]);
  const { stdout } = await shop.exits('history discard latest --json', 0, [
    'Warning: It is not known whether 1 row was written',
    `petstock history show ${run} --state unknown`,
  ]);
  expect(JSON.parse(stdout)).toMatchObject({
    state: 'done',
    counts: { applied: 1, unknown: 1, failed: 1, pending: 0 },
  });
  expect(await shop.json('history list --json --state done')).toMatchObject([{ run }]);
  await shop.exits('history prune --keep 0 --yes', 0, /Removed 1 run/);
});

test('refuses to discard a finished or missing run, and leaves a run unfinished if the user declines', async ({
  shop,
}) => {
  const done = await recordRun(shop, [applied]);
  await shop.refused(`history discard ${done}`);
  await shop.exits('history discard zzzz', 9);
  await shop.exits(
    'history discard latest --env production',
    9,
    'There is no run of production of all stores in the history',
  );
  const open = await recordRun(shop, [applied, unsent]);
  const { prompts, asked } = confirming(false);
  await shop.exits(`history discard ${open}`, 2, 'The run was not changed', { terminal: 80, prompts });
  expect(asked).toEqual([expect.stringContaining('1 of 2 changes written')]);
  expect(await shop.json('history list --json --state incomplete')).toMatchObject([{ run: open }]);
});

test('refuses the file of a discarded run without --again if its deltas may have been written', async ({ till }) => {
  const apply = `inventory apply ${till.file('delivery.csv', 'petId,delta\n1,1\n2,1\n')} --concurrency 1`;
  const run = await killAt(till, hang, `${apply} --yes`);
  await till.exits(`${apply} --yes`, 7, `--resume ${run}`);
  await till.exits(`history discard ${run}`, 0);
  const { sent } = await till.exits(`${apply} --yes`, 2, ['may have been applied at', '--again']);
  expect(sent.filter((line) => line.startsWith('PATCH'))).toEqual([]);
  await till.exits(`${apply} --yes --again`, 0);
});

test('applies a file of quantities again without --again after its run is discarded and undone', async ({ shop }) => {
  const apply = `inventory apply ${changeFile(shop, 'petId,quantity\n1,7\n2,7\n')} --concurrency 1 --yes`;
  shop.service.setFaults(['PATCH /inventory/2:status=401']);
  await shop.exits(apply, 8);
  shop.service.setFaults([]);
  await shop.exits(apply, 7);
  await shop.exits('history discard latest', 0);
  await shop.exits('undo latest --yes', 0, '1 applied');
  await shop.exits(apply, 0);
});

test('reports an empty history without naming a store', async ({ shop }) => {
  await shop.run('inventory set 4 12');
  await shop.run('history prune --keep 0 --yes');
  await shop.exits('history show latest', 9, 'Error: There is no run in the history.\n');
});
