import { expect } from 'vitest';
import { changeFile, openShop, test } from '../../support/shop.ts';

/** The environment of a job that nobody watches: the tests' own default prints all notes. */
const unwatched = { PETSTOCK_VERBOSE: undefined };
const rows = 'petId,quantity\n4,12\n5,0\n';

test.for([
  ['inventory set 4 12', /^▸ staging/],
  ['inventory adjust 5 +1', /^▸ staging/],
  ['inventory apply FILE --yes', /\b2 (changes|unchanged)\b/],
  ['inventory list', /^Rate limit: /],
  ['state check', /^There is no state yet\.|^The state is sound\./],
] as const)('prints the notes of %s off a terminal only with -v', async ([command, note], { shop }) => {
  const words = command.replace('FILE', changeFile(shop, rows));
  expect((await shop.exits(words, 0, [], { env: unwatched })).stderr).toBe('');
  expect((await shop.exits(`${words.replace('--yes', '--yes --again')} -v`, 0, [], { env: unwatched })).stderr).toMatch(
    note,
  );
  expect((await shop.exits(`${words} -v -q`, 0, [], { env: unwatched })).stderr).toBe('');
});

test('prints warnings and errors off a terminal', async ({ shop }) => {
  await shop.exits('inventory set 4 -1', 0, /^Warning: .*BELOW ZERO.*\n$/, { env: unwatched });
  await shop.exits('inventory get 4242', 9, /^Error: There is no pet 4242.*\nHint: .*\n$/, { env: unwatched });
});

test('prints one line of a wait of more than 10 s off a terminal, and none of a shorter one', async () => {
  for (const [seconds, told] of [
    [40, /^Rate limited: continuing in 4[0-9] s .*\n$/],
    [5, /^$/],
  ] as const) {
    const shop = await openShop({ faults: [`GET /inventory:first=1:status=429:retry-after=${seconds}`] });
    for (const words of ['inventory list', 'inventory list -q']) {
      const { code, stderr } = await shop.run(words, { env: unwatched });
      expect(code).toBe(0);
      if (words === 'inventory list') expect(stderr).toMatch(told);
    }
  }
});
