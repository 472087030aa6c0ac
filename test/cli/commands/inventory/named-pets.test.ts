import { expect } from 'vitest';
import { changeFile, errorJson, openShop, type Shop, test } from '../../../support/shop.ts';

const names = [
  [1, 'Rabbit'],
  [4, 'Rabbit food'],
  [5, 'Red  hamster'],
  [8, 'Blue hamster'],
  [11, 'Mo\u0308hrle'],
  [12, 'Food: dry, 2 kg'],
  [13, '12" aquarium'],
  [14, '1e3'],
  [9223372036854775807n, 'STRASSE \u6708'],
];

async function withNames(shop: Shop): Promise<Shop> {
  const lines = names.map(([petId, name]) => `,${petId},"${`${name}`.replaceAll('"', '""')}"\n`).join('');
  const codes = changeFile(shop, `code,petId,name\nABC-1,5,\n${lines}`, 'codes.csv');
  expect((await shop.run(['config', 'set', 'codes', codes])).code).toBe(0);
  return shop;
}

const namedShop = async () => withNames(await openShop());

test.for([
  ['rabbit', '1', 'Rabbit'],
  ['RABBIT FOOD', '4', 'Rabbit food'],
  ['red hamster', '5', 'Red  hamster'],
  ['red', '5', 'Red  hamster'],
  ['blue h', '8', 'Blue hamster'],
  ['M\u00f6hrle', '11', 'Mo\u0308hrle'],
  ['12" aquarium', '13', '12" aquarium'],
  ['stra\u00dfe', '9223372036854775807', 'STRASSE \u6708'],
  ['\u6708', '9223372036854775807', 'STRASSE \u6708'],
] as const)('get, set and adjust accept the name %s for pet %s', async ([typed, petId, name]) => {
  const shop = await namedShop();
  const get = await shop.exits(['inventory', 'get', typed, '--json'], 0, `"${typed}" is pet ${petId} `);
  expect(get.stdout).toContain(`{"petId":${petId},`);
  expect(get.stderr).toContain(name.replace('  ', ' ').slice(0, 3));
  const set = await shop.exits(['inventory', 'set', typed, '7', '--json'], 0, `is pet ${petId} `);
  expect(set.stdout).toContain(`{"petId":${petId},"quantity":7,`);
  expect(set.sent).toEqual([`PATCH /v1/inventory/${petId} {"quantity":7}`]);
  const adjust = await shop.run(['inventory', 'adjust', typed, '+1', '--json']);
  expect(adjust.stdout).toContain(`{"petId":${petId},"quantity":8,`);
});

test('lists the pets that an ambiguous name may mean, and sends nothing', async () => {
  const shop = await namedShop();
  for (const words of [
    'set hamster 5',
    'adjust hamster +5',
    'get hamster',
    'get 4 hamster nosuch',
    'list --pet 4,hamster',
    'watch --pet hamster',
  ]) {
    expect(await shop.refused(`inventory ${words}`)).toBe(
      'Error: 2 pets have "hamster" in their name. Nothing was sent. Give the id of one.\n' +
        '│ 5 Red  hamster\n│ 8 Blue hamster\nHint: petstock inventory list --name hamster --env staging\n',
    );
  }
  const { stderr } = await shop.run('inventory set hamster 5 --json');
  expect(errorJson(stderr).error).toMatchObject({
    kind: 'usage',
    message: expect.stringContaining('\n8 Blue hamster'),
  });
});

