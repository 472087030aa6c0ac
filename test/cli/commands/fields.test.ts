import { expect } from 'vitest';
import { recordRun } from '../../support/recorded-runs.ts';
import { test } from '../../support/shop.ts';

const rows = Array.from({ length: 25 }, (_, index) => {
  const petId = BigInt(index + 1);
  return { petId, before: 1, after: 2, result: 'applied', quantity: 2, ref: 'N-881' } as const;
});

test.for([
  ['history list --fields run,changes', ['run', 'changes']],
  ['history list --fields state --fields ref,state', undefined],
  ['history list --fields state --fields run,state', ['state', 'run']],
  ['history show <run> --fields petId,after', ['petId', 'after']],
  ['limits --fields env --fields limit', ['env', 'limit']],
  ['inventory count --list --fields session,pets', ['session', 'pets']],
  ['inventory list --limit 1 --fields petId --fields status', ['petId', 'status']],
  ['inventory get 4 5 --fields quantity', ['quantity']],
  ['inventory diff staging staging --fields petId', ['petId']],
  ['inventory list --fields colour', undefined],
] as const)('%s has these columns alone in every format', async ([words, fields], { shop }) => {
  const run = await recordRun(shop, rows);
  await shop.run('inventory get 1');
  const command = words.replace('<run>', run);
  const csv = await shop.run(`${command} -o csv`);
  if (fields === undefined) {
    expect(csv).toMatchObject({ code: 2, stdout: '' });
    expect(csv.stderr).toContain('is not a field: the fields are');
    return;
  }
  expect(csv).toMatchObject({ code: 0 });
  expect(csv.stdout.split('\n')[0]).toBe(fields.join(','));
  const [first] = (await shop.run(`${command} -o ndjson`)).stdout.split('\n');
  if (first) expect(Object.keys(JSON.parse(first))).toEqual(fields);
});

test('--pets all lists every pet of a run; the first 20 are said to be so', async ({ shop }) => {
  await recordRun(shop, rows);
  const some = await shop.run('history list --json');
  expect(JSON.parse(some.stdout)[0].pets).toHaveLength(20);
  expect(some.stderr).toContain('petstock history list --pets all');
  const all = await shop.run('history list --json --pets all');
  expect(JSON.parse(all.stdout)[0].pets).toEqual(rows.map(({ petId }) => Number(petId)));
  expect(all.stderr).toBe('');
  const by = async (option: string) => JSON.parse((await shop.run(`history list --json ${option}`)).stdout).length;
  expect([await by('--ref N-881'), await by('--ref N-8'), await by('--user anna'), await by('--user bob')]).toEqual([
    1, 0, 1, 0,
  ]);
});

test('CSV keeps a spreadsheet from running a reason; --raw has it as it is', async ({ shop }) => {
  const run = await recordRun(shop, [{ ...rows[0], reason: '=HYPERLINK("http://x")' } as (typeof rows)[number]]);
  const shown = async (options: string) =>
    (await shop.run(`history show ${run} --fields reason -o csv ${options}`.trim())).stdout;
  expect(await shown('')).toBe(`reason\n"'=HYPERLINK(""http://x"")"\n`);
  expect(await shown('--raw')).toBe('reason\n"=HYPERLINK(""http://x"")"\n');
  expect((await shop.run('history export -o csv')).stdout).toContain(`,"'=HYPERLINK(""http://x"")",`);
});
