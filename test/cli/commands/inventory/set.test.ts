import { describe, expect } from 'vitest';
import { confirming, errorJson, openShop, type Shop, sent, test } from '../../../support/shop.ts';

test('sends one PATCH with the quantity alone, and shows what the service answered', async ({ shop }) => {
  const written = await shop.run('inventory set 4 12 --json');
  expect(written.code).toBe(0);
  const run = expect.stringMatching(/^\d{8}T\d{6}Z-\w{4}$/);
  expect(JSON.parse(written.stdout)).toEqual({ petId: 4, quantity: 12, status: 'available', run });
  expect(sent(written)).toEqual(['PATCH /v1/inventory/4 {"quantity":12}']);
  expect(written.stderr).toBe(
    `▸ staging · ${shop.service.url}\nNot known what it was before: this can't be taken back.\nRate limit: 999 of 1000 left, resets in 40 s\n`,
  );
});

test.for(['9007199254740993', '9223372036854775807'])('ids beyond 2^53: %s', async (petId, { shop }) => {
  const result = await shop.run(`inventory set ${petId} 7 -o csv --no-header`);
  expect(sent(result)).toEqual([`PATCH /v1/inventory/${petId} {"quantity":7}`]);
  expect(result.stdout).toMatch(new RegExp(`^${petId},7,`));
  expect((await shop.run(`inventory get ${petId}`)).stdout).toMatch(new RegExp(`^${petId}\t7\t`));
});

test.for(['0', '-9007199254740991'])('the quantity %s goes to the service', async (quantity, { shop }) => {
  const result = await shop.run(`inventory set 4 ${quantity}`);
  expect(result.code).toBe(0);
  expect(sent(result)).toEqual([`PATCH /v1/inventory/4 {"quantity":${quantity}}`]);
  expect(result.stdout).toMatch(new RegExp(`^4\t${quantity}\tavailable\t\t\\S+-\\w{4}\n$`));
});

test('a pet that the service does not know is exit 9, in words about the pet', async ({ shop }) => {
  const { code, stdout, stderr } = await shop.run('inventory set 4242 1');
  expect({ code, stdout }).toEqual({ code: 9, stdout: '' });
  expect(stderr).toContain('Error: There is no pet 4242 in staging.\nHint: petstock inventory list --env staging\n');
  const json = await shop.run('inventory set 4242 1 --json --quiet');
  expect(errorJson(json.stderr).error).toMatchObject({ code: 'pet_not_found', status: 404, exitCode: 9 });
});

test("a quantity out of the service's bounds is exit 10, with the service's own words", async () => {
  const shop = await openShop({ quantityBounds: { min: 0n } });
  const { code, stderr } = await shop.run('inventory set 4 -1 --json --quiet');
  expect(code).toBe(10);
  expect(errorJson(stderr).error).toMatchObject({ status: 400, exitCode: 10 });
});

describe('--expect', () => {
  test('writes where the stock is that', async ({ shop }) => {
    const result = await shop.run('inventory set 4 12 --expect 39');
    expect(result.code).toBe(0);
    expect(sent(result)).toEqual(['GET /v1/inventory', 'PATCH /v1/inventory/4 {"quantity":12}']);
  });

  test('is exit 7 and no PATCH where it is not', async ({ shop }) => {
    const result = await shop.run('inventory set 4 12 --expect 38');
    expect(result).toMatchObject({ code: 7, stdout: '' });
    expect(sent(result)).toEqual(['GET /v1/inventory']);
    expect(result.stderr).toContain('Error: The stock of pet 4 is 39, not 38; nothing was written.\n');
  });

  test('is exit 9 where there is no such pet, and 0 is a stock', async ({ shop }) => {
    expect(await shop.run('inventory set 4242 1 --expect 0')).toMatchObject({ code: 9 });
    expect(await shop.run('inventory set 2 1 --expect 0')).toMatchObject({ code: 0 });
  });
});

