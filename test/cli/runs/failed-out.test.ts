import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { rowsIn } from '../../support/delimited-rows.ts';
import { type Action, answers, drop, hang, storeInstead } from '../../support/scripted-service.ts';
import { apply, changeFile } from '../../support/shop.ts';
import { killAt, test } from '../../support/till.ts';

const flags = '--yes --retries 0 --concurrency 1';
/** Returns the rows of a change file that petstock has written. */
const rowsOf = (file: string) => rowsIn(readFileSync(file, 'utf8'));

test.for<[what: string, action: Action, kept: object[], sums: number[]]>([
  ['a refused row', answers(400), [{ petId: '1', delta: '5' }], [15, 15]],
  ['a row after a 401', answers(401), [], [15, 15]],
  ['a row stored differently', storeInstead(12), [], [12, 15]],
] as const)(
  'writes to --failed-out only unwritten deltas that a resume leaves out: %s',
  async ([_what, action, kept, sums], { till }) => {
    const file = till.file('delivery.csv', 'petId,delta\n1,5\n2,5\n');
    const failed = till.file('failed.csv', '');
    till.service.next('PATCH /inventory/1', action);
    const { stderr } = await till.run(`inventory apply ${file} ${flags} --failed-out ${failed}`);
    expect(rowsOf(failed)).toEqual(kept);
    const left = kept.length === 0;
    expect(stderr.replace(/\s+/g, ' ').includes(`left out of ${failed}, because a resume`)).toBe(left);
    await till.run(`inventory apply ${failed} --yes`);
    await till.run('inventory apply --resume latest --yes');
    expect([1, 2].map((petId) => till.service.stockOf(petId))).toEqual(sums);
  },
);

test('does not write a delta to --failed-out if it may already have been written', async ({ till }) => {
  const file = till.file('delivery.csv', 'petId,delta\n1,5\n');
  const failed = till.file('failed.csv', '');
  let isBack = () => {};
  till.service.next('PATCH', (exchange) => {
    exchange.commit();
    isBack = till.service.always('GET /inventory', drop);
    exchange.drop();
  });
  expect((await till.run(`inventory apply ${file} ${flags} --failed-out ${failed}`)).code).toBe(8);
  expect(rowsOf(failed)).toEqual([]);
  isBack();
  till.service.sell(1, 1);
  till.clock.advance(60_000);
  const resumed = await till.run(`inventory apply --resume latest ${flags} --json --failed-out ${failed}`);
  expect(await till.rows(resumed)).toMatchObject([{ result: 'conflict', error: { code: 'unclear' } }]);
  expect(rowsOf(failed)).toEqual([]);
});

test.for([
  ['an unreachable service', 'petId,delta\n1,-10\n2,-5\n', ''],
  ['a refusal by a guard', 'petId,quantity\n1,0\n2,5\n', ' --max-zero 0'],
] as const)(
  'keeps the rows of a file that is both input and --failed-out after %s and a kill',
  async ([_by, rows, guard], { till }) => {
    const failed = till.file('failed.csv', '');
    till.service.next('PATCH', answers(400), answers(400));
    await till.run(`inventory apply ${till.file('counts.csv', rows)} ${flags} --failed-out ${failed}`);
    const text = readFileSync(failed, 'utf8');
    expect(rowsOf(failed)).toHaveLength(2);
    if (guard === '') till.service.next('GET', drop);
    const again = `inventory apply ${failed} ${flags} --failed-out ${failed}`;
    await till.exits(again + guard, guard === '' ? 5 : 2);
    expect(readFileSync(failed, 'utf8')).toBe(text);
    const run = await killAt(till, hang, again);
    expect(readFileSync(failed, 'utf8')).toBe(text);
    await till.exits(again, 7, `--resume ${run}`);
    await till.exits(`inventory apply --resume ${run} --yes`, 0);
    expect([1, 2].map(till.service.stockOf)).toEqual([0, 5]);
  },
);

