import { expect } from 'vitest';
import { exactJson } from '../../../src/output/json-format.ts';
import fc, { property } from '../../support/properties.ts';
import { recordRun } from '../../support/recorded-runs.ts';
import { changeFile, petsIn, test } from '../../support/shop.ts';

const rows = Array.from({ length: 25 }, (_, index) => {
  const petId = BigInt(index + 1);
  return { petId, before: 1, after: 2, result: 'applied', quantity: 2, ref: 'N-881' } as const;
});

const prints = 'prints only the named fields';
const isRefused = 'is refused, because a field is unknown';

test.for([
  ['history list --fields run,changes', prints, ['run', 'changes']],
  ['history list --fields state --fields ref,state', isRefused, undefined],
  ['history show <run> --fields petId,after', prints, ['petId', 'after']],
  ['inventory list --limit 1 --fields petId --fields status', prints, ['petId', 'status']],
  ['inventory get 4 5 --fields quantity', prints, ['quantity']],
  ['inventory diff staging staging --fields petId', prints, ['petId']],
  ['inventory list --fields colour', isRefused, undefined],
] as const)('%s %s', async ([words, , fields], { shop }) => {
  const run = await recordRun(shop, rows);
  await shop.run('inventory get 1');
  const command = words.replace('<run>', run);
  if (fields === undefined) {
    expect((await shop.exits(`${command} -o csv`, 2, 'is not a field: the fields are')).stdout).toBe('');
    return;
  }
  expect((await shop.exits(`${command} -o csv`, 0)).stdout.split('\n')[0]).toBe(fields.join(','));
  const [first] = (await shop.run(`${command} -o ndjson`)).stdout.split('\n');
  if (first) expect(Object.keys(JSON.parse(first))).toEqual(fields);
});

test.for([
  'inventory list',
  'inventory get 4 5',
  'inventory get 4',
  'inventory diff staging staging',
  'inventory watch --for 1',
  'inventory count --sheet',
  'limits --refresh',
])('refuses an unknown field in --fields before any request: %s', async (command, { shop }) => {
  expect(await shop.refused(`${command} --fields colour`)).toContain('"colour" is not a field: the fields are');
});

test('prints the first 20 pets of a run in history list', async ({ shop }) => {
  await recordRun(shop, rows);
  const [{ pets }] = await shop.json('history list --json');
  expect(pets).toEqual(rows.slice(0, 20).map(({ petId }) => Number(petId)));
});

test('filters history list by exact reference and by user', async ({ shop }) => {
  await recordRun(shop, rows);
  const by = async (option: string) => (await shop.json(`history list --json ${option}`)).length;
  expect([await by('--ref N-881'), await by('--ref N-8'), await by('--user anna'), await by('--user bob')]).toEqual([
    1, 0, 1, 0,
  ]);
});

test('escapes a formula in a reason in CSV, except with --raw', async ({ shop }) => {
  const run = await recordRun(shop, [{ ...rows[0], reason: '=HYPERLINK("http://x")' } as (typeof rows)[number]]);
  const shown = await shop.run(`history show ${run} --fields reason -o csv`);
  expect(shown.stdout).toBe(`reason\n"'=HYPERLINK(""http://x"")"\n`);
  const raw = await shop.run(`history show ${run} --fields reason -o csv --raw`);
  expect(raw.stdout).toBe('reason\n"=HYPERLINK(""http://x"")"\n');
  expect((await shop.run('history export -o csv')).stdout).toContain(`,"'=HYPERLINK(""http://x"")",`);
});

const largest = '9223372036854775807';

test.for([
  ['inventory list --pet 4,9223372036854775807 --json', ['"4"', `"${largest}"`]],
  ['inventory list --pet 4 -o ndjson --fields quantity,petId', ['"4"']],
  ['inventory get 4 --json', ['"4"']],
  ['inventory get 4 4 -o ndjson', ['"4"', '"4"']],
  ['inventory set 4 39 --json', ['"4"']],
  ['inventory adjust 4 0 --json', ['"4"']],
] as const)('%s --string-ids prints ids as strings', async ([command, expected], { shop }) => {
  const { code, stdout } = await shop.run(`${command} --string-ids`);
  expect(code).toBe(0);
  expect(idsIn(stdout)).toEqual(expected);
});

test('prints ids as strings in reports and the history with --string-ids, and apply reads both forms', async ({
  shop,
}) => {
  const stdin = `petId,quantity\n4,12\n${largest},9\n`;
  const report = await shop.run('inventory apply - --yes --json --string-ids', { stdin });
  expect(idsIn(report.stdout)).toEqual(['"4"', `"${largest}"`]);
  for (const command of ['history list --json', 'history list -o ndjson']) {
    expect((await shop.run(`${command} --string-ids`)).stdout).toContain(`"pets":["4","${largest}"]`);
  }
  const [{ run }] = await shop.json('history list --json');
  for (const command of [`history show ${run} --json`, 'history export']) {
    expect(idsIn((await shop.run(`${command} --string-ids`)).stdout)).toEqual(['"4"', `"${largest}"`]);
    expect(idsIn((await shop.run(command)).stdout)).toEqual(['4', largest]);
  }
  const both = `[{"petId":"${largest}","quantity":3},{"petId":4,"quantity":5}]`;
  await shop.exits(`inventory apply ${changeFile(shop, both, 'stock.json')} --yes`, 0);
  expect(petsIn((await shop.run(`inventory get ${largest} 4`)).stdout)).toEqual([
    `${largest} 3 available`,
    '4 5 available',
  ]);
});

const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, true, 'text', 7, 7n),
    fc.array(tie('any')),
    fc.dictionary(fc.constantFrom('petId', 'pets', 'units', 'rows'), tie('any')),
  ),
})).any;

property('prints only the ids of any JSON value as strings with --string-ids', [value], (given) => {
  const unquoted = (text: string) => text.replaceAll('"7"', '7');
  expect(unquoted(exactJson(given, true))).toBe(exactJson(given));
  expect(exactJson(given, true)).not.toMatch(/"petId":-?\d|"pets":\[-?\d/);
  expect(exactJson({ units: 7n, pets: 7n }, true)).toBe('{"units":7,"pets":7}');
});

function idsIn(text: string): string[] {
  return [...text.matchAll(/"petId":("?\d+"?)/g)].map(([, id = '']) => id);
}
