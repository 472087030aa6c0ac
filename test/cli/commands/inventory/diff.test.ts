import { describe, expect, onTestFinished } from 'vitest';
import { startService } from '../../../../src/service/index.ts';
import fc from '../../../support/properties.ts';
import { changeFile, openShop, test as shopTest, withEnv } from '../../../support/shop.ts';

const changedPets = 'petId,quantity,status\n4,37,available\n9007199254740993,0,available\n77,3,pending\n';
const someOfStaging =
  '{"petId":4,"quantity":39,"status":"available"}\n{"petId":9007199254740993,"quantity":0,"status":"sold"}\n' +
  '{"petId":5,"quantity":1,"status":"available"}\n';

/** Opens a shop whose production is a second service; `file` writes a file and returns its name. */
async function openShops() {
  const shop = await openShop();
  const other = await startService({ file: ':memory:', clock: shop.clock });
  onTestFinished(() => other.close());
  const env = { PETSTOCK_URL_PRODUCTION: other.url, PETSTOCK_API_KEY_PRODUCTION: other.key };
  return { ...withEnv(shop, env), other, file: (name: string, text: string) => changeFile(shop, text, name) };
}

const test = shopTest.extend('shop', openShops);

test('prints no difference between identical environments, with one GET each', async ({ shop }) => {
  const result = await shop.run('inventory diff staging production --exit-code --json');
  expect(result).toMatchObject({ code: 0, stdout: '[]\n' });
  expect(result.requests.map(({ url }) => new URL(url).origin)).toEqual(
    [shop.service, shop.other].map(({ url }) => new URL(url).origin),
  );
  expect(result.stderr).toMatch(/^.*: no difference\.\nstaging: Rate limit: 999 .*\nproduction: Rate limit: 999 .*\n$/);
});

test('diff prints the differences by pet id in JSON, CSV, NDJSON and a table', async ({ shop }) => {
  const left = shop.file('left.ndjson', someOfStaging);
  const right = shop.file('right.csv', changedPets);
  const json = await shop.run(`inventory diff ${left} ${right} --json`);
  expect(json).toMatchObject({ code: 0, requests: [] });
  expect(JSON.parse(json.stdout)).toMatchObject([
    { petId: 4, change: 'changed', left: { quantity: 39, status: 'available' }, right: { quantity: 37 } },
    { petId: 5, change: 'removed', left: { quantity: 1, status: 'available' }, right: null },
    { petId: 77, change: 'added', left: null, right: { quantity: 3, status: 'pending' } },
    { change: 'changed', left: { quantity: 0, status: 'sold' }, right: { quantity: 0, status: 'available' } },
  ]);
  expect(json.stdout).toContain('{"petId":9007199254740993,');
  const fields = 'petId,change,leftQuantity,leftStatus,rightQuantity,rightStatus';
  expect((await shop.run(`inventory diff ${left} ${right} -o csv --fields ${fields}`)).stdout).toBe(
    `${fields}\n4,changed,39,available,37,available\n` +
      '5,removed,1,available,,\n77,added,,,3,pending\n9007199254740993,changed,0,sold,0,available\n',
  );
  expect((await shop.run(`inventory diff ${left} ${right} -o ndjson --string-ids`)).stdout).toContain('{"petId":"4",');
  const table = await shop.run(`inventory diff ${left} ${right}`, { terminal: 80, env: { NO_COLOR: '1' } });
  expect(table.stdout).toMatch(/^ +Pet ID +Change +left\.ndjson +right\.csv +By +Status/);
  expect(table.stdout).toMatch(/\n +5 +removed +1 +- +available/);
  expect(table.stderr.replaceAll(/\s+/g, ' ')).toContain('right.csv 3 pets: 2 changed, 1 added, 1 removed.');
});

describe('diff of files', () => {
  const commands = ['list -o csv', 'list -o json', 'list -o ndjson', 'list -o json --string-ids', 'export'];

  test.for(commands)('diffs a file written by %s', async (command, { shop }) => {
    const { stdout } = await shop.run(`inventory ${command}`);
    await shop.run('inventory set 4 12');
    const file = shop.file(`stock.${/json/.exec(command)?.[0] ?? 'csv'}`, stdout);
    for (const side of [file, '-']) {
      const result = await shop.run(`inventory diff ${side} staging -o tsv`, { stdin: stdout });
      expect(result).toMatchObject({ code: 0, stdout: expect.stringMatching(/^4\tchanged\t39\t.*\t12\t.*\n$/) });
    }
  });

  test('ignores the status in diff if a file has only quantities', async ({ shop }) => {
    const file = shop.file('count.csv', 'Pet ID;Quantity\n5;1\n4;40\n');
    const { stdout } = await shop.run(`inventory diff ${file} staging -o ndjson`);
    expect(JSON.parse(stdout.split('\n')[0] ?? '')).toMatchObject({ petId: 1, change: 'added', left: null });
    expect(stdout).toContain('{"petId":4,"change":"changed","left":{"quantity":40,"status":null');
    expect(stdout).not.toContain('"petId":5,');
  });
});

