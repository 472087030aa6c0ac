import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { rowsIn } from '../../../../support/delimited-rows.ts';
import { answers } from '../../../../support/scripted-service.ts';
import { changeFile, confirming, errorJson, openShop, stockOf, test } from '../../../../support/shop.ts';
import { openTill } from '../../../../support/till.ts';
import { count, person, scanFile } from './count-rig.ts';

test('adds scanned units to the stock with --add, and subtracts them with --take', async ({ shop }) => {
  const added = await count(shop, '4 x3\n5\n', '--add --ref N-1 --yes --json');
  expect(added).toMatchObject({ code: 0, written: ['4 {"quantity":42}', '5 {"quantity":2}'] });
  const [run] = await shop.json('history list --json');
  expect(run).toMatchObject({ reason: 'scanned in', state: 'done' });
  expect((await count(shop, '4 x2\n', '--take --ref S-1 --yes --json')).written).toEqual(['4 {"quantity":40}']);
  const below = await shop.exits('inventory count --take --ref S-2 --yes -q', 0, [], { stdin: '4 x50\n' });
  expect(below.stderr).toMatch(/^Warning: Pet 4 .*40 → -10\.\n$/);
  for (const flags of ['--add --take', '--add --all', '--skip-applied', '--again', '--add --again --skip-applied'])
    await shop.refused(`inventory count ${flags} --ref x --yes`, { stdin: '4\n' });
});

test('needs a ref for a delivery in a script', async ({ shop }) => {
  const stderr = await shop.refused('inventory count --add --yes', { stdin: '4\n' });
  expect(stderr).toContain('--add needs --ref in a script');
  expect(stderr).toContain("Hint: petstock inventory count --add --ref '<number>' --yes --env staging");
});

test('refuses a delivery that is scanned again under its ref, unless --skip-applied or --again decides', async ({
  shop,
}) => {
  const before = (await stockOf(shop)).get('4') ?? 0;
  const scan = (lines: string, words = '') => count(shop, lines, `--add --ref N-7 --yes --json${words}`);
  expect(await scan('4 x5\n')).toMatchObject({ code: 0 });
  const again = await scan('4 x5\n6 x2\n');
  expect(again).toMatchObject({ code: 2, requests: [] });
  const { message, hint } = errorJson(again.stderr).error;
  expect(message).toMatch(
    /^1 pet was already changed under ref "N-7"\. Nothing was sent\. .*\n *4: \+5 by run \w{4} at .*; now \+5$/s,
  );
  expect(hint).toBe("petstock inventory count --add --ref N-7 --skip-applied --json --yes --env staging < '<file>'");
  const rest = await scan('4 x5\n6 x2\n', ' --skip-applied');
  expect(rest).toMatchObject({
    code: 0,
    written: ['6 {"quantity":16}'],
    report: { counts: { skipped: 1, applied: 1 } },
  });
  const other = await scan('4 x50\n', ' --skip-applied');
  expect(other).toMatchObject({ code: 2, requests: [] });
  expect(other.stderr).toContain('The numbers differ');
  expect(await scan('4 x5\n6 x2\n', ' --skip-applied')).toMatchObject({ code: 0, written: [] });
  expect(await scan('4 x5\n', ' --again')).toMatchObject({ code: 0, written: [`4 {"quantity":${before + 10}}`] });
  expect((await count(shop, '4 x5\n', '--add --ref N-8 --yes')).code).toBe(0);
  await shop.exits('undo --last --yes', 0);
  expect((await count(shop, '4 x5\n', '--add --ref N-8 --yes')).code).toBe(0);
});

test('asks on a terminal about a delivery that is scanned again, by the name of its file', async ({ shop }) => {
  const file = scanFile(shop, 'note.txt');
  expect((await count(shop, '4 x5\ndone\n', [file, '--add'], person)).code).toBe(0);
  const { asked, prompts } = confirming(false);
  const again = await count(shop, '6\ndone\n', [file, '--add'], { ...person, prompts });
  expect(again).toMatchObject({ code: 2, written: [] });
  expect(asked[0]).toContain('AGAIN? 1 pet was already changed under ref "note.txt".');
  expect(again.stderr).toMatch(/\n {2}4: \+5 by run \w{4} at .*; now \+5\n/);
  const skipped = await count(shop, 'done\n', [file, '--add', '--skip-applied'], person);
  expect(skipped.written).toEqual(['6 {"quantity":15}']);
});

