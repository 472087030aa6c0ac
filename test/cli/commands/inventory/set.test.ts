import { join } from 'node:path';
import { describe, expect, vi } from 'vitest';
import { sqlite } from '../../../../src/shared/sqlite-engine.ts';
import { errorJson, openShop, type Shop, test } from '../../../support/shop.ts';

const get = 'GET /v1/inventory';

/** Resolves once the service has received a request. */
const untilReceived = ({ service }: Shop) => vi.waitFor(() => expect(service.journal()).toHaveLength(1));

test('set sends one PATCH with only the quantity, and prints the response', async ({ shop }) => {
  const { code, stdout, stderr, sent } = await shop.run('inventory set 4 12 --json');
  const run = expect.stringMatching(/^\d{8}T\d{6}Z-\w{4}$/);
  const item = { petId: 4, quantity: 12, status: 'available', run };
  expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, ...item });
  expect(JSON.parse(stdout)).not.toHaveProperty('before');
  expect(sent).toEqual(['PATCH /v1/inventory/4 {"quantity":12}']);
  expect(stderr).toMatch(/^▸ staging · http.*\nThis can't be undone.* --read-first .*\nRate limit: 999 .*\n$/);
});

test('sends and prints every digit of the pet id and the quantity', async ({ shop }) => {
  for (const [petId, quantity, status] of [
    ['9007199254740993', '7', 'sold'],
    ['9223372036854775807', '7', 'available'],
    ['4', '0', 'available'],
    ['4', '-9007199254740991', 'available'],
  ] as const) {
    const { stdout, sent } = await shop.run(`inventory set ${petId} ${quantity}`);
    expect(sent).toEqual([`PATCH /v1/inventory/${petId} {"quantity":${quantity}}`]);
    expect(stdout).toMatch(new RegExp(`^${petId}\t${quantity}\t${status}\t+\\S+-\\w{4}\n$`));
    expect((await shop.run(`inventory get ${petId}`)).stdout).toMatch(
      new RegExp(`^${petId}\t${quantity}\t${status}\\b`),
    );
  }
});

test('set exits with 9 for an unknown pet, and names the pet', async ({ shop }) => {
  const { code, stdout, stderr } = await shop.run('inventory set 4242 1');
  expect({ code, stdout }).toEqual({ code: 9, stdout: '' });
  expect(stderr).toContain('Error: There is no pet 4242 in staging.\nHint: petstock inventory list --env staging\n');
  const json = await shop.run('inventory set 4242 1 --json --quiet');
  expect(errorJson(json.stderr).error).toMatchObject({ code: 'pet_not_found', status: 404, exitCode: 9 });
});

test.for([
  ['4 12 --expect 39', 0, [get, 'PATCH /v1/inventory/4 {"quantity":12}'], ''],
  ['4 12 --expect 38', 7, [get], 'Error: The stock of pet 4 is 39, not 38. Nothing was written.\n'],
  ['4242 1 --expect 0', 9, [get], 'Error: There is no pet 4242 in staging'],
  ['2 1 --expect 0', 0, [get, 'PATCH /v1/inventory/2 {"quantity":1}'], ''],
] as const)(
  'set %s compares the stock before writing, and exits with %i',
  async ([words, code, sent, told], { shop }) => {
    const result = await shop.run(`inventory set ${words}`);
    expect(result).toMatchObject({ code, sent, ...(code !== 0 && { stdout: '' }) });
    expect(result.stderr).toContain(told);
  },
);

const person = { terminal: 80, env: { NO_COLOR: '1' } };

test('set prints Before and After on a terminal, and reports if nothing changed', async ({ shop }) => {
  const { stdout, stderr } = await shop.run('inventory set 4 12', person);
  expect(stdout).toMatch(/Before +After.*\n.* 39 +12 /);
  expect(stderr).not.toContain('Nothing changed');
  for (const command of ['set 4 12', 'adjust 4 0', 'set 4 12 --expect 12'])
    await shop.exits(`inventory ${command}`, 0, '\nNothing changed: the stock was already 12.\n', person);
});

test('omits "This can\'t be undone" if the outcome of set is unknown', async () => {
  const shop = await openShop({ faults: ['PATCH /inventory/4:status=500', 'GET /inventory:status=500'] });
  const { stderr } = await shop.exits('inventory set 4 12 --retries 0', 8);
  expect(stderr).not.toContain("This can't be undone");
});

describe('the history of set', () => {
  test('records the result, reason and ref of set in the history, but never the key', async ({ shop }) => {
    const words = 'inventory set 9007199254740993 3 --expect 0 --ref D-1 --reason'.split(' ');
    await shop.run([...words, 'new arrivals']);
    const { stdout } = await shop.run('history export');
    expect(stdout).not.toContain(shop.service.key);
    expect(stdout).toContain('"petId":9007199254740993,');
    expect(JSON.parse(stdout)).toMatchObject({
      command: 'inventory set',
      env: 'staging',
      baseUrl: shop.service.url,
      row: 1,
      before: 0,
      after: 3,
      result: 'applied',
      quantity: 3,
      reason: 'new arrivals',
      ref: 'D-1',
    });
  });

  test('records a set that never reached the service as failed, not as unknown', async ({ shop }) => {
    const down = await shop.run('inventory set 4 3', { env: { PETSTOCK_URL_STAGING: 'http://127.0.0.1:1/v1' } });
    expect(down).toMatchObject({ code: 5, stderr: expect.not.stringContaining('not known') });
    expect(await shop.json('history export')).toMatchObject({ result: 'failed' });
  });

  test("does not send a set that can't be recorded in the history", async ({ shop }) => {
    const folders = { ...shop.folders, state: '/dev/null/state' };
    const { code, requests, stderr } = await shop.run('inventory set 4 12', { folders });
    expect({ code, requests }).toEqual({ code: 1, requests: [] });
    for (const told of ['Nothing was sent', 'PETSTOCK_STATE_DIR']) expect(stderr).toContain(told);
  });
});

