import { rmSync } from 'node:fs';
import { expect, vi } from 'vitest';
import { temporaryDatabase } from '../../../../support/postgres.ts';
import { answers } from '../../../../support/scripted-actions.ts';
import {
  changeFile,
  openShop,
  type Shop,
  shopOf,
  stockOf,
  temporaryFolders,
  test,
  withEnv,
} from '../../../../support/shop.ts';
import { stateSql } from '../../../../support/state-sql.ts';
import { openTill } from '../../../../support/till.ts';
import { begun, count, person, sessionIn, sessionsIn, statesIn } from './count-rig.ts';

const codesOf = (shop: Shop, ...rows: readonly string[]) =>
  changeFile(shop, ['code,petId', ...rows, ''].join('\n'), 'c.csv');

test('reads scanned digits as a code once a codes file is given', async ({ shop }) => {
  const digits = '4006381333931';
  expect((await count(shop, `${digits} x2\nX-12\n`)).code).toBe(9);
  const codes = codesOf(shop, `${digits},4`, 'X-12,8');
  const [session] = await sessionsIn(shop);
  expect(await count(shop, '', `${session} --yes --codes ${codes}`)).toMatchObject({
    code: 0,
    written: ['4 {"quantity":2}', '8 {"quantity":1}'],
  });
});

test('suggests a codes file if no scanned code is known', async ({ shop }) => {
  const { code, stderr } = await count(shop, 'foo x2\n', '--yes');
  const session = await sessionIn(shop);
  expect({ code, stderr }).toMatchObject({
    code: 9,
    stderr: expect.stringContaining(`Session ${session} keeps 2 units`),
  });
  expect(stderr).toContain(`Hint: petstock inventory count ${session} --codes '<codes.csv>' --yes --env staging\n`);
});

test('reads digits of merged sessions as a code once a codes file is given', async ({ shop }) => {
  await count(shop, '4006381333931 x2\n', '--new --yes');
  await count(shop, '4006381333931\n', '--new --yes');
  const [one, two] = await sessionsIn(shop);
  expect((await count(shop, '', `--merge ${one} ${two} --yes`)).code).toBe(9);
  const merged = (await sessionsIn(shop)).at(-1);
  const codes = codesOf(shop, '4006381333931,4');
  expect((await count(shop, '', `${merged} --yes --codes ${codes}`)).written).toEqual(['4 {"quantity":3}']);
});

test('keeps unknown codes in the counting session, and writes only their units with a codes file', async ({ shop }) => {
  expect(await count(shop, '4 x2\nfoo x3\nbar\n')).toMatchObject({ code: 8, written: ['4 {"quantity":2}'] });
  const session = await sessionIn(shop);
  // One of the written units is sold.
  expect((await shop.run('inventory set 4 1')).code).toBe(0);
  const some = await count(shop, '', `${session} --yes --codes ${codesOf(shop, 'foo,8')}`);
  expect(some).toMatchObject({ code: 8, written: ['8 {"quantity":3}'] });
  const rest = await count(shop, '', `${session} --yes --codes ${codesOf(shop, 'bar,4')}`);
  expect(rest).toMatchObject({ code: 0, written: ['4 {"quantity":2}'] });
  expect(await statesIn(shop)).toEqual(['applied']);
});

test('ends a counting session whose last unknown code is dropped', async ({ shop }) => {
  await count(shop, '4 x2\nfoo x3\n');
  const written = await count(shop, '= foo 0\n', `${await sessionIn(shop)} --yes --json`);
  expect(written).toMatchObject({ code: 0, written: [], report: { run: null, rows: [] } });
  await count(shop, 'foo\n');
  const nothing = await count(shop, '= foo 0\n', `${(await sessionsIn(shop))[1]} --yes`);
  expect(nothing).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/Nothing was counted. Nothing was written.\n$/),
  });
  expect(await statesIn(shop)).toEqual(['applied', 'discarded']);
});

test('does not add counted units twice with a shared state if the local folder is deleted', async () => {
  const shop = withEnv(await openShop(), { PETSTOCK_STATE_URL: await temporaryDatabase() });
  const before = (await stockOf(shop)).get('4') ?? 0;
  const confirm = async () => {
    rmSync(shop.folders.state, { recursive: true });
    return true;
  };
  const stopped = await count(shop, '4 x2\ndone\n', '--add', { ...person, prompts: { confirm } });
  expect(stopped.stderr.replace(/\s+/g, ' ')).toMatch(/its scans are lost and have to be counted again. $/);
  expect(await shop.json('history list --json')).toEqual([]);
  await count(shop, '4 x2\n', '--add --yes --new');
  await shop.run('inventory apply --resume latest --yes');
  expect((await stockOf(shop)).get('4')).toBe(before + 2);
});

