import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { stockOf, test } from '../../../../support/shop.ts';
import { begun, count, person, sessionIn, statesIn } from './count-rig.ts';

test('adds scanned units to the stock with --add, and subtracts them with --take', async ({ shop }) => {
  const added = await count(shop, '4 x3\n5\n', '--add --yes --json');
  expect(added).toMatchObject({ code: 0, written: ['4 {"quantity":42}', '5 {"quantity":2}'] });
  const [run] = await shop.json('history list --json');
  expect(run).toMatchObject({ reason: 'scanned in', state: 'done' });
  expect((await count(shop, '4 x2\n', '--take --yes --json')).written).toEqual(['4 {"quantity":40}']);
  for (const flags of ['--add --take', '--add --all'])
    await shop.refused(`inventory count ${flags} --yes`, { stdin: '4\n' });
});

test('names the kind of count at the prompt with --add or --take, and does not list unscanned pets', async ({
  shop,
}) => {
  const { stderr } = await count(shop, '4 x3\ndone\n', '--add', person);
  expect(stderr).toContain('It is a count of units that came in, with --add. Scan');
  expect(stderr).toContain('3 units in, 1 pet > ');
  expect(stderr).not.toContain('not scanned');
  expect((await count(shop, '4\ndone\n', '--take --new', person)).stderr).toContain('1 unit out, 1 pet > ');
});

test('count --take --to writes deltas to a file, and apply adds them', async ({ shop }) => {
  const file = join(shop.folders.state, '..', 'delivery.csv');
  expect((await count(shop, '4 x3\n', `--take --to ${file}`)).code).toBe(0);
  expect(readFileSync(file, 'utf8')).toBe('petId,status,expected,quantity,delta,reason,ref\n4,,,,-3,scanned out,\n');
  expect((await shop.run(['inventory', 'apply', file, '--yes'])).code).toBe(0);
  expect((await stockOf(shop)).get('4')).toBe(36);
});

test('resumes a counting session only as its own kind, and does not merge two kinds', async ({ shop }) => {
  await count(shop, '4 x2\n', '--add --yes --max-changes 0');
  const name = await sessionIn(shop);
  const kind = /Session \w{4} \(a count of units that came in, with --add\), begun at \S+( by \S+)?, is not finished/;
  expect(await shop.refused('inventory count --take --yes', { stdin: '4\n' })).toMatch(kind);
  await shop.refused(`inventory count ${name} --take --yes`, { stdin: '4\n' });
  const no = { ...person, prompts: { confirm: async () => false } };
  // No question is asked, because Enter must not continue a stock-take as a delivery, or the reverse.
  const other = await count(shop, '5 x2\ndone\n', '', no);
  expect(other.stderr.replace('\n  ', ' ')).toContain(
    `Another session is not finished: ${name} (a count of units that came in, with --add).`,
  );
  const taken = await count(shop, '6\ndone\n', '--take', no);
  expect(taken.stderr).toContain('2 other sessions are not finished: ');
  const stockTake = /Session (\w{4})\. Scan/.exec(other.stderr)?.[1];
  expect((await count(shop, '', `--merge ${name} ${stockTake} --yes`)).stderr).toContain("can't be merged");
  expect((await count(shop, '4\n', `${name} --yes --json`)).written).toEqual(['4 {"quantity":42}']);
});

test('leaves a counting session unchanged after a dry run that resumes it', async ({ shop }) => {
  const [name] = await begun(shop, '4 x2\n');
  for (const options of [{}, person]) {
    const { code, stderr } = await count(shop, '4 x2\n', `${name} --dry-run`, options);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('39 → 4') });
  }
  expect(await statesIn(shop)).toEqual(['open']);
  expect((await count(shop, '', `${name} --yes --json`)).written).toEqual(['4 {"quantity":2}']);
});

test('keeps the counting session of a dry run at a terminal, and prints how to resume it', async ({ shop }) => {
  const look = await count(shop, '4 x2\ndone\n', '--take --dry-run', person);
  const name = await sessionIn(shop);
  expect(look.stderr).toContain(
    `The count is saved in session ${name}. To resume:\n  petstock inventory count ${name} --env staging\n`,
  );
  expect((await count(shop, '', `${name} --yes --json`)).written).toEqual(['4 {"quantity":37}']);
});
