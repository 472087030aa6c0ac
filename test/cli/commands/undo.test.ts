import { describe, expect } from 'vitest';
import { apply, stockOf, withReport } from '../../support/changes.ts';
import { sent } from '../../support/requests.ts';
import { test } from '../../support/shop.ts';

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
  const [latest, first] = JSON.parse((await shop.run('history list --json')).stdout);
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
  const [{ run: between }] = JSON.parse((await shop.run('history list --json')).stdout);
  const blocked = withReport(await shop.run(['undo', report.run, '--yes', '--json']));
  expect(blocked.report.rows.find(({ petId }) => petId === 5)?.error?.message).toContain(between);
  expect(await shop.run(['undo', between, '--yes'])).toMatchObject({ code: 0 });
  const again = withReport(await shop.run(['undo', report.run, '--yes', '--json']));
  expect(again.report.rows).toMatchObject([{ petId: 5, result: 'applied' }]);
  const third = await shop.run(['undo', report.run, '--yes']);
  expect(third).toMatchObject({ code: 2, requests: [] });
  expect(third.stderr).toContain('taken back already');
});

describe('of a single write', () => {
  test('goes back to the stock that was read', async ({ shop }) => {
    await shop.run('inventory adjust 4 -2');
    const [{ run }] = JSON.parse((await shop.run('history list --json')).stdout);
    expect(await shop.run(['undo', run, '--yes'])).toMatchObject({ code: 0 });
    expect((await stockOf(shop)).get('4')).toBe(39);
  });

  test('is refused where the stock was not read', async ({ shop }) => {
    await shop.run('inventory set 4 12');
    const [{ run }] = JSON.parse((await shop.run('history list --json')).stdout);
    const undone = await shop.run(['undo', run, '--yes']);
    expect(undone).toMatchObject({ code: 2, requests: [] });
    expect(undone.stderr).toContain('without reading it');
    expect((await stockOf(shop)).get('4')).toBe(12);
  });
});

test('tells the environment of the run before it asks anything of another', async ({ shop }) => {
  const { report } = await apply(shop, csv);
  for (const command of [
    ['undo', report.run],
    ['inventory', 'apply', '--resume', report.run],
  ]) {
    const { code, stderr } = await shop.run([...command, '--yes', '--env', 'production']);
    expect(code).toBe(2);
    expect(stderr).toContain(`Hint: petstock ${command.join(' ')} --env staging\n`);
  }
});

test('asks first, has a dry run, and refuses another environment', async ({ shop }) => {
  const { report } = await apply(shop, csv);
  expect(await shop.run(['undo', report.run])).toMatchObject({ code: 2 });
  expect(await shop.run(['undo', report.run, '--dry-run', '--exit-code'])).toMatchObject({ code: 3 });
  expect(await shop.run(['undo', report.run, '--yes', '--env', 'sandbox'])).toMatchObject({ code: 2 });
  expect((await stockOf(shop)).get('4')).toBe(12);
});
