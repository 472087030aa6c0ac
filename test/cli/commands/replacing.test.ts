import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { test } from '../../support/shop.ts';

test.for([
  ['inventory', 'stock.csv'],
  ['history', 'history.ndjson'],
  ['sandbox', 'stock.csv'],
] as const)('%s export replaces without --force only what petstock wrote', async ([group, name], { shop }) => {
  await shop.run('inventory list --env sandbox');
  await shop.run('inventory set 4 9');
  const file = join(shop.folders.state, '..', name);
  const words = [group, 'export', file];
  writeFileSync(file, 'hours of work\n');
  const stderr = await shop.refused(words);
  expect(stderr.replaceAll(/\s+/g, ' ')).toContain('what is in it may be nowhere else');
  expect(readFileSync(file, 'utf8')).toBe('hours of work\n');

  expect(await shop.run([...words, '--force'])).toMatchObject({ code: 0 });
  const written = readFileSync(file, 'utf8');
  expect(written).toMatch(/petId/);
  expect(await shop.run(words)).toMatchObject({ code: 0 });
  expect(readFileSync(file, 'utf8')).toBe(written);
  appendFileSync(file, 'more work\n');
  expect(await shop.run(words)).toMatchObject({ code: 2 });
  expect(readFileSync(file, 'utf8')).toBe(`${written}more work\n`);
});

test('the hint runs as it stands, also where the file stands behind --', async ({ shop }) => {
  const file = join(shop.folders.state, '..', 'stock.csv');
  writeFileSync(file, 'hours of work\n');
  const refused = await shop.run(['inventory', 'export', '--', file]);
  expect(refused.code).toBe(2);
  const hint = /Hint: petstock (.*)\n/.exec(refused.stderr)?.[1] ?? '';
  expect(hint).toBe(`inventory export --force -- ${file}`);
  expect(await shop.run(hint)).toMatchObject({ code: 0 });
  expect(readFileSync(file, 'utf8')).toMatch(/petId/);
});
