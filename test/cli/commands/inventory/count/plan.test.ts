import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { changeFile, openShop, stockOf, test } from '../../../../support/shop.ts';
import { count, sessionIn } from './count-rig.ts';

test('sets unscanned pets to 0 with --all, but not beyond max-zero or with unknown codes', async () => {
  const shop = await openShop({ pets: 5 });
  const guarded = await count(shop, '1\n', '--yes --all --max-zero 1');
  expect(guarded).toMatchObject({ code: 2 });
  expect(guarded.stderr).toContain('max-zero allows 1');
  expect(guarded.written).toEqual([]);
  const unknown = await count(shop, 'foo\n', `${await sessionIn(shop)} --yes --all`);
  expect(unknown).toMatchObject({ code: 2, written: [] });
  const dropped = await count(shop, '= foo 0\n', `${await sessionIn(shop)} --yes --all`);
  expect(dropped.code).toBe(0);
  expect(new Set((await stockOf(shop)).values())).toEqual(new Set([0, 1]));
  expect((await stockOf(shop)).get('1')).toBe(1);
});

test('writes a change file with expected quantities for count --to, and changes no stock', async ({ shop }) => {
  const file = join(shop.folders.state, '..', 'counted.csv');
  const result = await count(shop, '4\n1 x12\n', `--to ${file}`);
  expect(result).toMatchObject({ code: 0, stdout: '', written: [] });
  const header = 'petId,status,expected,quantity,reason,ref\n';
  expect(readFileSync(file, 'utf8')).toBe(`${header}4,,39,1,stock-take,\n1,,12,12,stock-take,\n`);
  expect((await count(shop, '1\n', `--to ${file}`)).code).toBe(2);
  expect((await shop.run(['inventory', 'export', file])).code).toBe(2);
  expect((await shop.run(['inventory', 'apply', file, '--yes'])).code).toBe(0);
  expect((await stockOf(shop)).get('4')).toBe(1);
  expect((await count(shop, '4\n', '--to counted.json')).code).toBe(2);
  writeFileSync(file, 'mine\n');
  expect((await count(shop, '4\n', `--to ${file}`)).code).toBe(2);
  const printed = await shop.run('inventory count --to -', { stdin: '4\n' });
  expect(printed).toMatchObject({ code: 0, stdout: `${header}4,,1,1,stock-take,\n` });
});

test('applies --max-changes and --max-zero to a count with --to', async () => {
  const shop = await openShop({ pets: 5 });
  const file = join(shop.folders.state, '..', 'guarded.csv');
  for (const guard of ['--all --max-zero 1', '--all --max-changes 1']) {
    const stderr = expect.stringContaining('The plan exceeds its limits');
    expect(await count(shop, '1\n', `--new --to ${file} ${guard}`)).toMatchObject({ code: 2, stderr });
    expect(existsSync(file)).toBe(false);
  }
  expect((await count(shop, '1\n', `--new --to ${file} --all --max-zero 4`)).code).toBe(0);
});

test('repeats the options of count in its hints', async () => {
  const shop = await openShop({ pets: 5 });
  const codes = changeFile(shop, 'code,petId\n55,1\n', 'codes.csv');
  const plan = `--codes ${codes} --all --reason year-end --ref=-7`;
  const hints = async (words: string, hint: string, stdin = '55\n') => {
    const { stderr } = await count(shop, stdin, words);
    expect(stderr).toContain(`Hint: petstock inventory count ${hint} --env staging\n`);
  };
  const refused = await count(shop, '55\n', `--yes ${plan} --max-zero 1`);
  const name = await sessionIn(shop);
  const kept = `${name} --all --reason year-end --ref=-7 --max-zero 1 --yes`;
  expect(refused.stderr).toContain(`Hint: petstock inventory count ${kept} --env staging\n`);
  await hints('--to counted.csv --all', `${name} --to counted.csv --all`);
  await hints(`--new ${plan}`, `--new ${plan} --dry-run`);
  await hints('--merge aaaa bbbb --all', '--merge aaaa bbbb --all --dry-run', '');
  await hints(`${name} --yes --env sandbox --all`, `${name} --all --yes`, '');
  await shop.run(`inventory count --discard ${name} --yes`);
  await hints(`${name} --yes --all --reason 'x`, `--new --all --reason ''\\''x' --yes`, '');
});
