import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { envOf, served } from '../../support/served-shop.ts';
import { type Shop, test } from '../../support/shop.ts';

/** Runs a command with --json and reads what it printed. */
async function printed(shop: Shop, command: string) {
  const { code, stdout, stderr } = await shop.run(`${command} --json`);
  expect({ code, stderr: stderr.replace(/^This is the only time.*\n/, '') }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

describe('sandbox keys', () => {
  test('sandbox keys create prints a new key, and sandbox keys list never prints it', async ({ shop }) => {
    expect(await printed(shop, 'sandbox keys list')).toEqual([]);
    await shop.exits('sandbox keys revoke 000000000000', 9);
    expect(existsSync(shop.folders.state)).toBe(false);
    const env = { PETSTOCK_URL_STAGING: undefined, PETSTOCK_API_KEY_STAGING: undefined };
    const { code, stdout, stderr } = await shop.run('sandbox keys create --plan pro --json', { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'This is the only time that the key is shown.\n' });
    const { key, ...listed } = JSON.parse(stdout);
    expect({ key, listed }).toEqual({
      key: expect.stringMatching(/^psk_[0-9A-Za-z]{36}$/),
      listed: {
        id: expect.stringMatching(/^[0-9a-f]{12}$/),
        plan: 'pro',
        limitMinute: 300,
        limitDay: 10_000,
        createdAt: '2026-01-15T12:00:20.000Z',
        revokedAt: null,
        name: null,
      },
    });
    const list = await shop.run('sandbox keys list --json');
    expect(JSON.parse(list.stdout)).toEqual([listed]);
    expect(list.stdout + list.stderr).not.toContain(key);
    expect((await shop.run('sandbox keys list')).stdout).toBe(
      `${listed.id}\tpro\t300\t10000\t2026-01-15T12:00:20.000Z\t\t\n`,
    );
    const table = await shop.run('sandbox keys list -o table');
    expect(table.stdout).toMatch(/Id +Plan +Per minute +Per day +Created +Revoked +Name/);
    const own = await printed(shop, 'sandbox keys create --limit-minute 5000 --limit-day 1000000');
    expect(own).toMatchObject({ plan: 'enterprise', limitMinute: 5000, limitDay: 1_000_000 });
  });

  test('shows the name of a sandbox key in lists, the admin API and metrics', async ({ shop }) => {
    const name = 'till 3 "north"';
    const { id } = JSON.parse(
      (await shop.run(['sandbox', 'keys', 'create', '--plan', 'pro', '--name', name, '--json'])).stdout,
    );
    expect(await printed(shop, 'sandbox keys list')).toMatchObject([{ id, name }]);
    for (const bad of ['', 'a\u202eb', 'a'.repeat(41)])
      expect(await shop.refused(['sandbox', 'keys', 'create', '--plan', 'pro', '--name', bad])).toContain(
        '--name takes',
      );
    await served(shop, '--admin-port 0', async ({ admin, adminToken }) => {
      const headers = { Authorization: `Bearer ${adminToken}` };
      expect(await (await fetch(`${admin}/keys`, { headers })).json()).toContainEqual(
        expect.objectContaining({ id, name }),
      );
      const metrics = await (await fetch(`${admin}/metrics`, { headers })).text();
      expect(metrics).toContain(`petstock_key_banned{key="${id}",name="till 3 \\"north\\""} 0`);
    });
  });

  test('accepts a key created while the sandbox is served, until the key is revoked', async ({ shop }) => {
    const { code } = await served(shop, '', async (line) => {
      const { key, id } = await printed(shop, 'sandbox keys create --plan pro');
      const env = envOf({ ...line, key });
      await shop.exits('inventory get 1', 0, [], { env });
      expect(await printed(shop, `sandbox keys revoke ${id}`)).toMatchObject({ id, revokedAt: expect.any(String) });
      await shop.exits('inventory get 1', 4, [], { env });
    });
    expect(code).toBe(0);
  });

  test('sandbox keys revoke refuses a key instead of its id, and does not print the key', async ({ shop }) => {
    const { key } = await printed(shop, 'sandbox keys create --plan pro');
    for (const given of [key, 'abcdefghijklmnop', '!only#signs$in%it']) {
      const stderr = await shop.refused(['sandbox', 'keys', 'revoke', given]);
      expect(stderr).toContain('A key is revoked by its id');
      expect(stderr).not.toContain(given);
    }
  });

  test("revokes every key of a backup, but not the sandbox's own key", async ({ shop }) => {
    await shop.run('-e sandbox inventory get 1');
    const [own] = await printed(shop, 'sandbox keys list');
    expect(await shop.refused(`sandbox keys revoke ${own.id}`)).toContain("This is the sandbox's own key");
    const copy = join(shop.folders.state, 'copy.db');
    for (const command of ['keys create --plan pro', `backup ${copy}`]) await shop.exits(`sandbox ${command}`, 0);
    const keys = await printed(shop, `sandbox keys list --file ${copy}`);
    expect(keys).toHaveLength(2);
    await shop.run(`sandbox keys create --plan free --file ${copy}`);
    expect(await printed(shop, `sandbox keys list --file ${copy}`)).toHaveLength(3);
    for (const { id } of keys) await shop.exits(`sandbox keys revoke ${id} --file ${copy}`, 0);
  });

  test.for([
    ['create', 2, 'A key needs a plan'],
    ['create --plan pro --limit-minute 5', 2, "--plan and limits of its own can't be used together"],
    ['create --limit-day 1.5', 2, '--limit-day takes a whole number from 0, not "1.5"'],
    ['list --file :memory:', 2, '--file :memory: stores nothing between commands'],
    ['list --file /etc/hostname', 2, "The sandbox can't use /etc/hostname: "],
    ['revoke 000000000000', 9, 'There is no key 000000000000'],
  ] as const)('sandbox keys %s exits with %i', async ([command, expected, message], { shop }) => {
    expect((await shop.exits(`sandbox keys ${command}`, expected, `Error: ${message}`)).stdout).toBe('');
  });
});

describe('the plan of the sandbox key', () => {
  const info = (shop: Shop) => printed(shop, 'sandbox info');

  test('keeps the plan and stock of the sandbox if sandbox serve uses another plan', async ({ shop }) => {
    await shop.run('-e sandbox inventory set 1 99');
    await served(shop, '--plan free --pets 5', async (line) => {
      expect((await shop.run('inventory set 1 3', { env: envOf(line) })).stdout).toMatch(/^1\t3\t/);
      await shop.exits('-e sandbox inventory get 1', 0, '998 of 1000 left');
    });
    expect(await info(shop)).toMatchObject({ plan: 'business', pets: 24 });
    expect((await shop.run('-e sandbox inventory get 1')).stdout).toMatch(/^1\t99\t/);
  });

  test('sandbox reset restores the stock and the limits, and keeps the plan and the keys', async ({ shop }) => {
    const { id } = await printed(shop, 'sandbox keys create --plan free');
    const { key } = await info(shop);
    await shop.run('-e sandbox inventory set 1 98');
    await shop.run('-e sandbox inventory adjust 1 +1');
    await shop.exits('sandbox reset', 0);
    expect(await info(shop)).toMatchObject({ plan: 'business', pets: 24, key });
    // The restored stock must not be mistaken for an outdated response.
    const adjusted = await shop.exits('-e sandbox inventory adjust 1 +2', 0, 'Rate limit: 998 of 1000 left');
    expect(adjusted.stdout).toMatch(/^1\t14\tavailable\t12\t/);
    expect(await printed(shop, 'sandbox keys list')).toContainEqual(expect.objectContaining({ id, plan: 'free' }));
  });
});
