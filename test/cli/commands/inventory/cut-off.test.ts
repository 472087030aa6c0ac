import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { newFolder } from '../../../support/new-folder.ts';
import { test } from '../../../support/shop.ts';

test('prints the CSV header of an empty list', async ({ shop }) => {
  const none = '--max-quantity -1000';
  expect((await shop.exits(`inventory list ${none} -o csv`, 0)).stdout).toMatch(/^petId,quantity,status\b.*\n$/);
});

test('refuses a file with fewer rows than --min-rows, and sends nothing', async ({ shop }) => {
  const stdin = 'petId,quantity\n1,5\n2,6\n';
  const refused = await shop.refused('inventory apply - --yes --min-rows 3', { stdin });
  expect(refused).toContain('stdin has 2 rows, fewer than --min-rows 3. Nothing was sent');
  expect(await shop.refused('inventory apply - --yes --min-rows 1', { stdin: 'petId,quantity\n' })).toContain('0 rows');
  expect(await shop.refused('inventory apply - --yes --min-rows x', { stdin })).toContain('--min-rows takes');
  expect(await shop.refused('inventory apply --resume latest --min-rows 1')).toContain('--resume takes the rows');
  await shop.exits('inventory apply - --yes --min-rows 2', 0, [], { stdin });
});

test.for([
  ['', '--ignore-columns'],
  ['note', '--ignore-columns'],
  ['note', '--ignore-columns --skip-unknown'],
  ['note,more', '--ignore-columns --column quantity=Pieces'],
  ['note', '--ignore-columns --format csv --dry-run'],
])('refuses a truncated last line (other columns %j, %s)', async ([ignored, options], { shop }) => {
  const quantity = options?.includes('Pieces') ? 'Pieces' : 'quantity';
  const file = join(newFolder(), 'cut.csv');
  const columns = ['petId', quantity, ...(ignored === '' ? ['reason'] : (ignored ?? '').split(','))];
  const whole = columns.map((_, index) => `${index + 1}`).join(',');
  writeFileSync(file, `${columns.join(',')}\n${whole}\n2,1`);
  const stderr = await shop.refused(`inventory apply ${file} --yes ${options}`);
  expect(stderr).toContain(`the last line has 2 cells, but the first row has ${columns.length}`);
});