test('diffs one field with --only, and exits with 3 for differences with --exit-code', async ({ shop }) => {
  const left = shop.file('left.ndjson', someOfStaging);
  const right = shop.file('right.csv', changedPets.replace('77,3,pending', '5,1,available'));
  const quantity = await shop.exits(`inventory diff ${left} ${right} --only quantity --exit-code`, 3);
  expect(quantity.stdout).toMatch(/^4\t.*\n$/);
  const status = await shop.exits(`inventory diff ${left} ${right} --only status`, 0);
  expect(status.stdout).toMatch(/^9007199254740993\t.*\n$/);
});

test("diff --changes prints a change file, and warns about what the file can't change", async ({ shop }) => {
  const right = shop.file('right.csv', changedPets);
  const { stdout } = await shop.exits(
    `inventory diff staging ${right} --changes --exit-code`,
    3,
    "Warning: A change file only sets quantities: this one can't add 1 pet that staging does not have, or remove 22 pets that only staging has, or change the status of 1 pet.\n",
    { env: { PETSTOCK_OUTPUT: 'json' } },
  );
  expect(stdout).toMatch(/^petId,.*expected,quantity,reason,ref\n4,.*,39,37,,\n$/);
});

test('makes the quantities of two environments equal by applying diff --changes', { timeout: 60_000 }, async ({
  shop,
}) => {
  const quantities = fc.array(fc.tuple(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 0, max: 30 })), {
    maxLength: 8,
  });
  await fc.assert(
    fc.asyncProperty(quantities, async (wanted) => {
      // A run's id contains the second in which it began.
      for (const [petId, quantity] of wanted) {
        shop.clock.advance(1000);
        await shop.run(`inventory set ${petId} ${quantity} --env production`);
      }
      const { stdout } = await shop.run('inventory diff staging production --changes');
      expect((await shop.run(`inventory apply ${shop.file('changes.csv', stdout)} --yes`)).code).toBe(0);
      expect((await shop.run('inventory diff staging production --only quantity --exit-code')).code).toBe(0);
    }),
    { numRuns: 5, endOnFailure: true },
  );
});

test('reads staging as an environment in diff, and ./staging as a file', async ({ shop }) => {
  expect((await shop.run('inventory diff staging staging --exit-code')).requests).toHaveLength(2);
  expect(await shop.refused('inventory diff ./staging production')).toContain('There is no file ./staging');
});

test('diffs two stores, each with its own key', async ({ shop }) => {
  const staging = shop.env.PETSTOCK_URL_STAGING ?? '';
  const env = {
    PETSTOCK_NORTH_URL_STAGING: staging,
    PETSTOCK_NORTH_API_KEY_STAGING: shop.env.PETSTOCK_API_KEY_STAGING,
    PETSTOCK_SOUTH_URL_STAGING: staging,
    PETSTOCK_SOUTH_API_KEY_STAGING: 'psk_of_another_store_1',
  };
  const same = await shop.run('inventory diff north/staging default/staging --exit-code', { env });
  expect(same).toMatchObject({ code: 0, stdout: '' });
  const refused = await shop.run('inventory diff north/staging south/staging', { env });
  expect(refused).toMatchObject({ code: 4, stdout: '' });
  expect(refused.stderr).toContain('The key came from: PETSTOCK_SOUTH_API_KEY_STAGING.');
});

test('names the source of a refused key in diff, and prints nothing on stdout', async ({ shop }) => {
  const env = { PETSTOCK_API_KEY_PRODUCTION: 'psk_0123456789abcdefghijklmnop' };
  const told = 'The key came from: PETSTOCK_API_KEY_PRODUCTION.';
  expect((await shop.exits('inventory diff staging production', 4, told, { env })).stdout).toBe('');
  const without = await shop.run('inventory diff staging production', { env: { PETSTOCK_URL_PRODUCTION: undefined } });
  expect(without).toMatchObject({ code: 2, stdout: '' });
  expect(without.stderr).toContain("config set-url 'https://<your-store>/v1' --env production");
});

