import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { rowsIn } from '../../support/delimited-rows.ts';
import { type Till, test } from '../../support/till.ts';

const textOf = (file: string) => readFileSync(file, 'utf8');
const planOf = (till: Till) => join(till.folders.state, '..', 'plan.csv');

test('writes a plan to the --plan-out file, and apply then writes exactly its rows', async ({ till }) => {
  const file = till.file('delivery.csv', 'petId,delta,reason,ref\n2,5,"a ""gift""",\n1,-3,,N-1\n3,0,,\n');
  const plan = planOf(till);
  const dry = await till.run(`inventory apply ${file} --dry-run --plan-out ${plan} --reason spring --json`);
  expect(dry).toMatchObject({ code: 0, stderr: expect.stringContaining(`The plan of 2 changes is in ${plan}.`) });
  expect(rowsIn(textOf(plan))).toEqual([
    { petId: '2', expected: '10', quantity: '15', reason: 'a "gift"' },
    { petId: '1', expected: '10', quantity: '7', reason: 'spring', ref: 'N-1' },
  ]);
  await till.exits(`inventory apply ${plan} --yes`, 0);
  expect([1, 2, 3].map((petId) => till.service.stockOf(petId))).toEqual([7, 15, 10]);
  const again = await till.exits(`inventory apply ${plan} --yes`, 7);
  expect(again.sent.filter((request) => request.startsWith('PATCH'))).toEqual([]);
});

test('writes pet names into a plan', async ({ till }) => {
  const plan = planOf(till);
  await till.run(`config set codes ${till.file('codes.csv', 'code,petId,name\nA1,1,"Rat, brown"\n')}`);
  await till.exits(`inventory apply ${till.file('a.csv', 'petId,quantity\n1,5\n')} --dry-run --plan-out ${plan}`, 0);
  expect(rowsIn(textOf(plan))).toEqual([{ petId: '1', name: 'Rat, brown', expected: '10', quantity: '5' }]);
  const { stderr } = await till.exits(`inventory apply ${plan} --yes`, 0);
  expect(stderr).not.toContain('Warning');
});

test('exits with 7 and writes nothing if the stock has changed since the plan', async ({ till }) => {
  const plan = planOf(till);
  await till.exits(`inventory apply ${till.file('a.csv', 'petId,quantity\n1,5\n')} --dry-run --plan-out ${plan}`, 0);
  till.service.sell(1, 1);
  await till.exits(`inventory apply ${plan} --yes`, 7, 'the stock is 9, not 10');
  expect(till.service.stockOf(1)).toBe(9);
});

test('writes only a header for a plan without changes, and apply accepts that file', async ({ till }) => {
  const plan = planOf(till);
  const file = till.file('same.csv', 'petId,quantity\n1,10\n');
  await till.exits(`inventory apply ${file} --dry-run --plan-out ${plan} --exit-code`, 0);
  expect(textOf(plan)).toMatch(/^petId,.*\n$/);
  await till.exits(`inventory apply ${plan} --yes`, 0);
});

test.for([
  ['a file with faults', 'petId,quantity\n1,x\n', '', 2],
  ['a guard', 'petId,quantity\n1,0\n', ' --max-zero 0', 2],
] as const)('empties the old plan if a dry run fails because of %s', async ([_what, rows, guard, code], { till }) => {
  const plan = planOf(till);
  const dryRun = (file: string, words = '') => `inventory apply ${file} --dry-run --plan-out ${plan}${words}`;
  await till.exits(dryRun(till.file('a.csv', 'petId,quantity\n1,5\n')), 0);
  await till.exits(dryRun(till.file('b.csv', rows), guard), code);
  expect(textOf(plan)).toBe('');
  await till.exits(`inventory apply ${plan} --yes`, 2, 'the file is empty');
});

test("omits rows that can't be written from the plan, and exits with 8", async ({ till }) => {
  const plan = planOf(till);
  const file = till.file('a.csv', 'petId,quantity,expected\n1,5,10\n2,5,11\n');
  await till.exits(`inventory apply ${file} --dry-run --plan-out ${plan}`, 8);
  expect(rowsIn(textOf(plan))).toEqual([{ petId: '1', expected: '10', quantity: '5' }]);
});

test('--plan-out needs --force to replace a file that petstock did not write', async ({ till }) => {
  const plan = planOf(till);
  writeFileSync(plan, 'petId,quantity\n2,7\n');
  const dryRun = `inventory apply ${till.file('a.csv', 'petId,quantity\n1,5\n')} --dry-run --plan-out ${plan}`;
  expect(await till.refused(dryRun)).toContain('already exists and may hold the only copy');
  expect(textOf(plan)).toBe('petId,quantity\n2,7\n');
  await till.exits(`${dryRun} --force`, 0);
  await till.exits(dryRun, 0);
});

test.for([
  ['--plan-out FOLDER/p.csv', 'Add --dry-run'],
  ['--dry-run --plan-out -', 'needs a file, because the report goes to stdout'],
  ['--dry-run --plan-out FOLDER/a.csv', 'This command reads'],
  ['--dry-run --plan-out FOLDER/p.json', 'writes CSV'],
  ['--dry-run --plan-out FOLDER/none/p.csv', 'does not exist'],
] as const)('refuses apply %s', async ([words, said], { till }) => {
  const file = till.file('a.csv', 'petId,quantity\n1,5\n');
  const folder = join(file, '..');
  expect(await till.refused(`inventory apply ${file} ${words.replace('FOLDER', folder)} --yes`)).toContain(said);
  expect([textOf(file), existsSync(join(folder, 'p.csv'))]).toEqual(['petId,quantity\n1,5\n', false]);
});

test('refuses --plan-out with --resume', async ({ till }) => {
  await till.refused(`inventory apply --resume latest --dry-run --plan-out ${planOf(till)}`);
});
