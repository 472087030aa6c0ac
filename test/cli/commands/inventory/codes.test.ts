import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { changeFile, type Shop, test } from '../../../support/shop.ts';

async function withCodes(shop: Shop, text: string): Promise<string> {
  const file = changeFile(shop, text, 'codes.csv');
  expect((await shop.run(['config', 'set', 'codes', file])).code).toBe(0);
  return file;
}

test('codes add fills the columns of the file, and codes list prints all codes', async ({ shop }) => {
  const file = await withCodes(shop, 'code,petId,name,low\n007,4,Rex,3\n,9,Mia,\n');
  const added = await shop.run(['inventory', 'codes', 'add', ' 4006381333931', '9007199254740993', 'Lady, "big"']);
  expect(added).toMatchObject({ code: 0, requests: [], stderr: expect.stringContaining('Added 4006381333931 to ') });
  expect(readFileSync(file, 'utf8').split('\n').at(-2)).toBe('4006381333931,9007199254740993,"Lady, ""big""",');
  const listed = await shop.run('inventory codes list -o tsv');
  expect(listed.stdout).toBe('007\t4\tRex\t3\t\n4006381333931\t9007199254740993\tLady, "big"\t\t\n\t9\tMia\t\t\n');
  expect((await shop.run('inventory codes add 007 4')).stderr).toContain('is already in');
  expect(await shop.refused('inventory codes add 007 5')).toContain('"007" is the code of pet 4 in');
  expect(await shop.json('inventory codes add 008 4 --json')).toEqual({
    code: '008',
    petId: 4,
    name: 'Rex',
    changed: true,
  });
  expect(await shop.refused(['inventory', 'codes', 'add', '', '4'])).toBe('Error: The code is missing.\n');
  for (const words of ['add done 4', 'add 4E+12 4', 'add X y']) await shop.refused(`inventory codes ${words}`);
});

test('codes add refuses a name without a column for it, and another name for a named pet', async ({ shop }) => {
  const file = await withCodes(shop, 'code,petId\n007,4\n');
  const refused = await shop.refused(['inventory', 'codes', 'add', '008', '5', 'Rex']);
  expect(refused).toMatch(
    /codes\.csv has no column named name\. Nothing was added\. .*\.\nHint: .* codes add 008 5\n$/,
  );
  writeFileSync(file, 'code,petId,name\n007,4,Rex\n009,6,\n');
  for (const code of ['007', '008']) {
    expect(await shop.refused(['inventory', 'codes', 'add', code, '4', 'Lady'])).toMatch(
      /Error: Pet 4 has the name "Rex" in \S+codes\.csv\. Nothing was added\. Leave out the name, .*\.\n/,
    );
  }
  await shop.exits(['inventory', 'codes', 'add', '008', '4', 'Rex'], 0, 'Added 008 to ');
  await shop.exits(['inventory', 'codes', 'add', '009', '6', 'Mia'], 0, 'Added the name of pet 6 to ');
  await shop.exits(['inventory', 'codes', 'add', '009', '6', 'Mia'], 0, '009 is already in ');
  expect((await shop.run('inventory codes list -o tsv')).stdout).toBe(
    '007\t4\tRex\t\t\n009\t6\tMia\t\t\n008\t4\tRex\t\t\n',
  );
});

test('codes add warns if a code may also be the id of another pet', async ({ shop }) => {
  await withCodes(shop, 'code,petId,name\n,4006381333931,Rex\n');
  const warning = (id: string, pet: string) =>
    `Warning: ${id} may also be the id of another pet. In a count, it now means pet ${pet}.\n`;
  await shop.exits('inventory codes add 22 5', 0, warning('22', '5'));
  await shop.exits('inventory codes add 4006381333931 6', 0, warning('4006381333931', '6'));
  for (const words of ['4006381333948 5', '6 6', '007 5']) {
    expect((await shop.run(`inventory codes add ${words}`)).stderr).not.toContain('Warning');
  }
});

test('codes add and codes list report a missing file', async ({ shop }) => {
  const file = await withCodes(shop, 'code,petId,name\n007,4,Rex\n');
  rmSync(file);
  for (const words of ['list', 'add 008 4']) {
    expect(await shop.refused(`inventory codes ${words}`)).toBe(`Error: There is no file ${file}. Nothing was sent.\n`);
  }
});

test('codes add begins a new line if the file does not end with a newline', async ({ shop }) => {
  const file = await withCodes(shop, 'petId\tcode\r\n4\t007');
  await Promise.all([1, 2, 3].map((at) => shop.run(`inventory codes add X-${at} ${at}`)));
  expect((await shop.run('inventory codes list -o tsv')).stdout.split('\n').sort()).toEqual([
    '',
    '007\t4\t\t\t',
    'X-1\t1\t\t\t',
    'X-2\t2\t\t\t',
    'X-3\t3\t\t\t',
  ]);
  expect(readFileSync(file, 'utf8')).toMatch(/^petId\tcode\r\n4\t007\n/);
});

test('suggests config set codes if no codes file is configured', async ({ shop }) => {
  for (const words of ['add 007 4', 'list']) {
    expect(await shop.refused(`inventory codes ${words}`)).toContain("Hint: petstock config set codes '<file.csv>'\n");
  }
});

test('reports all faults of a codes file when it is set and when it is used', async ({ shop }) => {
  const faulty = 'code,petId,low\n007,x,\n,5,\n8,6,-1\n9,7,many\n';
  const bad = changeFile(shop, faulty, 'bad.csv');
  const refused = await shop.refused(['config', 'set', 'codes', bad]);
  expect(refused).toContain('bad.csv has 4 errors. The setting codes was not changed');
  expect(refused.match(/^│ line \d/gm)).toHaveLength(4);
  expect((await shop.run('config get codes')).stdout).toBe('');
  const file = await withCodes(shop, 'code,petId\n007,4\n');
  writeFileSync(file, faulty);
  const later = await shop.refused('inventory get --code 007');
  expect(later).toMatch(/Error: \S+codes\.csv has 4 errors. Nothing was sent\.\n(│ line \d.*\n){4}/);
});