describe('diff before anything is sent', () => {
  test('refuses mistaken operands of diff', async ({ shop }) => {
    for (const [operands, said] of [
      ['staging', 'right'],
      ['- -', 'Only one side can be stdin'],
      ['staging gone.csv', 'There is no file gone.csv'],
      ['north/staging production', 'Unknown store "north"'],
      ['North/staging production', 'Invalid store name in'],
      ['north/sandbox production', 'The sandbox has no stores'],
      [
        'stock.csv north/staging --only quantity --env staging',
        'Leave out --env.\nHint: petstock inventory diff stock.csv north/staging --only quantity\n',
      ],
      ['staging production --only colour', '--only takes quantity, status'],
      ['staging production --changes --json', '--changes prints CSV'],
      ['staging production --changes --only status', '--changes can only set quantities'],
      ['staging prod', 'There is no file prod, nor an environment of that name. Did you mean "production"?\n'],
    ] as const) {
      expect(await shop.refused(`inventory diff ${operands}`)).toContain(said);
    }
  });

  test('refuses an invalid file in diff, and says how to make one', async ({ shop }) => {
    for (const [format, text, said] of [
      ['csv', 'petId,quantity\n4,\n', 'line 2, quantity: the quantity is missing'],
      ['csv', 'petId,quantity\n4,3\n5,1\n4,3\n', 'line 4: pet 4 is already on line 2'],
      ['csv', 'petId,delta\n4,+3\n', 'line 2, delta: a stock list contains quantities, not changes'],
      ['csv', 'petId,quantity\n1.23E+18,3\n', 'rounded'],
      ['csv', '', 'the file is empty'],
      ['ndjson', '{"petId":4,"quantity":1}\n{"petId":4,"quantity":1}\n', 'line 2: pet 4 is already on line 1'],
      // Without a header line these can be misread: two columns in either order, a text as quantity, a status first.
      ['tsv', '4\t39\n5\t1\n', 'not a stock list'],
      ['tsv', '4\tmany\tavailable\n', 'not a stock list'],
      ['tsv', 'available\t4\t39\n', 'not a stock list'],
    ] as const) {
      const file = format === 'tsv' ? '-' : shop.file(`stock.${format}`, text);
      const stderr = await shop.refused(`inventory diff ${file} staging`, { stdin: text });
      expect(stderr).toContain(said);
      expect(stderr).not.toContain('change file');
      if (format === 'tsv') expect(stderr).toContain('petstock inventory list -o csv');
    }
  });

  shopTest('diff names the environment whose URL is missing', async ({ shop }) => {
    for (const sides of ['staging production', 'production staging', 'stock.csv production'])
      expect(await shop.refused(`inventory diff ${sides}`)).toContain('--env production');
  });
});

const item = '{"petId":4,"quantity":1,"status":"sold"}';
test('diffs JSON from other programs', async ({ shop }) => {
  for (const [name, text] of [
    ['stock.json', `\ufeff[${item}]`],
    ['stock.json', '[{"id":"4","qty":"1","Status":"sold"}]'],
    ['stock.json', `${item}\n`],
    ['stock.json', '{"petId":4,\n"quantity":1}'],
    ['stock.ndjson', item],
    ['stock.ndjson', `\n\n${item}\r\n\r\n`],
    ['stock.jsonl', '{"petId":4,"quantity":1}\n'],
  ] as const) {
    const right = shop.file('right.csv', 'petId,quantity,status\n4,2,sold\n');
    const { stdout } = await shop.run(`inventory diff ${shop.file(name, text)} ${right} --only quantity -o tsv`);
    expect(stdout.split('\t').slice(0, 3)).toEqual(['4', 'changed', '1']);
  }
});

test('diff accepts a list without a header line, but apply refuses it', async ({ shop }) => {
  const { stdout: tsv } = await shop.run('inventory list');
  const { stdout: csv } = await shop.run('inventory list -o csv --no-header');
  for (const [left, stdin] of [
    [shop.file('a.tsv', tsv), ''],
    ['-', tsv],
    ['-', csv],
  ] as const) {
    const result = await shop.run(`inventory diff ${left} staging --exit-code --json`, { stdin });
    expect(result).toMatchObject({ code: 0, stdout: '[]\n' });
  }
  await shop.refused('inventory apply - --yes', { stdin: '4\t39\tavailable\n' });
});
