import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { schemaVersion } from '../../src/state/schema.ts';
import { stateSql } from '../support/recorded-runs.ts';
import { openShop, test, withEnv } from '../support/shop.ts';

/** Opens a shop with the configuration file of petstock 0.1, to which a later version has added fields. */
async function shopWith(added: object) {
  const shop = await openShop();
  const { url, key } = shop.service;
  const file = join(shop.folders.config, 'config.json');
  const written = { keys: { staging: key }, keyOrigins: { staging: new URL(url).origin }, urls: { staging: url } };
  mkdirSync(shop.folders.config, { mode: 0o700 });
  writeFileSync(file, `${JSON.stringify({ ...written, ...added }, undefined, '\t')}\n`, { mode: 0o600 });
  const { run } = withEnv(shop, { PETSTOCK_URL_STAGING: undefined, PETSTOCK_API_KEY_STAGING: undefined });
  return { file, text: () => readFileSync(file, 'utf8'), run };
}

test.for([
  ['setings', 'settings'],
  ['Settings', 'settings'],
  ['url', 'urls'],
  ['key-origins', 'keyOrigins'],
  ['store', 'stores'],
])('warns about a part of the file named %s, and suggests %s', async ([name = '', meant]) => {
  const { run } = await shopWith({ [name]: { 'max-zero': 0 } });
  const { stderr } = await run('inventory list --limit 1');
  expect(stderr.match(/^Warning: .*/gm)).toEqual([
    expect.stringContaining(`, "${name}" is not a known part and has no effect. Did you mean "${meant}"?`),
  ]);
});

test('warns about settings and parts from a later petstock, and keeps them in the file', async () => {
  const later = {
    settings: { max_zero: 10, 'low-stock': 3, theme: 'dark' },
    stores: { north: { settings: { tone: 1 }, notes: { staging: 'x' } } },
    notes: { 'a.b': 1 },
    'max-changes': 5,
  };
  const { run, text } = await shopWith(later);
  const list = await run('inventory list --limit 1');
  expect(list).toMatchObject({ code: 0, stdout: expect.stringMatching(/^1\t12\tavailable\b/) });
  expect(list.stderr.match(/^Warning: .*/gm)).toEqual([
    expect.stringContaining('"tone" is not a setting and has no effect.'),
    expect.stringContaining('"max_zero" is not a setting and has no effect. Did you mean "max-zero"?'),
    expect.stringContaining('"theme" is not a setting and has no effect.'),
    expect.stringContaining('"max-changes" has no effect outside "settings".'),
  ]);
  expect(await run('config set low-stock 4')).toMatchObject({ code: 0 });
  expect(await run('config set low-stock 2 --store north')).toMatchObject({ code: 0 });
  expect(await run('config set-url https://a.example/v1 -e production')).toMatchObject({ code: 0 });
  expect(await run('config unset-key')).toMatchObject({ code: 0 });
  expect(JSON.parse(text())).toMatchObject({
    settings: { max_zero: 10, 'low-stock': 4, theme: 'dark' },
    stores: { north: { settings: { tone: 1, 'low-stock': 2 }, notes: { staging: 'x' } } },
    notes: { 'a.b': 1 },
    keys: {},
    urls: { production: 'https://a.example/v1', staging: expect.any(String) },
  });
});

test('refuses commands that need a configuration in a later format, and leaves it unchanged', async () => {
  const { run, text, file } = await shopWith({ version: 2 });
  const before = text();
  for (const command of ['inventory list', 'config list', 'config set low-stock 3', 'config unset-key']) {
    const refused = await run(command);
    expect(refused).toMatchObject({ code: 2, stdout: '', requests: [] });
    expect(refused.stderr).toContain(
      `${file} was written by a later petstock (file version 2; this petstock supports version 1). petstock did not change it. Install the later petstock`,
    );
  }
  for (const command of ['config path', 'history list', 'state check', '-e sandbox history list', 'completion bash']) {
    expect(await run(command)).toMatchObject({ code: 0 });
  }
  expect(text()).toBe(before);
});

test('refuses commands that need the state of a later petstock, and leaves it unchanged', async ({
  shop: { run, folders },
}) => {
  expect(await run('inventory adjust 4 +2')).toMatchObject({ code: 0 });
  const become = (version: number) => stateSql(folders.state, `PRAGMA user_version = ${version}`);
  const history = await run('history list --json');
  await become(99);
  const reads = ['inventory list', 'history list', 'history show latest', 'history export', 'state info'];
  const writes = ['inventory set 4 2', 'inventory adjust 4 +1', 'undo --last --yes', 'history prune --keep 0 --yes'];
  for (const command of [...reads, ...writes, 'state check', 'inventory watch']) {
    const refused = await run(command);
    expect([command, refused]).toEqual([command, expect.objectContaining({ code: 1, stdout: '', requests: [] })]);
    expect(refused.stderr).toMatch(
      /state\.db was written by a later version .*. Use that version\.( Nothing was sent\.)?\n/,
    );
  }
  for (const command of ['config list', 'config set low-stock 3', 'sandbox info', 'completion bash'])
    expect([command, (await run(command)).code]).toEqual([command, 0]);
  const status = await run('status');
  expect([status.code, status.stdout + status.stderr]).toEqual([1, expect.stringContaining('later version')]);
  await become(schemaVersion);
  expect((await run('history list --json')).stdout).toBe(history.stdout);
  expect(await run('undo --last --yes')).toMatchObject({ code: 0 });
});