describe('Ctrl-C in set', () => {
  test('reports that nothing was set if Ctrl-C ends a wait for the rate limit', async () => {
    const shop = await openShop({ limits: { minute: 1, day: 1000 } });
    await shop.run('inventory get 4');
    const result = await shop.run('inventory set 4 3', { ctrlCAt: /^Rate limited/ });
    expect(result).toMatchObject({ code: 130, requests: [] });
    expect(result.stderr).toContain('Error: Interrupted. Nothing was written.\n');
  });

  test('waits for a set in flight after Ctrl-C, and reports that its outcome is unknown if it times out', async () => {
    const shop = await openShop({ faults: ['PATCH /inventory/4:hang'] });
    const { code, stderr } = await shop.run('inventory set 4 3', {
      ctrlCAt: () => true,
      onStderr: (text) => {
        if (text.startsWith('Stopping')) void untilReceived(shop).then(() => shop.clock.expireDeadlines());
      },
    });
    expect(code).toBe(130);
    expect(stderr).toContain(
      'Interrupted. It is not known whether the stock of pet 4 was set to 3.\nHint: petstock inventory apply --resume ',
    );
  });
});

test('set needs --yes without a terminal if confirm is set to always', async ({ shop }) => {
  await shop.run('config set confirm always');
  await shop.refused('inventory set 4 12');
  expect(await shop.run('inventory set 4 12 --yes')).toMatchObject({ code: 0 });
});

test('sends nothing if the state is full when the run is recorded', async ({ shop }) => {
  await shop.run('inventory list');
  const database = new (sqlite().DatabaseSync)(join(shop.folders.state, 'state.db'));
  database.exec("CREATE TRIGGER full BEFORE INSERT ON runs BEGIN SELECT RAISE(ABORT, 'database is full'); END");
  database.close();
  const { requests } = await shop.exits(
    'inventory set 4 3',
    1,
    "can't be read or written (database is full). Nothing was written.",
  );
  expect(requests).toEqual([]);
});
test('refuses what set and adjust do not take, and hints at what does the job', async ({ shop }) => {
  for (const [words, hint] of [
    ['set 4=12', 'petstock inventory set 4 12'],
    ['set 4=12 --expect 39 -e staging', 'petstock inventory set 4 12 --expect 39 -e staging'],
    ['adjust rabbit=-2', 'petstock inventory adjust rabbit -2'],
    [
      'set 4=12 9007199254740993=9 --ref R-1',
      "printf 'petId,quantity\\n4,12\\n9007199254740993,9\\n' | petstock inventory apply - --yes --ref R-1 --env staging",
    ],
    ['adjust 4=+1 5=-2', "printf 'petId,delta\\n4,+1\\n5,-2\\n' | petstock inventory apply - --yes --env staging"],
    ['set 4=', 'petstock inventory set --help'],
    ['set 4=12 5', 'petstock inventory set --help'],
    [
      'set 4 12 5 13 --expect 1',
      "printf 'petId,quantity\\n4,12\\n5,13\\n' | petstock inventory apply - --yes --env staging",
    ],
    ['adjust 4 1 5 -1', "printf 'petId,delta\\n4,1\\n5,-1\\n' | petstock inventory apply - --yes --env staging"],
    ['set 4 12 5', 'petstock inventory set --help'],
    ['set 4 0 --max-zero 1', 'petstock inventory apply --help'],
    ['adjust 4 +1 --exit-code', 'petstock inventory apply --help'],
  ] as const) {
    expect(await shop.refused(`inventory ${words}`)).toContain(`\nHint: ${hint}\n`);
  }
});

test('shows what set would write with --dry-run, whatever the guards of bulk runs are', async ({ shop }) => {
  await shop.run('config set max-zero 0');
  const { sent, stderr } = await shop.exits('inventory set 4 0 --dry-run', 0, '4   39 → 0  (-39)');
  expect({ sent, stderr }).toMatchObject({
    sent: ['GET /v1/inventory'],
    stderr: expect.not.stringContaining('max-zero'),
  });
  await shop.exits('inventory adjust 777 +1 --dry-run', 9, 'There is no pet 777 in staging');
});

test('set reads the previous stock on a terminal, unless the setting read-first says otherwise', async ({ shop }) => {
  const { sent, stderr } = await shop.run('inventory set 4 12', person);
  expect(sent).toEqual(['GET /v1/inventory', 'PATCH /v1/inventory/4 {"quantity":12}']);
  expect(stderr).toMatch(/Undo: petstock undo \w{4}\n/);
  await shop.run('config set read-first never');
  expect((await shop.run('inventory set 4 12', { terminal: 100 })).sent).toHaveLength(1);
  await shop.run('config set read-first always');
  expect((await shop.run('inventory set 4 12')).sent).toHaveLength(2);
});
