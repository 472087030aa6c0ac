import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { changeFile, openShop, stockOf, test } from '../../../../support/shop.ts';
import { count, person, sessionIn, writes } from './count-rig.ts';

test('--all sets what was not scanned to 0, guarded by max-zero, and never beside an unknown code', async () => {
  const shop = await openShop({ pets: 5 });
  const guarded = await count(shop, '1\n', '--yes --all --max-zero 1');
  expect(guarded).toMatchObject({ code: 2 });
  expect(guarded.stderr).toContain('max-zero allows 1');
  expect(writes(guarded)).toEqual([]);
  const unknown = await count(shop, 'foo\n', `${await sessionIn(shop)} --yes --all`);
  expect(unknown).toMatchObject({ code: 2 });
  expect(writes(unknown)).toEqual([]);
  const dropped = await count(shop, '= foo 0\n', `${await sessionIn(shop)} --yes --all`);
  expect(dropped.code).toBe(0);
  expect(new Set((await stockOf(shop)).values())).toEqual(new Set([0, 1]));
  expect((await stockOf(shop)).get('1')).toBe(1);
});

test('--to writes a change file with what is expected, and no stock', async ({ shop }) => {
  const file = join(shop.folders.state, '..', 'counted.csv');
  const result = await count(shop, '4\n1 x12\n', `--to ${file}`);
  expect(result).toMatchObject({ code: 0, stdout: '' });
  expect(writes(result)).toEqual([]);
  expect(readFileSync(file, 'utf8')).toBe(
    'petId,status,expected,quantity,reason,ref\n4,,39,1,stock-take,\n1,,12,12,stock-take,\n',
  );
  expect((await count(shop, '1\n', `--to ${file}`)).code).toBe(2);
  expect((await shop.run(['inventory', 'export', file])).code).toBe(2);
  expect((await shop.run(['inventory', 'apply', file, '--yes'])).code).toBe(0);
  expect((await stockOf(shop)).get('4')).toBe(1);
  expect((await count(shop, '4\n', '--to counted.json')).code).toBe(2);
  writeFileSync(file, 'mine\n');
  expect((await count(shop, '4\n', `--to ${file}`)).code).toBe(2);
  expect(await shop.run('inventory count --to -', { stdin: '4\n' })).toMatchObject({
    code: 0,
    stdout: 'petId,status,expected,quantity,reason,ref\n4,,1,1,stock-take,\n',
  });
});

test('--to keeps to --max-changes and --max-zero', async () => {
  const shop = await openShop({ pets: 5 });
  const file = join(shop.folders.state, '..', 'guarded.csv');
  for (const guard of ['--all --max-zero 1', '--all --max-changes 1']) {
    const refused = await count(shop, '1\n', `--new --to ${file} ${guard}`);
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.stderr).toContain('The plan is refused, and nothing was written');
    expect(existsSync(file)).toBe(false);
  }
  expect((await count(shop, '1\n', `--new --to ${file} --all --max-zero 4`)).code).toBe(0);
});

test('for production its name has to be typed', async ({ shop }) => {
  const { PETSTOCK_URL_STAGING: url, PETSTOCK_API_KEY_STAGING: key } = shop.env;
  const env = { PETSTOCK_URL_PRODUCTION: url, PETSTOCK_API_KEY_PRODUCTION: key };
  const prompts = { text: async () => 'yes' };
  const refused = await count(shop, '4\ndone\n', '--env production', { ...person, env, prompts });
  expect(refused.code).toBe(2);
  expect(writes(refused)).toEqual([]);
});

test('hints make the same plan', async () => {
  const shop = await openShop({ pets: 5 });
  const codes = changeFile(shop, 'code,petId\n55,1\n', 'codes.csv');
  const plan = `--codes ${codes} --all --reason year-end --ref=-7 --max-zero 1`;
  const words = `--codes ${codes} --all --reason year-end --ref=-7`;
  const refused = await count(shop, '55\n', `--yes ${plan}`);
  const name = await sessionIn(shop);
  const kept = '--all --reason year-end --ref=-7 --max-zero 1';
  expect(refused.stderr).toContain(`Hint: petstock inventory count ${name} ${kept} --env staging\n`);
  const open = await count(shop, '55\n', '--to counted.csv --all');
  expect(open.stderr).toContain(`Hint: petstock inventory count ${name} --all --to counted.csv --env staging\n`);
  const unasked = await count(shop, '55\n', `--new ${words}`);
  expect(unasked.stderr).toContain(`Hint: petstock inventory count --new ${words} --dry-run --env staging\n`);
  const merge = await count(shop, '', '--merge aaaa bbbb --all');
  expect(merge.stderr).toContain('Hint: petstock inventory count --merge aaaa bbbb --all --dry-run --env staging\n');
  const elsewhere = await count(shop, '', `${name} --yes --env sandbox --all`);
  expect(elsewhere.stderr).toContain(`Hint: petstock inventory count ${name} --all --env staging\n`);
  await shop.run(`inventory count --discard ${name} --yes`);
  const gone = await count(shop, '', `${name} --yes --all --reason 'x`);
  expect(gone.stderr).toContain(`Hint: petstock inventory count --new --all --reason ''\\''x' --env staging\n`);
});
