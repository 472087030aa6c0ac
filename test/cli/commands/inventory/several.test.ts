import { expect } from 'vitest';
import { confirming, errorJson, sent, test } from '../../../support/shop.ts';

test('get shows several pets in the order asked, from one GET', async ({ shop }) => {
  const result = await shop.run('inventory get 8 4 9007199254740993 4');
  expect(result.code).toBe(0);
  expect(result.stdout.split('\n').map((line) => line.split('\t')[0])).toEqual(['8', '4', '9007199254740993', '4', '']);
  expect(sent(result)).toEqual(['GET /v1/inventory']);
});

test('get of several is an array in JSON and a line each in NDJSON, of one an object', async ({ shop }) => {
  const four = '{"petId":4,"quantity":39,"status":"available"}';
  const five = '{"petId":5,"quantity":1,"status":"available"}';
  expect((await shop.run('inventory get 4 --json')).stdout).toBe(`${four}\n`);
  expect((await shop.run('inventory get 5 4 --json')).stdout).toBe(`[\n${five},\n${four}\n]\n`);
  expect((await shop.run('inventory get 5 4 -o ndjson')).stdout).toBe(`${five}\n${four}\n`);
});

test('get shows those that are there, then is exit 9', async ({ shop }) => {
  const result = await shop.run('inventory get 777 4 778');
  expect(result).toMatchObject({ code: 9, stdout: '4\t39\tavailable\n' });
  expect(result.stderr).toContain('Error: There are no pets 777 and 778 in staging.\n');
  expect(await shop.run('inventory get 777 778 --json')).toMatchObject({ code: 9, stdout: '[]\n' });
});

test('set of several is one run with the report of apply, and is taken back as one', async ({ shop }) => {
  const result = await shop.run('inventory set 4=12 5=9 1=12 --yes --json --reason count');
  expect(result.code).toBe(0);
  expect(sent(result)[0]).toBe('GET /v1/inventory');
  expect(sent(result).slice(1).sort()).toEqual([
    'PATCH /v1/inventory/4 {"quantity":12}',
    'PATCH /v1/inventory/5 {"quantity":9}',
  ]);
  const report = JSON.parse(result.stdout) as { counts: object; rows: object[] };
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

test('set of several asks on a terminal, and elsewhere sends nothing without --yes', async ({ shop }) => {
  const { asked, prompts } = confirming(false);
  const refused = await shop.run('inventory set 4=12 5=9', { terminal: 80, prompts });
  expect(asked).toEqual(['Write 2 changes to staging? Units: 8 added, 27 removed.']);
  expect(sent(refused)).toEqual(['GET /v1/inventory']);
  const piped = await shop.run('inventory set 4=12 5=9');
  expect(piped).toMatchObject({ code: 2, requests: [] });
  expect(piped.stderr).toContain('Hint: petstock inventory set 4=12 5=9 --env staging --dry-run\n');
});

test('set of several keeps to the guards and writes nothing in a dry run', async ({ shop }) => {
  const guarded = await shop.run('inventory set 4=0 1=0 --max-zero 1 --yes');
  expect(guarded.code).toBe(2);
  expect(guarded.stderr).toContain('max-zero allows 1');
  await shop.run('config set max-changes 1');
  expect(await shop.run('inventory set 4=1 1=1 --yes')).toMatchObject({ code: 2 });
  const dry = await shop.run('inventory set 4 1 --dry-run --exit-code');
  expect(dry.code).toBe(3);
  expect(dry.stderr).toContain('4   39 → 1  (-38)');
  for (const result of [guarded, dry]) expect(sent(result)).toEqual(['GET /v1/inventory']);
});

test('one pet as petId=quantity is one request, and prints a run', async ({ shop }) => {
  const result = await shop.run('inventory set 4=-2 --json');
  expect(result.code).toBe(0);
  expect(JSON.parse(result.stdout)).toMatchObject({
    ...{ run: expect.stringMatching(/-\w{4}$/), env: 'staging', dryRun: false, counts: { applied: 1 } },
    rows: [{ line: 1, petId: 4, before: null, after: -2, result: 'applied' }],
  });
  expect(sent(result)).toEqual(['PATCH /v1/inventory/4 {"quantity":-2}']);
});

test('a pet that is not there keeps all of them from being written', async ({ shop }) => {
  const result = await shop.run('inventory set 4=12 777=9 --yes');
  expect(result.code).toBe(9);
  expect(result.stderr).toContain('Error: There is no pet 777 in staging; nothing was written.\n');
  expect(sent(result)).toEqual(['GET /v1/inventory']);
});

test.for([
  ['4=12 4=13', 'Pet 4 is there twice'],
  ['4=12 04=13', 'Pet 4 is there twice'],
  ['4=12 5', '"5" has no stock'],
  ['4 12 5', '4=12 5=9'],
  ['4=', 'The quantity is empty'],
  ['=4', 'The pet id is empty'],
  ['4=1=2', '"1=2"'],
  ['4', 'Missing required argument "quantity"'],
  ['4=12 5=9 --expect 3', '--expect is about one pet'],
] as const)('set %s is exit 2, with nothing sent', async ([operands, said], { shop }) => {
  expect(await shop.refused(`inventory set ${operands} --yes`)).toContain(said);
});

test('--low lists what is available and at or below low-stock, beside the other filters', async ({ shop }) => {
  const all = (await shop.run('inventory list')).stdout.trim().split('\n');
  const low = (most: number) =>
    all.filter((line) => line.endsWith('\tavailable') && Number(line.split('\t')[1]) <= most).join('\n');
  expect((await shop.run('inventory list --low')).stdout.trim()).toBe(low(5));
  await shop.run('config set low-stock 20');
  expect((await shop.run('inventory list --low')).stdout.trim()).toBe(low(20));
  expect((await shop.run('inventory list --low --pet 5,4')).stdout).toBe('5\t1\tavailable\n');
  expect((await shop.run('inventory list --low --status sold')).stdout).toBe('');
});

test('shows one pet, from one GET of the list', async ({ shop }) => {
  const result = await shop.run('inventory get 9007199254740993 --json');
  expect(result).toMatchObject({
    code: 0,
    stdout: '{"petId":9007199254740993,"quantity":0,"status":"sold"}\n',
    stderr: 'Rate limit: 999 of 1000 left, resets in 40 s\n',
  });
  expect(sent(result)).toEqual(['GET /v1/inventory']);
});

test('exit 9 if the list has no such pet; with --json the error is all that stderr has', async ({ shop }) => {
  const { code, stdout, stderr } = await shop.run('inventory get 4242 --json');
  expect({ code, stdout }).toEqual({ code: 9, stdout: '' });
  expect(errorJson(stderr)).toEqual({
    error: {
      kind: 'not-found',
      code: 'not_found',
      message: 'There is no pet 4242 in staging.',
      exitCode: 9,
      hint: 'petstock inventory list --env staging',
    },
  });
});
