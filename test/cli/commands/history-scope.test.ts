import { expect } from 'vitest';
import { serviceNameOf } from '../../../src/settings/key-and-url.ts';
import { recordRun } from '../../support/recorded-runs.ts';
import { confirming, jsonLines, openShop, type Shop, shopOf, test } from '../../support/shop.ts';

const applied = { petId: 4n, before: 1, after: 2, result: 'applied' } as const;
const pending = { ...applied, result: 'pending' } as const;

/** Records a run of each target, oldest first. */
async function everyPlace(shop: Shop): Promise<Readonly<Record<string, string>>> {
  const places = [
    ['staging', {}],
    ['north/staging', { store: 'north' }],
    ['north/production', { store: 'north', env: 'production' }],
    ['south/staging', { store: 'south' }],
  ] as const;
  const runs: Record<string, string> = {};
  for (const [name, head] of places) runs[name] = await recordRun(shop, [applied], head);
  return runs;
}

const names = (runs: Readonly<Record<string, string>>, listed: readonly { readonly run: string }[]) =>
  listed.map(({ run }) => Object.keys(runs).find((name) => runs[name] === run)).toReversed();

const all = ['staging', 'north/staging', 'north/production', 'south/staging'];

test.for([
  ['--store', {}, '--store north', ['north/staging', 'north/production']],
  ['PETSTOCK_ENV', { PETSTOCK_ENV: 'staging' }, '', ['staging', 'north/staging', 'south/staging']],
  ['both variables', { PETSTOCK_ENV: 'staging', PETSTOCK_STORE: 'north' }, '', ['north/staging']],
  ['a flag before the variable', { PETSTOCK_STORE: 'north' }, '--store default', ['staging']],
] as const)(
  'restricts history list, show latest, export and prune to the place given by %s',
  async ([_name, env, flags, left], { shop }) => {
    const runs = await everyPlace(shop);
    const run = (command: string) => shop.run(`${command} ${flags}`.trim(), { env });
    expect(names(runs, JSON.parse((await run('history list --json')).stdout))).toEqual(left);
    const shown = JSON.parse((await run('history show latest --json')).stdout);
    expect(names(runs, [shown])).toEqual(left.slice(-1));
    expect(names(runs, jsonLines((await run('history export')).stdout)).toReversed()).toEqual(left);
    await shop.exits(`history prune --keep 0 --yes ${flags}`.trim(), 0, `${left.length} run`, { env });
    const kept = all.filter((name) => !(left as readonly string[]).includes(name));
    expect(names(runs, await shop.json('history list --json'))).toEqual(kept);
  },
);

test('shows and prunes the whole history whatever default-env and default-store are', async ({ shop }) => {
  const runs = await everyPlace(shop);
  await shop.exits('config set default-env production', 0);
  await shop.exits('config set default-store north', 0);
  expect(names(runs, await shop.json('history list --json'))).toEqual(all);
  expect(await shop.json('history show latest --json')).toMatchObject({ run: runs['south/staging'] });
  await shop.exits('history prune --keep 0 --yes', 0, 'Removed 4 runs of all stores and environments.');
});

test('names the scope in the question of history prune', async ({ shop }) => {
  await everyPlace(shop);
  for (const [flags, env, question] of [
    ['', {}, 'Remove 4 runs of all stores and environments for good?'],
    ['--env staging', {}, 'Remove 3 runs of staging of all stores for good?'],
    ['', { PETSTOCK_STORE: 'north' }, 'Remove 2 runs of the store north for good?'],
    ['--store default', {}, 'Remove 1 run of the store without a name for good?'],
    ['-e production', { PETSTOCK_STORE: 'north' }, 'Remove 1 run of north/production for good?'],
  ] as const) {
    const { asked, prompts } = confirming(false);
    await shop.run(`history prune --keep 0 ${flags}`.trim(), { terminal: 100, prompts, env });
    expect(asked).toEqual([question]);
  }
});

test('apply --resume latest skips a run of another URL, and reports the skipped run', async ({ shop }) => {
  const open = (at: Shop) =>
    recordRun(at, [{ ...pending, before: 39, after: 12 }], { service: serviceNameOf(at.service.url) });
  const own = await open(shop);
  const elsewhere = await openShop();
  const other = await open(shopOf({ ...elsewhere, folders: shop.folders, clock: shop.clock }));
  const skipped = `Skipped: run ${other} (inventory apply) was made at ${elsewhere.service.url}.\n`;
  await shop.exits('inventory apply --resume latest --yes', 0, [skipped, `Run ${own}`]);
  await shop.exits('inventory apply --resume latest --yes', 9, `was made at ${elsewhere.service.url}`);
});
