import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { loadEngine } from '../../src/state/sqlite/engine.ts';
import { changeFile, type Shop, test } from '../support/shop.ts';

/** Creates the state of a petstock 0.2.0 that was killed while it added 5 to pets 3 to 8, with pet 5 in flight. */
async function leaveState({ folders, service }: Shop): Promise<void> {
  mkdirSync(folders.state, { recursive: true, mode: 0o700 });
  const text = readFileSync(join(import.meta.dirname, '../support/state-0.2.0.sql'), 'utf8');
  const { DatabaseSync } = await loadEngine();
  const database = new DatabaseSync(join(folders.state, 'state.db'));
  const url = `${service.url}`;
  database.exec(text.replaceAll('@url@', url).replaceAll('@service@', url.replace('127.0.0.1', 'localhost')));
  database.close();
}

const stockOf = ({ service }: Shop) => [...service.store.items()].slice(0, 8).map(({ quantity }) => Number(quantity));

test('resumes an unfinished run of 0.2.0, and recognizes a file that 0.2.0 applied', async ({ shop }) => {
  const quantities = [20, 20, 15, 15, 10, 10, 10, 10];
  for (const [index, quantity] of quantities.entries())
    shop.service.store.setQuantity(BigInt(index + 1), BigInt(quantity));
  await leaveState(shop);
  const again = changeFile(shop, 'petId,delta\n1,10\n2,10\n');
  await shop.exits(['inventory', 'apply', again, '--yes'], 2, '--again');
  shop.clock.advance(60_000);
  const { stdout } = await shop.exits('inventory apply --resume latest --yes --json', 0);
  expect(JSON.parse(stdout)).toMatchObject({ counts: { applied: 6 } });
  expect(stockOf(shop)).toEqual([20, 20, 15, 15, 15, 15, 15, 15]);
  expect(await shop.json('history list --json')).toHaveLength(3);
  await shop.exits('state check', 0);
  await shop.exits('inventory set 9 8 --read-first', 0);
  await shop.exits('undo --last --yes', 0);
  expect(await shop.json('state info --json')).toMatchObject({ schema: 6, runs: 5, rows: 11 });
});
