import { describe, expect } from 'vitest';
import { petsIn, test } from '../../../support/shop.ts';

const beyondDoubles = '9007199254740992,9007199254740993,9223372036854775807';

test.for(['json', 'ndjson', 'csv', 'tsv', 'table'])(
  'prints ids above 2^53 exactly in %s, with one GET',
  async (format, { shop }) => {
    const { code, stdout, sent } = await shop.run(`inventory list --pet ${beyondDoubles} -o ${format}`);
    expect({ code, sent }).toEqual({ code: 0, sent: ['GET /v1/inventory'] });
    expect(stdout.match(/9\d{15,}/g)).toEqual(beyondDoubles.split(','));
  },
);

test('lists pets as a table on a terminal and as TSV elsewhere, unless a setting or flag says otherwise', async ({
  shop,
}) => {
  const list = async (options = '', terminal?: number) =>
    (await shop.run(`inventory list --limit 1${options}`, { terminal, env: { NO_COLOR: '1' } })).stdout;
  expect(await list('', 80)).toContain('Pet ID');
  expect(await list()).toMatch(/^1\t12\tavailable\b/);
  await shop.run('config set output ndjson');
  expect(JSON.parse(await list())).toMatchObject({ petId: 1, quantity: 12, status: 'available' });
  expect(await list(' -o csv --no-header')).toMatch(/^1,12,available\b/);
});

describe('list with filters', () => {
  test('filters and sorts the pets of a list', async ({ shop }) => {
    for (const [options, ids] of [
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
    ] as const) {
      const { code, stdout } = await shop.run(`inventory list ${options} --fields petId`);
      expect({ code, ids: stdout.trim().split('\n').join(' ') }).toEqual({ code: 0, ids });
    }
  });

  test('prints the columns in the order of --fields, and reports an empty table on stderr', async ({ shop }) => {
    const { stdout } = await shop.run('inventory list --limit 1 --fields status,petId --header');
    expect(stdout).toBe('status\tpetId\navailable\t1\n');
    const empty = await shop.run('inventory list --pet 4242 -o table');
    expect(empty).toMatchObject({ stdout: '', stderr: expect.stringContaining('Nothing to show.\n') });
  });
});
test('refuses mistaken options of list, and sends nothing', async ({ shop }) => {
  for (const [options, told] of [
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
    ['extra', 'Unexpected word'],
    ['--summary --limit 2', '--limit'],
  ] as const) {
    expect(await shop.refused(`inventory list ${options}`)).toContain(told);
  }
});

const missing = 'Error: There are no pets 777 and 778 in staging.\nHint: petstock inventory list --env staging\n';

test.for([
  ['--pet 777,5,778', 9, ['5 1 available'], missing],
  ['--pet 777,5 --json', 9, ['5 1 available'], '"code":"not_found"'],
  ['--pet 1,4,777 --limit 1', 9, ['1 12 available'], 'There is no pet 777'],
  // A pet that another filter or the limit leaves out is not missing.
  ['--pet 5 --min-quantity 100', 0, [], ''],
  ['--pet 4,20 --limit 1', 0, ['4 39 available'], ''],
] as const)(
  'list %s prints the existing pets that match, and exits with %i',
  async ([options, code, pets, told], { shop }) => {
    const result = await shop.run(`inventory list ${options}`);
    expect(result).toMatchObject({ code, sent: ['GET /v1/inventory'] });
    expect(petsIn(result.stdout)).toEqual(pets);
    expect(result.stderr).toContain(told);
  },
);

test('counts the existing pets with --summary, and exits with 9 for a missing one', async ({ shop }) => {
  const { stdout } = await shop.exits('inventory list --pet 777,5 --summary --json', 9, '"code":"not_found"');
  expect(JSON.parse(stdout)).toMatchObject({
    pets: 1,
    units: 1,
    byStatus: { available: { pets: 1 }, sold: { pets: 0 } },
  });
});