test('suggests the nearest name for an unknown name', async () => {
  const shop = await namedShop();
  const nearest = async (line: string, code = 2) => {
    const { stderr, requests } = await shop.exits(line, code);
    expect(requests).toEqual([]);
    return stderr
      .replace('Nothing was sent. ', '')
      .replace('Hint: petstock inventory list --env staging\n', '')
      .trimEnd();
  };
  expect(await nearest('inventory set rabit 4 --reason sold')).toBe(
    'Error: No pet has "rabit" in its name. Did you mean 1 Rabbit?\nHint: petstock inventory set 1 4 --reason sold',
  );
  expect(await nearest('inventory adjust bleu -2')).toMatch(/Did you mean 8 Blue hamster\?\nHint: .* adjust 8 -2$/);
  expect(await nearest('inventory get hamstr', 9)).toMatch(
    /mean one of these\?\n│ 5 Red {2}hamster\n│ 8 Blue hamster$/,
  );
  expect(await nearest('inventory get fodo', 9)).toMatch(/mean one of these\?\n│ 4 Rabbit food\n│ 12 Food: dry, 2 kg$/);
  expect(await nearest('inventory get crocodile', 9)).toBe(
    'Error: No pet has "crocodile" in its name. Nothing was sent.',
  );
  expect(await nearest('inventory get nosuch rabit', 9)).toBe(
    'Error: No pet has "nosuch" in its name. Nothing was sent.\n│ No pet has "rabit" in its name. Did you mean 1 Rabbit?',
  );
  expect(await shop.exits('inventory list --name rabit -o json', 0, 'Did you mean 1 Rabbit?')).toMatchObject({
    stdout: '[]\n',
  });
});
test('prints the other pets, and exits with 9, if a name is unknown', async () => {
  for (const [words, said] of [
    ['get 4 nosuch 5', 'No pet has "nosuch" in its name.'],
    ['get rabbit rabit', 'No pet has "rabit" in its name. Did you mean 1 Rabbit?'],
    ['list --pet 4,nosuch', 'No pet has "nosuch" in its name.'],
    ['list --pet 4,fodo --summary', 'No pet has "fodo" in its name. Did you mean one of these?\n│ 4 Rabbit food\n'],
    ['get 4 99999 nosuch', 'There is no pet 99999 in staging.\n│ No pet has "nosuch" in its name.\n'],
    ['get 4 nosuch other', 'No pet has "nosuch" in its name.\n│ No pet has "other" in its name.\n'],
  ] as const) {
    const shop = await namedShop();
    const { stdout, stderr } = await shop.run(`inventory ${words}`);
    expect(stderr).toContain(`Error: ${said}`);
    expect(stdout).not.toBe('');
    expect((await shop.run(`inventory ${words} --json`)).code).toBe(9);
  }
});

test('never reads a number as a name, and matches one or two letters only as a whole word', async () => {
  const shop = await namedShop();
  for (const number of ['1e3', '0x10', '1.5', '１', '12"', '+5', "'4"]) {
    expect(await shop.refused(['inventory', 'get', number])).toContain('is not a pet id');
  }
  expect(await shop.json('inventory get 1 --json')).toMatchObject({ petId: 1 });
  expect(await shop.refused('inventory set a 4')).toContain('Error: "a" is too short.');
  expect(await shop.json('inventory get kg --json')).toMatchObject({ petId: 12 });
});

test('prints a bar before a pet name that looks like a message, and strips control characters', async ({ shop }) => {
  const codes = changeFile(shop, 'code,petId,name\n,5,Error: \u202egone\u001b[2J\n', 'codes.csv');
  await shop.run(['config', 'set', 'codes', codes]);
  expect((await shop.run('inventory get gone')).stderr).toMatch(/^"gone" is pet 5\.\n│ Error: gone\n/);
  expect((await shop.exits('inventory get gne', 9)).stderr).toContain('Did you mean one of these?\n│ 5 Error: gone\n');
});

test('suggests the quoted name if a name of several words is typed without quotes', async () => {
  const shop = await namedShop();
  expect(await shop.refused('inventory set red hamster 4')).toContain(
    "\nHint: petstock inventory set 'red hamster' 4\n",
  );
});

test('selects pets by name in list, watch, history list and history export', async () => {
  const shop = await namedShop();
  await shop.run('inventory apply - --yes', { stdin: 'petId,quantity\n1,3\n4,4\n5,5\n' });
  await shop.run('inventory set 8 8');
  const pets = async (words: string) => (await shop.run(`${words} -o ndjson`)).stdout.match(/(?<="petId":)\d+/g);
  expect(await pets('inventory list --pet rabbit,5')).toEqual(['1', '5']);
  expect(await pets('inventory list --name rabbit')).toEqual(['1', '4']);
  expect(await pets('inventory watch --name rabbit --now --for 1')).toEqual(['1', '4']);
  expect(await pets('inventory watch --name hamster --pet 4,8 --now --for 1')).toEqual(['8']);
  expect(await pets('history export --pet blue')).toEqual(['8']);
  const runs = async (words: string) => (await shop.json(`history list ${words} --json`)).length;
  expect(await runs('--pet blue')).toBe(1);
  expect((await shop.run('history list --pet rabit')).stderr).toContain('Did you mean');
});

test('refuses a name in place of an id if no codes file is configured', async ({ shop }) => {
  expect(await shop.refused('inventory set rabbit 4')).toContain('Error: "rabbit" is not a pet id');
});
