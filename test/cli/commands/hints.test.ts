import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { errorJson } from '../../support/error-json.ts';
import { openShop } from '../../support/shop.ts';

test('a state folder that can not be used: the hint is a command that runs as it stands', async () => {
  const shop = await openShop();
  mkdirSync(join(shop.folders.state, '..'), { recursive: true });
  writeFileSync(shop.folders.state, 'no folder');
  const { code, stderr } = await shop.run('inventory set 4 1 --json');
  expect(code).toBe(1);
  expect(errorJson(stderr).error.hint).toBe('export PETSTOCK_STATE_DIR="$HOME/.petstock-state"');
});

test('a file that may not be replaced: the hint is the same command with --force', async () => {
  const shop = await openShop();
  const file = join(shop.folders.state, '..', "it's mine.csv");
  writeFileSync(file, 'mine');
  const { stderr } = await shop.run(['inventory', 'export', file, '--json']);
  const { hint } = errorJson(stderr).error;
  expect(hint).toBe(`petstock inventory export '${file.replace("'", "'\\''")}' --json --force`);
  expect(await shop.run(['inventory', 'export', file, '--json', '--force'])).toMatchObject({ code: 0 });
});

test('a 404 of api is about the path', async () => {
  const shop = await openShop();
  const { code, stderr } = await shop.run('api GET /nope --json');
  expect(code).toBe(9);
  expect(errorJson(stderr).error.hint).toBe('petstock api --help');
});

test('what was not done is said of the command that did not do it', async () => {
  const shop = await openShop();
  await shop.run('inventory list');
  const limits = await shop.run('limits clear');
  expect(limits.stderr).toContain('Nothing was forgotten; pass --yes');
  await shop.run('inventory set 4 1');
  const prune = await shop.run('history prune --before 2030-01-01');
  expect(prune.stderr).not.toContain('Nothing was sent');
});
