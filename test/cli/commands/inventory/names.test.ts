import { renameSync } from 'node:fs';
import { expect } from 'vitest';
import { rowsIn } from '../../../support/delimited-rows.ts';
import { changeFile, confirming, openShop, sent, test } from '../../../support/shop.ts';

async function namedShop() {
  const shop = await openShop();
  const codes = changeFile(shop, 'code,petId,name\n4006381333931,4,Rex\n55,5,"Lady, the T-Rex"\n66,7,\n', 'codes.csv');
  expect((await shop.run(['config', 'set', 'codes', codes])).code).toBe(0);
  return { ...shop, codes };
}

test('finds pets by part of a name in upper or lower case with list --name', async () => {
  const shop = await namedShop();
  const result = await shop.run('inventory list --name REX --status Available,SOLD,pending -o json');
  expect(JSON.parse(result.stdout).map(({ petId }: { petId: number }) => petId)).toEqual([4, 5]);
  expect(sent(result)).toEqual(['GET /v1/inventory']);
  expect(await shop.run('inventory list --name nobody -o json')).toMatchObject({ code: 0, stdout: '[]\n' });
});

test('finds a pet by bar code with get --code, and exits with 9 for an unknown code', async () => {
  const shop = await namedShop();
  expect((await shop.json('inventory get --code 4006381333931 --json')).petId).toBe(4);
  expect(await shop.json('inventory get 5 --code ]E066 --json')).toHaveLength(2);
  expect(await shop.run('inventory get --code 1')).toMatchObject({ code: 9, requests: [] });
  await shop.refused('inventory get');
});

test('suggests --code if an unknown id looks like a bar code', async ({ shop }) => {
  const code = '4006381333931';
  for (const [words, hint] of [
    [`get 4 ${code}`, `get --code ${code}`],
    [`set ${code} 5`, `set --code ${code} 5`],
    [`adjust ${code} -2`, `adjust --code ${code} -2`],
    [`set ${code} 5 --expect 3 --ref R7`, `set --code ${code} 5 --expect 3 --ref R7`],
    [`adjust ${code} 5 --dry-run`, `get --code ${code}`],
    ['get 123456789', 'list'],
    ['get 9007199254740995', 'list'],
  ]) {
    const stderr = expect.stringContaining(`\nHint: petstock inventory ${hint} --env staging\n`);
    expect(await shop.run(`inventory ${words}`)).toMatchObject({ code: 9, stderr });
  }
});

test('suggests a count if the ids in a file look like bar codes', async ({ shop }) => {
  const file = (header: string) => changeFile(shop, `petId,${header}\n4006381333931,3\n5,4\n`);
  const told = 'Nothing was written. 4006381333931 looks like a bar code, but apply takes pet ids.\n';
  for (const [header, hint] of [
    ['quantity', "count --codes '<codes.csv>'"],
    ['delta', "count --add --codes '<codes.csv>'"],
    ['quantity', 'count'],
  ] as const) {
    if (hint === 'count') await shop.run(`config set codes ${changeFile(shop, 'code,petId\n55,5\n', 'codes.csv')}`);
    const { stderr } = await shop.exits(`inventory apply ${file(header)} --yes`, 2);
    for (const words of [told, `\nHint: petstock inventory ${hint} --env staging\n`]) expect(stderr).toContain(words);
  }
});

test('suggests config set codes if --name or --code is used without a codes file', async ({ shop }) => {
  for (const words of ['list --name Rex', 'get --code 55']) {
    expect(await shop.refused(`inventory ${words}`)).toContain("Hint: petstock config set codes '<file.csv>'\n");
  }
});

test('warns of a codes file that is missing or has errors, and refuses what needs it', async () => {
  const shop = await namedShop();
  renameSync(shop.codes, `${shop.codes}.old`);
  await shop.exits('inventory list', 0, "Warning: The codes file can't be used. There is no file");
  changeFile(shop, 'code,petId\n4.00638E+12,7\n', 'codes.csv');
  await shop.exits('inventory get 4', 0, /uses no bar codes or names\.\n│ line 2, code: /);
  for (const command of ['inventory get --code 55', 'inventory get rex', 'inventory list --name rex']) {
    expect(await shop.refused(command)).toMatch(/^Error: \S+ has an error\. Nothing was sent\.\n/);
  }
  expect(await shop.refused('inventory count --yes', { stdin: '55\n' })).toContain('Nothing was sent');
  changeFile(shop, 'code,petId\n55,7\n', 'codes.csv');
  expect((await shop.run('inventory get --code 55 -o tsv')).stdout).toMatch(/^7\t/);
});

