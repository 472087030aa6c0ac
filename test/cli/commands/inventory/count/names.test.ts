import { expect } from 'vitest';
import { changeFile, type Shop, test } from '../../../../support/shop.ts';
import { count, person } from './count-rig.ts';

async function withNames(shop: Shop) {
  const file = changeFile(
    shop,
    'code,petId,name\nabc,7,\n,4,Rabbit\n,5,Red hamster\n,8,Blue hamster\n,12,Sand x 5\n',
    'n.csv',
  );
  await shop.run(['config', 'set', 'codes', file]);
}

test('counts pets by name, typed or piped', async ({ shop }) => {
  await withNames(shop);
  const lines = 'rabbit\nRABBIT x2\nblue\n= red hamster 7\nSand x 5\nsand x 5 x2\ndone\n';
  const typed = await count(shop, lines, '--dry-run --json', person);
  expect(
    JSON.parse(typed.stdout).rows.map(({ petId, after }: { petId: number; after: number }) => [petId, after]),
  ).toEqual([
    [4, 3],
    [8, 1],
    [5, 7],
    [12, 3],
  ]);
  expect(typed.stderr).toContain('4 Rabbit: 1');
  const piped = await shop.run('inventory count --new --yes --json', { stdin: lines });
  expect(JSON.parse(piped.stdout).counts).toMatchObject({ applied: 4 });
});

test('does not count an ambiguous or unknown name at a terminal, and lists possible pets', async ({ shop }) => {
  await withNames(shop);
  const { stderr } = await count(shop, 'hamster\nrabit\nxylophone\nrabbit\ndone\n', '--dry-run', person);
  const said = stderr.replaceAll('\r\x1b[K', '');
  expect(said).toContain("'hamster' is in the names of 2 pets: not counted\n  5 Red hamster\n  8 Blue hamster\n");
  expect(said).toContain("'rabit': not counted. Did you mean:\n  4 Rabbit\n");
  expect(said).toContain("'xylophone' is not a pet or a code: not counted");
});

test('keeps an ambiguous name apart if it is piped', async ({ shop }) => {
  await withNames(shop);
  const { stderr } = await shop.exits('inventory count --yes', 8, 'hamster: 1 kept apart, 2 pets have that name', {
    stdin: 'hamster\nrabbit\ndone\n',
  });
  expect(stderr).toContain('Not counted: 1 unit of 1 unknown code');
});

test('assigns an unknown code to a pet by name', async ({ shop }) => {
  await withNames(shop);
  const { stderr, stdout } = await count(shop, '777777\ncode rabbit\nabc\ndone\n', '--dry-run --json', person);
  expect(stderr).toContain('4 Rabbit: 1');
  expect(JSON.parse(stdout).rows).toMatchObject([{ petId: 4, after: 1 }, { petId: 7 }]);
});

test('prints a scanned line without a difference if the line leaves the sum unchanged', async ({ shop }) => {
  const typed = { terminal: 80, stdin: '= 4 0\n= 4 2\n= 4 2\ndone\n' };
  const { stderr } = await shop.run('inventory count --new --dry-run', typed);
  expect(stderr).toContain('4: 2 (+2)\n');
  expect(stderr).not.toContain('(+0)');
});