describe('the history', () => {
  test('has the intent and the outcome, with reason and ref, and never the key', async ({ shop }) => {
    const words = 'inventory set 9007199254740993 3 --expect 0 --ref D-1 --reason'.split(' ');
    await shop.run([...words, 'new arrivals']);
    const { stdout } = await shop.run('history export');
    expect(stdout).not.toContain(shop.service.key);
    expect(stdout).toContain('"petId":9007199254740993,');
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ command: 'inventory set', env: 'staging', baseUrl: shop.service.url },
      ...{ row: 1, before: 0, after: 3, result: 'applied', quantity: 3, reason: 'new arrivals', ref: 'D-1' },
    });
  });

  test('says what failed, and what is not known', async () => {
    const shop = await openShop({ faults: ['PATCH /inventory/5:commit-then-drop', 'GET /inventory:status=500'] });
    expect(await shop.run('inventory set 4242 3')).toMatchObject({ code: 9 });
    expect(await shop.run('inventory set 5 3')).toMatchObject({ code: 8, stdout: '' });
    // The export has what is settled.
    expect(await outcomes(shop)).toEqual(['failed']);
    const [unknown] = await shop.json('history list --json');
    expect(unknown).toMatchObject({ state: 'incomplete', counts: { unknown: 1 } });
  });

  test('takes what never reached the service for failed, not for unknown', async ({ shop }) => {
    const down = await shop.run('inventory set 4 3', { env: { PETSTOCK_URL_STAGING: 'http://127.0.0.1:1/v1' } });
    expect(down.code).toBe(5);
    expect(down.stderr).not.toContain('not known');
    expect(await outcomes(shop)).toEqual(['failed']);
  });

  test("that can't be written stops the change before it is sent", async ({ shop }) => {
    const state = '/dev/null/state';
    const result = await shop.run('inventory set 4 12', { folders: { ...shop.folders, state } });
    expect(result).toMatchObject({ code: 1, requests: [] });
    expect(result.stderr).toContain('nothing was sent');
    expect(result.stderr).toContain('PETSTOCK_STATE_DIR');
  });
});

describe('Ctrl-C', () => {
  test('while waiting for the rate limit says that nothing was set', async () => {
    const shop = await openShop({ limits: { minute: 1, day: 1000 } });
    await shop.run('inventory get 4');
    const result = await shop.run('inventory set 4 3', { ctrlCAt: /^Rate limited/ });
    expect(result).toMatchObject({ code: 130, requests: [] });
    expect(result.stderr).toContain('Error: Interrupted; the stock of pet 4 was not set.\n');
  });

  test('while the request is on its way waits for its answer, and says what became of it', async () => {
    const shop = await openShop({ faults: ['PATCH /inventory/4:hang'] });
    const result = await shop.run('inventory set 4 3', {
      ctrlCAt: () => true,
      // The time-out of the request passes.
      onStderr: (text) => {
        if (text.startsWith('Stopping')) setImmediate(() => shop.clock.expireDeadlines());
      },
    });
    expect(result.code).toBe(130);
    expect(result.stderr).toContain(
      'Interrupted; it is not known whether the stock of pet 4 was set.\nHint: petstock inventory apply --resume ',
    );
  });
});

describe('confirm = always', () => {
  test('asks on a terminal and writes on yes', async ({ shop }) => {
    await shop.run('config set confirm always');
    const { asked, prompts } = confirming(true);
    const result = await shop.run('inventory set 4 12', { terminal: 80, prompts });
    expect(result.code).toBe(0);
    expect(asked).toEqual(['Pet 4 in staging: 39 → 12 (-27). Write it?']);
    expect(sent(result)).toEqual(['GET /v1/inventory', 'GET /v1/inventory', 'PATCH /v1/inventory/4 {"quantity":12}']);
  });

  test('is exit 2 on no, and off a terminal without --yes', async ({ shop }) => {
    await shop.run('config set confirm always');
    const no = await shop.run('inventory set 4 12', { terminal: 80, prompts: { confirm: async () => false } });
    expect(no.code).toBe(2);
    expect(sent(no)).toEqual(['GET /v1/inventory']);
    expect(await shop.run('inventory set 4 12')).toMatchObject({ code: 2, requests: [] });
    expect(await shop.run('inventory set 4 12 --yes')).toMatchObject({ code: 0 });
  });
});

/** The results that the history has, in the order of its runs. */
async function outcomes(shop: Shop): Promise<string[]> {
  const { stdout } = await shop.run('history export');
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).result);
}