test('shows pet names in list, get, set and diff', async () => {
  const shop = await namedShop();
  const list = async (format: string) => (await shop.run(`inventory list --pet 4,7 -o ${format}`)).stdout;
  expect(JSON.parse(await list('json'))).toMatchObject([
    { petId: 4, name: 'Rex' },
    { petId: 7, name: null },
  ]);
  expect(rowsIn(await list('csv'))).toEqual([
    { petId: '4', quantity: '39', status: 'available', name: 'Rex' },
    { petId: '7', quantity: '5', status: 'pending' },
  ]);
  const table = await shop.run('inventory list --pet 4,7', { terminal: 80, env: { NO_COLOR: '1' } });
  expect(table.stdout).toMatch(/Name\n\s+4 .*Rex\n/);
  const chosen = await shop.run('inventory list --pet 4 --fields name,petId -o ndjson');
  expect(chosen.stdout).toBe('{"name":"Rex","petId":4}\n');
  expect((await shop.run('inventory get 4 --json')).stdout).toMatch(/,"name":"Rex"\}\n$/);
  expect(await shop.json('inventory get 7 --json')).toMatchObject({ petId: 7, name: null });
  expect(await shop.json('inventory set 4 12 --json')).toMatchObject({ petId: 4, name: 'Rex' });
  const diff = await shop.run('inventory diff - staging -o ndjson', { stdin: 'petId,quantity\n4,40\n7,7\n' });
  expect(diff.stdout).toMatch(/\{"petId":4,"change":"changed",.*,"name":"Rex"\}\n/);
});

test('truncates pet names instead of the out-of-stock mark in a narrow list', async () => {
  const shop = await namedShop();
  const terminal = { terminal: 60, env: { NO_COLOR: '1' } };
  changeFile(shop, 'code,petId,name\n55,5,Lady Chatterley of the upper hutch\n', 'codes.csv');
  await shop.run('inventory set 5 0');
  const list = await shop.run('inventory list --pet 5,9223372036854775807', terminal);
  expect(list.stdout).toMatch(/ 5 +0 {2}out of stock {2}Lady Chat.*…\n/);
  const set = changeFile(shop, 'petId,quantity\n5,3\n7,8\n', 'set.csv');
  expect((await shop.run(`inventory apply ${set} --yes`, terminal)).stdout).toMatch(
    /Result +Name\n +5 +0 +3 +applied +Lady .*\n +7 +5 +8 +applied +-\n/,
  );
  const file = changeFile(shop, 'petId,delta\n5,1\n4,1\n', 'delivery.csv');
  expect((await shop.run(`inventory apply ${file} --yes`, terminal)).stdout).toMatch(/applied +Lady/);
  expect((await shop.run(`inventory apply ${file} --yes --again -o csv`)).stdout).not.toContain('Lady');
});

test('drops the status instead of the pet names from a narrow list', async () => {
  const shop = await namedShop();
  changeFile(shop, 'code,petId,name\n55,9223372036854775807,"Lady, the T-Rex"\n', 'codes.csv');
  for (const terminal of [40, 50]) {
    const { stdout } = await shop.run('inventory list', { terminal, env: { NO_COLOR: '1' } });
    expect(stdout).toMatch(/^ *Pet ID +(Qty|Quantity) +Name\n/);
    expect(stdout).toMatch(/\n9223372036854775807 .* Lady/);
    expect(stdout).not.toContain('Status');
  }
});

test('shows pet names in the preview, the question and the history', async () => {
  const shop = await namedShop();
  const { asked, prompts } = confirming(true);
  const apply = (rows: string) =>
    shop.run(['inventory', 'apply', changeFile(shop, rows)], { terminal: 80, prompts, env: { NO_COLOR: '1' } });
  expect((await apply('petId,quantity\n4,38\n5,9\n8,1\n')).stderr).toMatch(
    /4 {3}39 → 38 {2}\(-1\) {3}Rex\n5 {4}1 → {2}9 {2}\(\+8\) {3}Lady, the T-Rex\n8 {3}32 → {2}1 {2}\(-31\) {2}-\n/,
  );
  await apply('petId,quantity\n4,5\n');
  expect(asked[1]).toBe('Pet 4 Rex in staging: 38 → 5 (-33). Write this change?');
  expect((await shop.run('history list', { terminal: 100 })).stdout).toMatch(/4: 38 → 5 .* Rex\n/);
});

