import { describe, expect } from 'vitest';
import { errorJson, openShop, sent, test } from '../../../support/shop.ts';

const beyondDoubles = '--pet 9007199254740992,9007199254740993,9223372036854775807';

test.for(['json', 'ndjson', 'csv', 'tsv', 'table'])('ids beyond 2^53 in %s, from one GET', async (format, { shop }) => {
  const result = await shop.run(`inventory list ${beyondDoubles} -o ${format}`);
  expect(result.code).toBe(0);
  expect(result.stdout.match(/9\d{15,}/g)).toEqual(beyondDoubles.slice('--pet '.length).split(','));
  expect(sent(result)).toEqual(['GET /v1/inventory']);
});

test('a table on a terminal, TSV without a header elsewhere', async ({ shop }) => {
  const onTerminal = await shop.run('inventory list --limit 1', { terminal: 80, env: { NO_COLOR: '1' } });
  const piped = await shop.run('inventory list --limit 1');
  expect(onTerminal.stdout).toContain('Pet ID');
  expect(piped.stdout).toBe('1\t12\tavailable\n');
});

test('the setting "output" goes before that, and a flag before the setting', async ({ shop }) => {
  await shop.run('config set output ndjson');
  expect((await shop.run('inventory list --limit 1')).stdout).toBe('{"petId":1,"quantity":12,"status":"available"}\n');
  expect((await shop.run('inventory list --limit 1 -o csv --no-header')).stdout).toBe('1,12,available\n');
});

describe('what is shown', () => {
  test.for([
    ['--pet 4,1', '1 4'],
    ['--pet 4 --pet 1', '1 4'],
    ['--status sold --limit 2', '2 9'],
    ['--status sold,pending --limit 3', '2 7 9'],
    ['--min-quantity 24', '4 8 11'],
    ['--min-quantity 30 --max-quantity 33', '8'],
    ['--max-quantity 0 --limit 2', '2 3'],
    ['--sort quantity --desc --limit 3', '4 8 11'],
    ['--sort petId --desc --limit 2', '9223372036854775807 9007199254740993'],
    ['--desc --limit 1', '9223372036854775807'],
    ['--sort status --limit 2', '1 3'],
    ['--sort status --desc --limit 2', '2 9'],
    ['--limit 0', ''],
    ['--max-quantity -1', ''],
  ] as const)('%s', async ([options, ids], { shop }) => {
    const { code, stdout } = await shop.run(`inventory list ${options} --fields petId`);
    expect({ code, ids: stdout.trim().split('\n').join(' ') }).toEqual({ code: 0, ids });
  });

  test('--fields chooses the columns and their order', async ({ shop }) => {
    const { stdout } = await shop.run('inventory list --limit 1 --fields status,petId --header');
    expect(stdout).toBe('status\tpetId\navailable\t1\n');
  });

  test('an empty table says so on stderr', async ({ shop }) => {
    const { stdout, stderr } = await shop.run('inventory list --pet 4242 -o table');
    expect(stdout).toBe('');
    expect(stderr).toContain('Nothing to show.\n');
  });
});

describe('--summary', () => {
  test('counts pets and units by status, and in all', async () => {
    const shop = await openShop({ pets: 6 });
    const { stdout } = await shop.run('inventory list --summary --json');
    const list = (await shop.json('inventory list --json')) as { quantity: number; status: string }[];
    const tally = (items: typeof list) => ({
      pets: items.length,
      units: items.reduce((units, item) => units + item.quantity, 0),
    });
    const byStatus = Object.fromEntries(
      ['available', 'pending', 'sold'].map((status) => [status, tally(list.filter((item) => item.status === status))]),
    );
    expect(JSON.parse(stdout)).toEqual({ ...tally(list), byStatus });
  });

  test('units beyond 2^53 are exact', async () => {
    const shop = await openShop({ pets: 6 });
    await shop.run('inventory set 1 9007199254740991');
    await shop.run('inventory set 2 9007199254740991');
    const { stdout } = await shop.run('inventory list --summary --json --pet 1,2');
    expect(stdout).toContain('"units":18014398509481982');
  });
});

test.for([
  ['--status gone', 'available, pending, sold'],
  ['--pet 1,,2', '--pet'],
  ['--min-quantity x', '--min-quantity'],
  ['--max-quantity 1.5', '--max-quantity'],
  ['--sort name', 'petId, quantity, status'],
  ['--limit -1', '--limit'],
  ['--fields petId,name', 'name'],
  ['--fields petId,petId', 'twice'],
  ['--output xml', 'table, json, ndjson, csv, tsv'],
  ['--json -o csv', '--json'],
  ['--timeout 0', '--timeout'],
  ['--max-wait -1', '--max-wait'],
  ['--color sometimes', '--color'],
  ['extra', 'argument'],
  ['--summary --limit 2', '--limit'],
] as const)('exit 2, with nothing sent: %s', async ([options, told], { shop }) => {
  expect(await shop.refused(`inventory list ${options}`)).toContain(told);
});

test('--pet lists the pets that are there, and is exit 9 with the ids of the others', async ({ shop }) => {
  const result = await shop.run('inventory list --pet 777,5,778');
  expect(result).toMatchObject({ code: 9, stdout: '5\t1\tavailable\n' });
  expect(result.stderr).toContain('Error: There are no pets 777 and 778 in staging.\n');
  expect(result.stderr).toContain('Hint: petstock inventory list --env staging\n');
  expect(sent(result)).toEqual(['GET /v1/inventory']);
});

test('the same with JSON, --summary, and a limit that is reached early', async ({ shop }) => {
  const json = await shop.run('inventory list --pet 777,5 --json');
  expect(json).toMatchObject({ code: 9, stdout: '[\n{"petId":5,"quantity":1,"status":"available"}\n]\n' });
  expect(errorJson(json.stderr).error).toMatchObject({ code: 'not_found', exitCode: 9 });
  const summary = await shop.run('inventory list --pet 777,5 --summary --json');
  expect(summary.code).toBe(9);
  expect(JSON.parse(summary.stdout)).toMatchObject({ pets: 1 });
  expect(await shop.run('inventory list --pet 1,4,777 --limit 1')).toMatchObject({
    code: 9,
    stdout: '1\t12\tavailable\n',
  });
});

test('a pet that another filter leaves out is not missing', async ({ shop }) => {
  expect(await shop.run('inventory list --pet 5 --min-quantity 100')).toMatchObject({ code: 0, stdout: '' });
});

test('a limit of rows above the pets that are there is no fault', async ({ shop }) => {
  expect(await shop.run('inventory list --pet 4,20 --limit 1')).toMatchObject({ code: 0 });
});