test('counts the same file again after codes add, and writes only what is new', async ({ shop }) => {
  const file = scanFile(shop);
  await shop.exits(['config', 'set', 'codes', changeFile(shop, 'code,petId\nA-4,4\n', 'c.csv')], 0);
  writeFileSync(file, 'A-4 x2\nfoo9 x3\n');
  const first = await count(shop, '', `${file} --add --ref N-9 --yes`);
  expect(first).toMatchObject({ code: 8, written: ['4 {"quantity":41}'] });
  const [, hint = ''] = /Hint: petstock (.*)\n$/.exec(first.stderr) ?? [];
  expect(hint).toBe(`inventory count ${file} --add --ref N-9 --skip-applied --yes --env staging`);
  await shop.exits('inventory codes add foo9 8', 0);
  const second = await shop.run(hint);
  expect(second).toMatchObject({ code: 0 });
  expect(second.sent.filter((line) => line.startsWith('PATCH'))).toEqual(['PATCH /v1/inventory/8 {"quantity":35}']);
});

test('says which pets another stock-take of the last day has set, with both counts', async ({ shop }) => {
  const [one, two] = [scanFile(shop, 'shelf-1.txt'), scanFile(shop, 'shelf-2.txt')];
  writeFileSync(one, '4 x12\n5 x2\n');
  writeFileSync(two, '4 x5\n8 x1\n');
  expect((await count(shop, '', `${one} --yes`)).stderr).not.toContain('stock-take');
  const { asked, prompts } = confirming(false);
  const typed = await count(shop, '', `${two} --apply-only`, { ...person, prompts });
  expect(typed.stderr).toMatch(/Warning: 1 pet was set by another stock-take of the last day/);
  expect(typed.stderr).toMatch(/\n {2}4: 12 by run \w{4} at .*, 5 now\n/);
  expect(asked[0]).toContain('1 pet was counted before');
  const script = await count(shop, '', `${two} --yes`);
  expect(script).toMatchObject({ code: 0, stderr: expect.stringContaining('1 pet was set by another stock-take') });
  expect((await count(shop, '', `${two} --yes`)).stderr).not.toContain('another stock-take');
  await shop.clock.advance(25 * 3600 * 1000);
  expect((await count(shop, '', `${one} --yes`)).stderr).not.toContain('another stock-take');
});

test('keeps counts that agree with the stock, so that a second shelf of the pet is recognized', async ({ shop }) => {
  const [one, two] = [scanFile(shop, 'one.txt'), scanFile(shop, 'two.txt')];
  writeFileSync(one, '4 x39\n5 x1\n');
  writeFileSync(two, '4 x5\n');
  const first = await count(shop, '', `${one} --yes --json`);
  expect(first).toMatchObject({ code: 0, written: [], report: { counts: { unchanged: 2, applied: 0 } } });
  expect(await shop.json(`history show ${first.report.run} --json`)).toMatchObject({
    ...{ state: 'done', counts: { unchanged: 2 } },
    rows: [
      { petId: 4, before: 39, after: 39, result: 'unchanged' },
      { petId: 5, result: 'unchanged' },
    ],
  });
  expect((await shop.run('state check')).code).toBe(0);
  const second = await count(shop, '', `${two} --yes`);
  expect(second).toMatchObject({ code: 0, written: ['4 {"quantity":5}'] });
  expect(second.stderr).toMatch(/1 pet was set by another stock-take.*\n {2}4: 39 by run \w{4} at .*, 5 now\n/s);
  await shop.exits('undo --last --yes', 0);
  await shop.exits('undo --last --yes', 9);
  const whole = await count(shop, '4 x39\n', '--all --yes --json');
  const { rows } = await shop.json(`history show ${whole.report.run} --json`);
  expect(rows.filter(({ result }: { result: string }) => result === 'unchanged')).toMatchObject([{ petId: 4 }]);
});

test('recognizes a stock-take that was applied from the file of --to', async ({ shop }) => {
  const file = scanFile(shop, 'counted.csv');
  await count(shop, '4 x12\n', `--to ${file}`);
  await shop.exits(`inventory apply ${file} --yes`, 0);
  expect(await shop.json('history totals --json')).toMatchObject([{ petId: 4, out: 0, counted: -27 }]);
  const { stderr } = await count(shop, '4 x5\n', '--yes');
  expect(stderr).toMatch(/1 pet was set by another stock-take.*\n {2}4: 12 by run \w{4} at .*, 5 now\n/s);
});

test('names a delivery of the last two hours to a pet that is counted', async ({ shop }) => {
  await shop.exits('inventory adjust 4 +50 --ref N-31', 0);
  const { stderr } = await count(shop, '4 x39\n', '--yes');
  expect(stderr).toContain('The stock of 1 pet was raised shortly before');
  expect(stderr).toMatch(/\n {2}4: \+50 by run \w{4} at .*, "N-31"\n/);
  await shop.exits('inventory adjust 8 +1', 0);
  await shop.clock.advance(3 * 3600 * 1000);
  expect((await count(shop, '8 x6\n', '--yes')).stderr).not.toContain('raised');
});