test.for([
  '12" aquarium',
  'Food: dry, 2 kg',
  '🇩🇪 👍🏽 🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f} 👨‍👩‍👧 ❤️',
])('shows the whole name %s in a plan, a question, a count, the history and watch', async (name, { shop }) => {
  const codes = changeFile(shop, `code,petId,name\n55,5,"${name.replaceAll('"', '""')}"\n`, 'codes.csv');
  await shop.run(['config', 'set', 'codes', codes]);
  const { asked, prompts } = confirming(true);
  const terminal = { terminal: 120, prompts, env: { NO_COLOR: '1' } };
  const plan = await shop.run('inventory set 5 2 --dry-run', terminal);
  const question = await shop.run('undo --last', { ...terminal, ...(await shop.run('inventory adjust 5 +1')) });
  const counted = await shop.run(`inventory count ${codes}.txt`, { ...terminal, stdin: '55\n55\ndone\n' });
  const history = await shop.run('history list', terminal);
  const watched = await shop.run('inventory watch --now --for 1', terminal);
  for (const { stdout, stderr } of [plan, question, counted, history, watched]) {
    const lines = [...asked, ...`${stdout}\n${stderr}`.split('\n')].filter((line) => line.includes(name));
    expect(lines, `${stdout}\n${stderr}`).not.toEqual([]);
    // A name with a colon could be mistaken for a message, so it comes last, after a bar.
    for (const line of lines) if (name.includes(':')) expect(line.split('│ ').at(-1)).toBe(name);
  }
  const list = await shop.run('inventory list --pet 5', terminal);
  expect(list.stdout.includes('│')).toBe(name.includes(':'));
});

test.for(['csv', 'json', 'csv --spreadsheet'])(
  'exports pet names next to the ids with -o %s, and apply reads the export',
  async (format, { shop }) => {
    const file = changeFile(shop, 'code,petId,name\n55,5,"Lady, ""the"" | T-Rex"\n7,7,=1+1\n', 'codes.csv');
    await shop.run(['config', 'set', 'codes', file]);
    const { stdout } = await shop.exits(`inventory export -o ${format}`, 0);
    expect(stdout).toMatch(/petId\W+(1\W+)?name\W/);
    const edited = changeFile(
      shop,
      stdout.replace(/(T-Rex[^\d\n]*available[^\d\n]*1[^\d\n]*)1/, '$19'),
      `stock.${format.split(' ')[0]}`,
    );
    const applied = await shop.run(`inventory apply ${edited} --yes --changed --json`);
    expect(JSON.parse(applied.stdout).rows).toMatchObject([{ petId: 5, before: 1, after: 9, result: 'applied' }]);
    expect(applied.stderr).not.toContain('Warning');
  },
);

test('exports no pet names if no codes file is configured', async ({ shop }) => {
  expect((await shop.run('inventory export')).stdout).not.toMatch(/^[^\n]*name/);
});

test('apply warns about rows whose status or name was edited, and writes their quantities', async ({ shop }) => {
  const codes = changeFile(shop, 'code,petId,name\n,4,Rex\n,5,Mo\u0308hrle\n,8,Mia\n', 'codes.csv');
  await shop.run(['config', 'set', 'codes', codes]);
  const rows = 'petId,name,status,quantity\n4, REX ,Available,38\n5,M\u00f6hrle,sold,2\n8,Leo,available,31\n7,,,6\n';
  const csv = changeFile(shop, rows);
  const applied = await shop.exits(`inventory apply ${csv} --yes -q --json`, 0);
  expect(applied.stderr).toMatch(/^Warning: The status on line 3 differs.*\nWarning: The name on line 4 differs.*\n$/);
  expect(JSON.parse(applied.stdout).counts).toMatchObject({ applied: 4 });
  const json = changeFile(
    shop,
    '[{"petId":4,"status":"sold","quantity":1},{"petId":5,"status":"lost","quantity":1}]',
    'c.json',
  );
  expect((await shop.run(`inventory apply ${json} --dry-run`)).stderr).toContain(
    "Warning: The status of items 1 and 2 differs from the service's",
  );
});

test('apply names the first of many rows with an edited status, and counts the rest', async ({ shop }) => {
  const ids = Array.from({ length: 21 }, (_, index) => `${index + 1},gone,1\n`);
  const file = changeFile(shop, `petId,status,quantity\n${ids.join('')}9007199254740992,gone,1\n`);
  expect((await shop.run(`inventory apply ${file} --dry-run`)).stderr).toContain(
    '19, 20, 21 and 2 more differs from the service',
  );
});
