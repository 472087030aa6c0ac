import { readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import fc, { anyText, propertyRuns } from '../../../support/properties.ts';
import { apply, changeFile, openShop, type Shop, test } from '../../../support/shop.ts';

const shopify =
  'Handle,Title,Option1 Name,Option1 Value,SKU,Location,Available (not editable),Unavailable (not editable),On hand (current),On hand (new)\n' +
  'rabbit,Rabbit,Title,Default,4,Main,39,0,39,12\n';
test('names what is wrong with an id or a quantity', async ({ shop }) => {
  for (const [row, said] of [
    ['4\u200b,1', '"4<U+200B>" is not a pet id: remove U+200B'],
    ['4\u00a02,1', '"4<U+00A0>2" is not a pet id: remove U+00A0'],
    ['4,1\u00ad2', '"1<U+00AD>2" is not a quantity: remove U+00AD'],
    ['\u202e4\u202c,1', 'remove U+202E and U+202C'],
    ['4,1\n\u200e5,1', '"<U+200E>5"'],
    ['4,10.000', '"10.000" is not a quantity: it may mean 10 or 10000'],
    ['4,12.0', '"12.0" is not a quantity: write 12, without decimals'],
    ['4.0,12', '"4.0" is not a pet id: write 4, without decimals'],
    ['675127116845989888.0,12', 'as a decimal number it was probably rounded'],
  ] as const) {
    expect(await shop.refused(`inventory apply ${changeFile(shop, `petId,quantity\n${row}\n`)} --yes`)).toContain(said);
  }
});

test('names an invisible character in a column, and reads a second file that was appended with its mark', async ({
  shop,
}) => {
  const hidden = changeFile(shop, 'pet\u200bId,quantity\n4,1\n');
  expect(await shop.refused(`inventory apply ${hidden} --yes`)).toContain('"pet<U+200B>Id" is not a column');
  const joined = 'petId,quantity\n4,1\n\ufeffpetId,quantity\n5,2\n';
  expect(await shop.refused(`inventory apply ${changeFile(shop, joined)} --yes`)).toContain('line 3, petId:');
});

test('asks which of the columns of a long foreign header are meant', async ({ shop }) => {
  const stderr = await shop.refused(`inventory apply ${changeFile(shop, shopify)} --yes`);
  const names = ['Handle', 'SKU', '"Available (not editable)"', '"On hand (current)" or "On hand (new)"'];
  for (const name of names) expect(stderr).toContain(name);
  expect(stderr).toContain('`--column petId=<name>` and `--column quantity=<name>`');
  expect(stderr).not.toMatch(/=(SKU|On hand|Available)/);
  const columns = ['--column', 'petId=SKU', '--column', 'quantity=On hand (new)', '--ignore-columns'];
  const { report } = await apply(shop, shopify, columns);
  expect(report.rows).toMatchObject([{ petId: 4, before: 39, after: 12, result: 'applied' }]);
});

test('ignores a second column for the reader with --ignore-columns, but no second precondition', async ({ shop }) => {
  const file = changeFile(shop, 'petId,quantity,name,Name,Status,status\n4,12,Rex,Rex II,sold,available\n');
  const refused = await shop.refused(`inventory apply ${file} --yes`);
  expect(refused).toContain('"name" and "Name" mean the same');
  expect(refused).toContain(`Hint: petstock inventory apply ${file} --ignore-columns`);
  await shop.exits(`inventory apply ${file} --yes --ignore-columns`, 0);
  const json = changeFile(shop, '[{"petId":4,"quantity":13,"name":"Rex","Name":"Rex II"}]', 'c.json');
  await shop.exits(`inventory apply ${json} --yes --ignore-columns`, 0);
  for (const name of ['expected', 'Expected'].flatMap((first) => [`expected,${first}`])) {
    const twice = changeFile(shop, `petId,quantity,${name}\n4,12,1,2\n`);
    expect(await shop.refused(`inventory apply ${twice} --yes --ignore-columns`)).toMatch(/twice|mean the same/);
  }
});

test('reads a file without a last line end, with a blank last quantity, as a whole one', async ({ shop }) => {
  const { code, report } = await apply(shop, 'petId,quantity\n4,12\n5,');
  expect({ code, rows: report.rows }).toMatchObject({
    code: 0,
    rows: [
      { petId: 4, after: 12, result: 'applied' },
      { petId: 5, result: 'unchanged' },
    ],
  });
});

/** Gives pets 4 and 5 names in the codes file, as a spreadsheet would save them. */
async function withNames(shop: Shop, names: readonly string[]): Promise<void> {
  const rows = names.map((name, index) => `${1000001 + index},${4 + index},"${name.replaceAll('"', '""')}"\n`);
  const codes = changeFile(shop, `code,petId,name\n${rows.join('')}`, 'codes.csv');
  await shop.run(['config', 'set', 'codes', codes]);
}

describe('what petstock writes', () => {
  test('guards names and reasons against formulas in every CSV, unless it is raw', async ({ shop }) => {
    await withNames(shop, ['=HYPERLINK("http://x.example","Rabbit")', '@Red']);
    const exported = async (words: string) => (await shop.exits(`inventory export ${words}`.trim(), 0)).stdout;
    for (const words of ['', '-o tsv', '--spreadsheet', '--delimiter ;']) {
      expect(await exported(words)).toMatch(/'=HYPERLINK/);
      expect(await exported(words)).toContain("'@Red");
    }
    expect(await exported('--raw')).toMatch(/[^']=HYPERLINK.*\n[^']+[^']@Red/s);
    const apply = ['inventory', 'apply', changeFile(shop, 'petId,delta\n4,1\n'), '--reason', '=1+1', '--yes'];
    await shop.exits(apply, 0);
    expect((await shop.exits('history export -o csv', 0)).stdout).toContain(",'=1+1,");
    const file = `${shop.folders.state}/../failed.csv`;
    shop.service.setFaults(['PATCH /inventory/*:status=400']);
    await shop.run([...apply, '--again', '--failed-out', file]);
    const plan = await shop.run(['inventory', 'apply', file, '--dry-run', '--json']);
    expect(readFileSync(file, 'utf8')).toContain(",'=1+1,");
    expect(JSON.parse(plan.stdout).rows).toMatchObject([{ petId: 4, result: 'planned' }]);
  });

  test('guards a name in the codes file, and reads it back', async ({ shop }) => {
    const codes = changeFile(shop, 'code,petId,name\n', 'codes.csv');
    await shop.run(['config', 'set', 'codes', codes]);
    await shop.exits(['inventory', 'codes', 'add', '1000001', '4', '=1+1'], 0);
    expect(readFileSync(codes, 'utf8')).toContain("1000001,4,'=1+1\n");
    expect(await shop.json('inventory codes list --json')).toMatchObject([{ petId: 4, name: '=1+1' }]);
  });

  const name = fc.oneof(
    fc.constantFrom(
      '"Lucky" rabbit',
      '"Lucky',
      'Gecko 5"',
      'a\\tb',
      "''=1",
      'a\tb',
      '"',
      '""',
      '\\',
      'C:\\new',
      '=1',
      "'",
    ),
    anyText({ maxLength: 8 }).filter((text) => !text.includes('\0')),
  );

  test('reads back each list and export that it writes, whatever the names', { timeout: 60_000 }, async () => {
    const shop = await openShop();
    await fc.assert(
      fc.asyncProperty(fc.tuple(name, name), async (names) => {
        await withNames(shop, names);
        for (const words of ['list', 'list --header', 'list -o csv', 'list -o ndjson', 'export', 'export -o tsv']) {
          const { stdout } = await shop.run(`inventory ${words}`);
          await shop.exits('inventory diff - staging --exit-code', 0, [], { stdin: stdout });
        }
        const { stdout } = await shop.run('inventory list --header');
        const { stderr } = await shop.exits('inventory apply - --yes', 0, [], { stdin: stdout });
        expect(stderr).not.toContain('differs');
      }),
      { ...propertyRuns(5), examples: [[["''=1", 'a\\tb']]] },
    );
  });
});
