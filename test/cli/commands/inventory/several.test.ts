import { expect } from 'vitest';
import { confirming, test } from '../../../support/shop.ts';

const get = 'GET /v1/inventory';
const four = '{"petId":4,"quantity":39,"status":"available"}';
const five = '{"petId":5,"quantity":1,"status":"available"}';
const left = 'Rate limit: 999 of 1000 left, resets in 40 s\n';
const message = 'There is no pet 4242 in staging.';
const hint = 'petstock inventory list --env staging';
const missing = { code: 'not_found', kind: 'not-found', message, exitCode: 9, hint };

test.for([
  [
    '8 4 9007199254740993 4',
    0,
    '8\t32\tavailable\n4\t39\tavailable\n9007199254740993\t0\tsold\n4\t39\tavailable\n',
    left,
  ],
  ['4 --json', 0, `${four}\n`, left],
  ['9007199254740993 --json', 0, '{"petId":9007199254740993,"quantity":0,"status":"sold"}\n', left],
  ['5 4 --json', 0, `[\n${five},\n${four}\n]\n`, left],
  ['5 4 -o ndjson', 0, `${five}\n${four}\n`, left],
  ['777 4 778', 9, '4\t39\tavailable\n', `${left}Error: There are no pets 777 and 778 in staging.\n`],
  ['777 778 --json', 9, '[]\n', `${left}{"error":{`],
  ['4242 --json', 9, '', `${left}${JSON.stringify({ error: missing })}\n`],
] as const)('get %s exits with %i after one GET', async ([words, code, stdout, told], { shop }) => {
  const result = await shop.run(`inventory get ${words}`);
  expect(result).toMatchObject({ code, stdout, sent: [get] });
  expect(result.stderr.slice(0, told.length)).toBe(told);
  if (code === 0) expect(result.stderr).toBe(told);
});

test('records a set of several pets as one run, and undoes the run as a whole', async ({ shop }) => {
  const { stdout, sent } = await shop.exits('inventory set 4=12 5=9 1=12 --yes --json --reason count', 0);
  const patches = ['PATCH /v1/inventory/4 {"quantity":12}', 'PATCH /v1/inventory/5 {"quantity":9}'];
  expect([sent[0], ...sent.slice(1).sort()]).toEqual([get, ...patches]);
  const report = JSON.parse(stdout) as { counts: object; rows: object[] };
  expect(report.counts).toMatchObject({ applied: 2, unchanged: 1 });
  expect(report.rows).toEqual([
    { line: 1, petId: 4, before: 39, after: 12, result: 'applied' },
    { line: 2, petId: 5, before: 1, after: 9, result: 'applied' },
    { line: 3, petId: 1, before: 12, after: 12, result: 'unchanged' },
  ]);
  const [run] = (await shop.json('history list --json')) as object[];
  expect(run).toMatchObject({ command: 'inventory set', changes: 2, reason: 'count', state: 'done' });
  expect(await shop.run('undo --last --yes')).toMatchObject({ code: 0 });
  expect((await shop.run('inventory get 4 5')).stdout).toBe('4\t39\tavailable\n5\t1\tavailable\n');
});

test('set asks before it writes several pets on a terminal, and needs --yes elsewhere', async ({ shop }) => {
  const { asked, prompts } = confirming(false);
  expect(await shop.run('inventory set 4=12 5=9', { terminal: 80, prompts })).toMatchObject({ code: 2, sent: [get] });
  expect(asked).toEqual(['Write 2 changes to staging? Units: 8 added, 27 removed.']);
  // The hint repeats --expect and the guards, because the plan would differ without them.
  for (const words of ['4=12 5=9', '4=12 --expect 38 --max-zero 1 --reason sold']) {
    const hint = `Hint: petstock inventory set ${words} --env staging --dry-run\n`;
    expect(await shop.refused(`inventory set ${words} --read-first`)).toContain(hint);
  }
});

test.for([
  ['set 4=0 1=0 --max-zero 1 --yes', 2, '', 'max-zero allows 1'],
  ['set 4=1 1=1 --yes', 2, 'config set max-changes 1', 'max-changes'],
  ['set 4 1 --dry-run --exit-code', 3, '', '4   39 → 1  (-38)'],
  ['set 4=12 777=9 --yes', 9, '', 'Error: There is no pet 777 in staging. Nothing was written.\n'],
  ['adjust 1=+1 4=+9007199254740991 --yes', 2, '', 'Error: Pet 4: the stock is 39, and +9007199254740991 would'],
] as const)('%s writes nothing and exits with %i', async ([words, code, before, told], { shop }) => {
  if (before !== '') await shop.run(before);
  const result = await shop.run(`inventory ${words}`);
  expect(result).toMatchObject({ code, sent: [get] });
  expect(result.stderr).toContain(told);
});

test('set with one petId=quantity sends one request, and prints a report', async ({ shop }) => {
  const result = await shop.run('inventory set 4=-2 --json');
  expect(result).toMatchObject({ code: 0, sent: ['PATCH /v1/inventory/4 {"quantity":-2}'] });
  expect(JSON.parse(result.stdout)).toMatchObject({
    run: expect.stringMatching(/-\w{4}$/),
    env: 'staging',
    dryRun: false,
    counts: { applied: 1 },
    rows: [{ line: 1, petId: 4, before: null, after: -2, result: 'applied' }],
  });
});

test.for([
  ['4=12 4=13', 'Pet 4 appears twice'],
  ['4=12 04=13', 'Pet 4 appears twice'],
  ['4=12 5', 'The stock of "5" is missing'],
  ['4 12 5', '4=12 5=9'],
  ['4=', 'The quantity is empty'],
  ['=4', 'The pet id is empty'],
  ['4=1=2', '"1=2"'],
  ['4=12 5=9 --expect 3', '--expect is for one pet'],
] as const)('set %s exits with 2, and sends nothing', async ([operands, said], { shop }) => {
  expect(await shop.refused(`inventory set ${operands} --yes`)).toContain(said);
});

test('list --low lists available pets at or below low-stock that match the other filters', async ({ shop }) => {
  const all = (await shop.run('inventory list')).stdout.trim().split('\n');
  const low = (most: number) =>
    all.filter((line) => line.endsWith('\tavailable') && Number(line.split('\t')[1]) <= most).join('\n');
  expect((await shop.run('inventory list --low')).stdout.trim()).toBe(low(5));
  await shop.run('config set low-stock 20');
  expect((await shop.run('inventory list --low')).stdout.trim()).toBe(low(20));
  expect((await shop.run('inventory list --low --pet 5,4')).stdout).toBe('5\t1\tavailable\n');
  expect((await shop.run('inventory list --low --status sold')).stdout).toBe('');
});