test('refuses counted units that an unfinished run already has, even if the local folder is deleted', async () => {
  const shop = withEnv(await openShop(), { PETSTOCK_STATE_URL: await temporaryDatabase() });
  const before = await stockOf(shop);
  shop.service.setFaults(['PATCH /inventory/5:status=401']);
  expect((await count(shop, '4 x2\n5 x3\n', '--add --yes --concurrency 1')).code).toBe(8);
  shop.service.setFaults([]);
  rmSync(shop.folders.state, { recursive: true });
  const [{ run }] = await shop.json('history list --json');
  for (const options of ['--dry-run', '--yes']) {
    const again = await count(shop, '4 x2\n5 x3\n', `--add --new ${options}`);
    expect(again).toMatchObject({ code: 7, written: [] });
    expect(again.stderr.replace(/\s+/g, ' ')).toContain(
      `Error: Run ${run} is unfinished and has the same units of the same pets. Nothing was written. Hint: petstock inventory apply --resume ${run} `,
    );
  }
  expect(await statesIn(shop)).toEqual(['discarded']);
  const confirm = vi.fn(async (_question: string) => false);
  await count(shop, '4 x2\n5 x3\ndone\n', '--add', { ...person, prompts: { confirm } });
  expect(confirm.mock.calls.join()).toContain(`AGAIN? Run ${run.slice(-4)} is unfinished and has the same units`);
  // This delivery shares one pet with the run.
  const other = await count(shop, '5 x1\n6\n', '--add --new --yes');
  expect(other).toMatchObject({ code: 0 });
  expect(other.stderr.replace(/\s+/g, ' ')).toContain(
    `Warning: Run ${run} is unfinished and also has units of 1 of these pets. Resuming it writes those, too`,
  );
  await shop.exits('inventory apply --resume latest --yes', 0);
  expect((await count(shop, '4 x2\n5 x3\n', '--add --new --yes')).code).toBe(0);
  const now = await stockOf(shop);
  expect(['4', '5', '6'].map((pet) => (now.get(pet) ?? 0) - (before.get(pet) ?? 0))).toEqual([4, 7, 1]);
});

test('refuses counted units that an unfinished run already has, even if a newer run has one of the pets', async () => {
  const shop = await openShop();
  shop.service.setFaults(['PATCH /inventory/5:status=401']);
  expect((await count(shop, '4 x2\n5 x3\n', '--add --new --yes --concurrency 1')).code).toBe(8);
  const [{ run }] = await shop.json('history list --json');
  expect((await count(shop, '5 x1\n6\n', '--add --new --yes --concurrency 1')).code).not.toBe(0);
  shop.service.setFaults([]);
  const again = await count(shop, '4 x2\n5 x3\n', '--add --new --yes');
  expect(again).toMatchObject({ code: 7, written: [] });
  expect(again.stderr).toContain(`apply --resume ${run} `);
});

test.for([
  ['known to the session', 'UPDATE counts SET ended = NULL'],
  ['unknown to the session', "DELETE FROM count_scans WHERE kind = 'run'"],
] as const)('does not add units again if another machine resumed and pruned their run (%s)', async ([, sql]) => {
  const shop = withEnv(await openShop(), { PETSTOCK_STATE_URL: await temporaryDatabase() });
  const other = shopOf({ ...shop, folders: await temporaryFolders() });
  const before = (await stockOf(shop)).get('4') ?? 0;
  shop.service.setFaults(['PATCH /inventory/4:status=401']);
  await count(shop, '4 x5\n', '--add --yes');
  shop.service.setFaults([]);
  await stateSql(shop.folders.state, 'UPDATE counts SET ended = NULL', sql);
  expect((await other.run('inventory apply --resume latest --yes')).code).toBe(0);
  expect((await other.run('history prune --keep 0 --yes')).code).toBe(0);
  expect(await count(shop, '', `${await sessionIn(shop)} --yes`)).toMatchObject({ code: 2, written: [] });
  expect((await stockOf(shop)).get('4')).toBe(before + 5);
});

test('keeps refused units of a delivery in its session, and writes them when the session is resumed', async () => {
  const till = await openTill({ stock: { 1: 10, 2: 10 } });
  const repair = till.service.always('PATCH /inventory/1', answers(422));
  await till.exits('inventory count --add --yes', 8, [], { stdin: '1 x7\n2 x3\n' });
  repair();
  const session = await sessionIn(till);
  expect(await till.run(`inventory count ${session} --yes`, { stdin: '' })).toMatchObject({ code: 0 });
  expect([1, 2].map((petId) => till.service.stockOf(petId))).toEqual([17, 13]);
});

test.for([
  ['add', '4\n', true],
  ['given', '', false],
] as const)('reports a scan as not counted only if it was not stored: %s', async ([kind, stdin, isLost], { shop }) => {
  const [session] = await begun(shop, '4\n');
  const full = `CREATE TRIGGER full BEFORE INSERT ON count_scans WHEN NEW.kind = '${kind}'`;
  await stateSql(shop.folders.state, `${full} BEGIN SELECT RAISE(ABORT, 'full'); END`);
  const { code, stderr } = await count(shop, stdin, `${session} --yes`);
  expect([code, stderr.includes('(full)'), stderr.includes('not counted')]).toEqual([1, true, isLost]);
});
