import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { stockOf, test } from '../../../../support/shop.ts';
import { count, person, sessionIn, statesIn, writes } from './count-rig.ts';

test('--add adds what is scanned to the stock of the end, and --take takes it away', async ({ shop }) => {
  const added = await count(shop, '4 x3\n5\n', '--add --yes --json');
  expect(added.code).toBe(0);
  expect(writes(added)).toEqual(['4 {"quantity":42}', '5 {"quantity":2}']);
  const [run] = await shop.json('history list --json');
  expect(run).toMatchObject({ reason: 'scanned in', state: 'done' });
  expect(writes(await count(shop, '4 x2\n', '--take --yes --json'))).toEqual(['4 {"quantity":40}']);
  const both = await count(shop, '4\n', '--add --take --yes');
  expect(both).toMatchObject({ code: 2, requests: [] });
  expect(await count(shop, '4\n', '--add --all --yes')).toMatchObject({ code: 2, requests: [] });
});

test('the prompt says which of them it is, and nothing is said of what was not scanned', async ({ shop }) => {
  const { stderr } = await count(shop, '4 x3\ndone\n', '--add', person);
  expect(stderr).toContain('It is a count of what came in (--add). Scan');
  expect(stderr).toContain('3 units in, 1 pet > ');
  expect(stderr).not.toContain('not scanned');
  expect((await count(shop, '4\ndone\n', '--take --new', person)).stderr).toContain('1 unit out, 1 pet > ');
});

test('--to writes deltas, which apply adds', async ({ shop }) => {
  const file = join(shop.folders.state, '..', 'delivery.csv');
  expect((await count(shop, '4 x3\n', `--take --to ${file}`)).code).toBe(0);
  expect(readFileSync(file, 'utf8')).toBe('petId,status,expected,quantity,delta,reason,ref\n4,,,,-3,scanned out,\n');
  expect((await shop.run(['inventory', 'apply', file, '--yes'])).code).toBe(0);
  expect((await stockOf(shop)).get('4')).toBe(36);
});

test('a session goes on as what it is, and two of different kinds are not merged', async ({ shop }) => {
  await count(shop, '4 x2\n', '--add --yes --max-changes 0');
  const name = await sessionIn(shop);
  const refused = await count(shop, '4\n', '--take --yes');
  expect(refused).toMatchObject({ code: 2, requests: [] });
  expect(refused.stderr).toContain(`(a count of what came in (--add)) is not finished`);
  expect(await count(shop, '4\n', `${name} --take --yes`)).toMatchObject({ code: 2, requests: [] });
  const asked: string[] = [];
  const text = async (question: string) => (asked.push(question) > 0 ? 'n' : '');
  const other = await count(shop, '5 x2\ndone\n', '', { ...person, prompts: { confirm: async () => false, text } });
  expect(asked).toEqual([
    expect.stringMatching(/\(a count of what came in \(--add\)\) is not finished \(.*Go on with it\?/),
  ]);
  const taken = await count(shop, '6\ndone\n', '--take', { ...person, prompts: { confirm: async () => false } });
  expect(taken.stderr).toContain('2 other sessions are not finished: petstock inventory count --list\n');
  const stockTake = /Session (\w{4})\. Scan/.exec(other.stderr)?.[1];
  expect((await count(shop, '', `--merge ${name} ${stockTake} --yes`)).stderr).toContain("can't be merged");
  expect(writes(await count(shop, '4\n', `${name} --yes --json`))).toEqual(['4 {"quantity":42}']);
});

test('a dry run leaves a session as it was: looking first counts nothing twice', async ({ shop }) => {
  await count(shop, '4 x2\n', '--yes --max-changes 0');
  const name = await sessionIn(shop);
  for (const options of [{}, person]) {
    const look = await count(shop, '4 x2\n', `${name} --dry-run`, options);
    expect(look.code).toBe(0);
    expect(look.stderr).toContain('39 → 4');
  }
  expect(await statesIn(shop)).toEqual(['open']);
  expect(writes(await count(shop, '', `${name} --yes --json`))).toEqual(['4 {"quantity":2}']);
});

test('a dry run at a terminal says which session has what was scanned', async ({ shop }) => {
  const look = await count(shop, '4 x2\ndone\n', '--take --dry-run', person);
  const name = await sessionIn(shop);
  expect(look.stderr).toContain(
    `Session ${name} keeps what was counted: petstock inventory count ${name} --env staging\n`,
  );
  expect(writes(await count(shop, '', `${name} --yes --json`))).toEqual(['4 {"quantity":37}']);
});