test('keeps the rows of a run in --failed-out if its resume sends nothing', async ({ till }) => {
  const file = till.file('counts.csv', 'petId,quantity\n1,4\n2,5\n');
  const failed = till.file('failed.csv', '');
  till.service.next('PATCH', answers(400), answers(401));
  await till.run(`inventory apply ${file} ${flags} --failed-out ${failed}`);
  expect(rowsOf(failed)).toHaveLength(2);
  till.service.next('GET', drop);
  const resume = `inventory apply --resume latest ${flags} --failed-out ${failed}`;
  expect((await till.run(resume)).code).toBe(5);
  expect(rowsOf(failed)).toHaveLength(2);
  await till.run(resume);
  expect(rowsOf(failed)).toEqual([{ petId: '1', expected: '10', quantity: '4' }]);
});

test('replaces the --failed-out files of eight commands, four of which run at a time', async ({ till }) => {
  const shops = Array.from({ length: 8 }, (_, shop) => ({ shop, failed: till.file(`failed-${shop}.csv`, '') }));
  /** Runs four commands at once, like `xargs -P 4`. */
  const night = async (rows: string) => {
    const left = [...shops];
    const ended: number[] = [];
    const worker = async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const file = till.file(`stock-${next.shop}.csv`, rows);
        ended.push((await till.run(`inventory apply ${file} --yes --failed-out ${next.failed}`)).code);
      }
    };
    await Promise.all(Array.from({ length: 4 }, worker));
    return ended;
  };
  const conflict = 'petId,quantity,expected\n1,5,99\n';
  expect(new Set(await night(conflict))).toEqual(new Set([7]));
  for (const { failed } of shops) expect(rowsOf(failed)).toHaveLength(1);
  expect(new Set(await night(conflict))).toEqual(new Set([7]));
});

test('replaces a foreign --failed-out file without rows', async ({ till }) => {
  for (const [quantity, text] of [
    '\n',
    'petId,status,expected,quantity,reason,ref\n',
    '\uFEFFpetId;quantity\r\n',
  ].entries()) {
    const failed = till.file('failed.csv', text);
    const file = till.file('a.csv', `petId,quantity\n1,${quantity}\n`);
    await till.exits(`inventory apply ${file} --yes --failed-out ${failed}`, 0);
    expect(readFileSync(failed, 'utf8')).toBe('');
  }
});

test('keeps the --failed-out file of an earlier run until another run begins, and says so', async ({ shop }) => {
  const failed = join(shop.folders.state, '..', 'failed.csv');
  await apply(shop, 'petId,quantity,expected\n4,1,38\n', ['--failed-out', failed]);
  const isKept = () => expect(rowsOf(failed)).toEqual([{ petId: '4', expected: '38', quantity: '1' }]);
  isKept();
  const down = { env: { PETSTOCK_URL_STAGING: 'http://127.0.0.1:1/v1' } };
  const good = changeFile(shop, 'petId,quantity\n5,9\n');
  const kept = `Warning: ${failed} still has the rows of an earlier run`;
  await shop.exits(`inventory apply ${good} --yes --failed-out ${failed}`, 5, kept, down);
  isKept();
  const bad = changeFile(shop, 'petId,quantity\nx,9\n', 'bad.csv');
  await shop.exits(`inventory apply ${bad} --yes --failed-out ${failed}`, 2, kept);
  await shop.exits(`inventory count ${failed}.txt --apply-only --yes --failed-out ${failed}`, 2, kept);
  isKept();
  const begun = await shop.exits(`inventory apply ${good} --yes --failed-out ${failed}`, 0);
  expect(begun.stderr).not.toContain(kept);
  expect(readFileSync(failed, 'utf8')).toBe('');
  writeFileSync(failed, 'hours of work');
  expect(await shop.refused(`inventory apply ${good} --yes --failed-out ${failed}`)).toContain('already exists');
});
