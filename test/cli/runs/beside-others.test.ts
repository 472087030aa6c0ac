import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadEngine } from '../../../src/state/sqlite/engine.ts';
import { tenEach } from '../../support/scripted-service.ts';
import { openTill } from '../../support/till.ts';

const rows = 60;

test('beside others who use the key rows are admitted in groups, as many as there is room for', async () => {
  const till = await openTill({ stock: tenEach(rows), limit: { limit: 10_000, seconds: 60 } });
  const { url, key } = till.service;
  const sendAsOthers = () => fetch(`${url}/inventory`, { headers: { Authorization: `Bearer ${key}` } });
  await till.run('inventory get 1');
  for (let count = 0; count < 5; count += 1) await (await sendAsOthers()).text();
  till.clock.advance(2000);
  await till.run('inventory get 1');

  const lines = Object.keys(tenEach(rows)).map((petId) => `${petId},11`);
  const file = till.file('all.csv', `petId,quantity\n${lines.join('\n')}\n`);
  const before = await writesOfLimits(file);
  expect(await till.run(`inventory apply ${file} --yes -q`)).toMatchObject({ code: 0 });
  expect((await writesOfLimits(file)) - before).toBeLessThan(10);
});

/** Returns how often the limits were written: each admission is one of these. */
async function writesOfLimits(beside: string): Promise<number> {
  const { DatabaseSync } = await loadEngine();
  const database = new DatabaseSync(join(beside, '..', 'state', 'state.db'));
  const [limits] = database.prepare('SELECT version FROM limits').all();
  database.close();
  return Number(limits?.version);
}