test('writes a change file with expected quantities for count --to, and changes no stock', async ({ shop }) => {
  const file = join(shop.folders.state, '..', 'counted.csv');
  const result = await count(shop, '4\n1 x12\n', `--to ${file}`);
  expect(result).toMatchObject({ code: 0, stdout: '', written: [] });
  const reason = 'stock-take';
  expect(rowsIn(readFileSync(file, 'utf8'))).toEqual([
    { petId: '4', expected: '39', quantity: '1', reason },
    { petId: '1', expected: '12', quantity: '12', reason },
  ]);
  expect((await count(shop, '1\n', `--to ${file}`)).code).toBe(2);
  expect((await shop.run(['inventory', 'apply', file, '--yes'])).code).toBe(0);
  expect((await stockOf(shop)).get('4')).toBe(1);
  expect((await count(shop, '4\n', '--to counted.json')).code).toBe(2);
  const printed = await shop.run('inventory count --to -', { stdin: '4\n' });
  expect(rowsIn(printed.stdout)).toEqual([{ petId: '4', expected: '1', quantity: '1', reason }]);
  const taken = await shop.run('inventory count --take --ref S-2 --to -', { stdin: '4 x3\n' });
  expect(rowsIn(taken.stdout)).toEqual([{ petId: '4', delta: '-3', reason: 'scanned out', ref: 'S-2' }]);
});

test('applies --max-changes and --max-zero to a count with --to', async () => {
  const shop = await openShop({ pets: 5 });
  const file = join(shop.folders.state, '..', 'guarded.csv');
  for (const guard of ['--all --max-zero 1', '--all --max-changes 1']) {
    const stderr = expect.stringContaining('The plan exceeds its limits');
    expect(await count(shop, '1\n', `--to ${file} ${guard}`)).toMatchObject({ code: 2, stderr });
    expect(existsSync(file)).toBe(false);
  }
  expect((await count(shop, '1\n', `--to ${file} --all --max-zero 4`)).code).toBe(0);
});

test('saves refused units with --failed-out, and skips the others when the scans come again', async () => {
  const till = await openTill({ stock: { 1: 10, 2: 10 } });
  const repair = till.service.always('PATCH /inventory/1', answers(422));
  const file = join(till.folders.state, '..', 'failed.csv');
  const words = `inventory count --add --ref N-2 --yes --failed-out ${file}`;
  await till.exits(words, 8, [], { stdin: '1 x7\n2 x3\n' });
  expect(rowsIn(readFileSync(file, 'utf8'))).toEqual([{ petId: '1', delta: '7', reason: 'scanned in', ref: 'N-2' }]);
  repair();
  await till.exits(`${words} --skip-applied`, 0, [], { stdin: '1 x7\n2 x3\n' });
  expect([1, 2].map((petId) => till.service.stockOf(petId))).toEqual([17, 13]);
});

test('refuses scans whose run is unfinished, with the command that resumes it', async () => {
  const shop = await openShop();
  shop.service.setFaults(['PATCH /inventory/5:status=401']);
  expect((await count(shop, '4 x2\n5 x3\n', '--yes --concurrency 1')).code).toBe(8);
  shop.service.setFaults([]);
  const again = await count(shop, '4 x2\n5 x3\n', '--yes --json');
  expect(again).toMatchObject({ code: 7, written: [] });
  const [{ run }] = await shop.json('history list --json');
  expect(errorJson(again.stderr).error.hint).toBe(`petstock inventory apply --resume ${run} --env staging`);
  await shop.exits('inventory apply --resume latest --yes', 0);
  expect((await stockOf(shop)).get('5')).toBe(3);
});

test('prints all pets by name with their codes and a box for count --sheet', async () => {
  const shop = await openShop({ pets: 6 });
  const codes = changeFile(shop, 'code,petId,name\n004,2,Zebra <finch>\n55,2,\n,3,ant\n', 'codes.csv');
  await shop.exits(['config', 'set', 'codes', codes], 0);
  const { stdout, requests } = await shop.exits('inventory count --sheet', 0);
  expect(requests.map(({ method }) => method)).toEqual(['GET']);
  expect(stdout).toMatch(/^<!doctype html>/);
  expect(stdout).toContain('<h1>Stock-take of staging</h1>');
  const rows = [...stdout.matchAll(/<td[^>]*>(.*?)<\/td>/g)].map(([, cell]) => cell);
  const box = '[__________]';
  expect(rows.slice(0, 8)).toEqual(['ant', '3', '', box, 'Zebra &lt;finch&gt;', '2', '004, 55', box]);
  const table = await shop.run('inventory count --sheet --env staging', { terminal: 80 });
  expect(table.stderr).toContain('inventory count --sheet --env staging --output=html > sheet.html');
  expect((await shop.run('inventory count --sheet -o tsv')).stdout).toMatch(/^ant\t3\t\t\n/);
  expect(await shop.refused('inventory count -o html --yes', { stdin: '4\n' })).toContain('--sheet -o html');
  await shop.refused('inventory count scans.txt --sheet');
});
