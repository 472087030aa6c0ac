import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openShop, type Shop } from '../../../../support/shop.ts';
import { count, person, sessionIn, writes } from './count-rig.ts';

/** Replaces a line of the only session, from 1. @returns its last four characters */
function damage(shop: Shop, line: number, text = '{"add":1,"co'): string {
  const folder = join(shop.folders.state, 'counts');
  const [name = ''] = readdirSync(folder);
  const lines = readFileSync(join(folder, name), 'utf8').split('\n');
  writeFileSync(join(folder, name), lines.with(line - 1, text).join('\n'));
  return sessionIn(shop);
}

const statesOf = async (shop: Shop, args = '') =>
  JSON.parse((await shop.run(`inventory count --list --json ${args}`.trim())).stdout).map(
    ({ state }: { state: string }) => state,
  );

test('a damaged session is listed as that, and is discarded or gone on with after a question', async () => {
  const shop = await openShop();
  await count(shop, '4 x2\n5\n8\n', '--yes --max-changes 0');
  const name = damage(shop, 4);
  expect(await statesOf(shop)).toEqual(['damaged']);
  const script = await count(shop, '', `${name} --yes`);
  expect(script).toMatchObject({ code: 1, requests: [] });
  expect(script.stderr).toMatch(/is damaged: line 4 of its file can't be read/);
  expect(script.stderr).toContain(`Hint: petstock inventory count --discard ${name}\n`);
  const no = await count(shop, 'done\n', name, { ...person, prompts: { confirm: async () => false } });
  expect(no).toMatchObject({ code: 1, requests: [] });
  const questions: string[] = [];
  const confirm = async (question: string) => questions.push(question) > 0;
  const on = await count(shop, 'done\n', name, { ...person, prompts: { confirm } });
  expect(questions[0]).toMatch(/line 4 of its file can't be read\. Go on with the rest \(3 units, 2 pets\)\?$/);
  expect(on.code).toBe(0);
  expect(writes(on)).toEqual(['4 {"quantity":2}', '8 {"quantity":1}']);
  expect(await statesOf(shop)).toEqual(['applied']);
});

test.each([[1], [4]])('a session with a damaged line %i is discarded', async (line) => {
  const shop = await openShop();
  await count(shop, '4 x2\n5\n8\n', '--yes --max-changes 0');
  const name = damage(shop, line);
  expect(await statesOf(shop, '--env staging')).toEqual(['damaged']);
  expect((await shop.run('inventory count --list -o table')).stdout).toContain('damaged');
  expect((await count(shop, '4\n', `${name} --yes`)).code).toBe(1);
  expect((await shop.run(`inventory count --discard ${name} --yes`)).code).toBe(0);
  expect(await statesOf(shop)).toEqual(line === 1 ? [] : ['discarded']);
  expect((await count(shop, '4\n')).code).toBe(0);
});

test('a finished session that is damaged is listed, is not counted on, and can be removed as others can', async () => {
  const shop = await openShop();
  await count(shop, '4 x2\n', '--yes');
  const name = damage(shop, 4, 'x');
  expect(await statesOf(shop)).toEqual(['damaged']);
  expect(await count(shop, '4\n', `${name} --yes`)).toMatchObject({ code: 1, requests: [] });
  expect((await shop.run(`inventory count --discard ${name}`)).code).toBe(2);
  expect((await shop.run(`inventory count --discard ${name} --yes`)).stderr).toContain(`Session ${name} is removed.`);
  expect(await statesOf(shop)).toEqual([]);
  await count(shop, '4 x3\n', '--yes');
  expect((await shop.run(`inventory count --discard ${sessionIn(shop)} --yes`)).code).toBe(0);
  expect(await statesOf(shop)).toEqual([]);
  expect(JSON.parse((await shop.run('history list --json')).stdout)).toHaveLength(2);
});
