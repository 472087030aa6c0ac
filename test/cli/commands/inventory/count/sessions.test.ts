import { expect } from 'vitest';
import { createKnowledge } from '../../../../../src/cli/completion/knowledge.ts';
import { errorJson, openShop, test } from '../../../../support/shop.ts';
import { stateSql } from '../../../../support/state-sql.ts';
import { begun, count, person, sessionIn, sessionsIn, statesIn } from './count-rig.ts';

test('refuses a count by a script while a session is unfinished, and suggests resuming the session', async ({
  shop,
}) => {
  const [name] = await begun(shop, '4 x2\n');
  const refused = await shop.refused('inventory count --yes --json', { stdin: '5\n' });
  expect(errorJson(refused).error.hint).toBe(`petstock inventory count ${name} --json --yes --env staging`);
  expect((await count(shop, '5 x7\n', '--new --yes --json')).written).toEqual(['5 {"quantity":7}']);
  const same = await count(shop, '4\n', `${name} --yes --json`);
  expect(same.written).toEqual(['4 {"quantity":3}']);
  expect(await shop.refused(`inventory count ${name} --yes`, { stdin: '4\n' })).toMatch(
    /is finished: it was applied, by run .*\nHint: petstock history show /,
  );
  expect(await count(shop, '6 x14\n')).toMatchObject({ code: 0, written: [] });
  const listed: { session: string; state: string; became: null }[] = await shop.json(
    'inventory count --list --closed --json',
  );
  const alike = listed.find(({ state, became }) => state === 'applied' && became === null);
  const merge = `inventory count --merge ${alike?.session} ${name} --dry-run`;
  expect(await shop.refused(merge)).toContain('is finished: its count was the same as the stock');
});

test.for([
  { open: '', typed: '--add', kind: 'a stock-take' },
  { open: '--add', typed: '', kind: 'a count of units that came in, with --add' },
  { open: '--take', typed: '--add', kind: 'a count of units that went out, with --take' },
])('suggests a new session to a script if the unfinished session is $kind', async (kinds, { shop }) => {
  await count(shop, '4 x2\n', `--yes --max-changes 0 ${kinds.open}`.trim());
  const name = await sessionIn(shop);
  const typed = `${kinds.typed} --label dock --ref N-1 --yes`.trim();
  const refused = await shop.refused(`inventory count ${typed}`, { stdin: '4*3\n' });
  expect(refused).toContain(`Session ${name} (${kinds.kind}), begun at `);
  expect(refused).toContain("It can't be resumed as ");
  const hint = /Hint: petstock (inventory count --new .*)\n/.exec(refused)?.[1] ?? '';
  for (const option of typed.split(/ (?=--)/)) expect(hint).toContain(option);
  const pasted = await shop.run(hint, { stdin: '4*3\n' });
  expect(pasted.requests.filter(({ method }) => method === 'PATCH').map(({ body }) => body)).toEqual([
    `{"quantity":${kinds.typed === '' ? 3 : 42}}`,
  ]);
});

test('repeats the options of a scripted count in the hint, except --label', async ({ shop }) => {
  const [name] = await begun(shop, '4 x2\n');
  const options = '--all --to out.csv --reason audit --ref N-1 --max-zero 9';
  const refused = await shop.refused(`inventory count --label two ${options}`, { stdin: '5\n' });
  const hint = /Hint: (.*)\n/.exec(refused)?.[1] ?? '';
  expect(hint).toContain(`petstock inventory count ${name} `);
  for (const option of options.split(/ (?=--)/)) expect(hint).toContain(option);
  expect(hint).not.toContain('--label');
});

test('prints the number of units in a session when a script is refused or resumes the session', async ({ shop }) => {
  await count(shop, '4\n5\n6\n', '--add --yes --max-changes 0');
  const name = await sessionIn(shop);
  const refused = await shop.refused('inventory count --add --yes', { stdin: '4\n5\n6\n' });
  expect(refused).toContain(
    'is not finished. It already holds 3 units in, 3 pets. Nothing was counted. ' +
      'Resume it only with scans that it does not have yet, or start a new session with --new.\n',
  );
  const resumed = await count(shop, '7\n', `${name} --add --yes`);
  expect(resumed.stderr).toMatch(new RegExp(`^Session ${name} is resumed: 3 units in, 3 pets\\.$`, 'm'));
  expect(resumed.written).toHaveLength(4);
});

test('refuses a counting session in another environment or at another URL, and suggests its environment', async ({
  shop,
}) => {
  const [name] = await begun(shop, '4 x2\n');
  const elsewhere = await count(shop, '', `${name} --yes --env sandbox`);
  expect(elsewhere).toMatchObject({ code: 2, stdout: '' });
  expect(elsewhere.stderr).toContain(`Hint: petstock inventory count ${name} --yes --env staging`);
  await shop.refused(`inventory count ${name} --yes`, { env: { PETSTOCK_URL_STAGING: 'http://localhost:9/v1' } });
  expect((await count(shop, '', 'zzzz --yes')).code).toBe(9);
  await shop.refused('inventory count ../x --yes');
});

test('merges the units of two counting sessions only once', async ({ shop }) => {
  const [one, two] = await begun(shop, '4 x2\n= 5 3\nfoo\n', '4\n5 x4\nfoo x2\n');
  for (const names of [`${one} ${one}`, one]) await shop.refused(`inventory count --merge ${names} --yes`);
  const merged = await count(shop, '-\n4\n', `--merge ${one} ${two} --yes --json`);
  expect(merged).toMatchObject({ code: 8, written: ['4 {"quantity":4}', '5 {"quantity":7}'] });
  expect(merged.stderr).toContain('  foo  3\n');
  const again = await shop.refused(`inventory count --merge ${one} ${two} --yes`);
  expect(again).toContain('is finished: it was merged into session ');
});

test('keeps both counting sessions open after the dry run of a merge', async ({ shop }) => {
  const names = await begun(shop, '4 x2\n', '4\n5 x4\n');
  const dry = await count(shop, '5\n', `--merge ${names.join(' ')} --dry-run --json`);
  expect(dry.code).toBe(0);
  expect(dry.report.rows.map(({ petId, after }) => `${petId} ${after}`)).toEqual(['4 3', '5 5']);
  const { code, stderr } = await count(shop, 'foo\n', `--merge ${names.join(' ')} --dry-run`);
  expect({ code, stderr }).toEqual({ code: 8, stderr: expect.not.stringContaining('Hint') });
  expect(await statesIn(shop)).toEqual(['open', 'open']);
  const merged = await count(shop, '', `--merge ${names.join(' ')} --yes`);
  expect(merged.written).toEqual(['4 {"quantity":3}', '5 {"quantity":4}']);
});

test('stores nothing if the dry run of a merge fails or is interrupted, and suggests the same command', async () => {
  const shop = await openShop({ faults: ['GET /inventory:status=503'] });
  const names = await begun(shop, '4 x2\n', '4\n');
  const merge = `--merge ${names.join(' ')} --reason audit --dry-run`;
  const hint = `Hint: petstock inventory count ${merge} --env staging\n`;
  expect(await count(shop, '5\n', merge)).toMatchObject({ code: 5, stderr: expect.stringContaining(hint) });
  const stopped = await count(shop, 'foo\n4\n4\n', merge, { ctrlCAt: /foo/ });
  expect(stopped.code).toBe(130);
  expect(stopped.stderr).toContain('Error: Interrupted. The dry run stored nothing, and the sessions are un');
  expect(stopped.stderr).toContain(hint);
  expect(await statesIn(shop)).toEqual(['open', 'open']);
});

test('count lists sessions with --list, and discards one with --discard --yes', async ({ shop }) => {
  const [name] = await begun(shop, '4 x2\nfoo\n');
  const listed = await shop.run('inventory count --list --closed --json');
  expect(listed.requests).toEqual([]);
  expect(JSON.parse(listed.stdout)).toMatchObject([
    { env: 'staging', scans: 2, pets: 1, units: 2, unknown: 1, state: 'open', became: null },
  ]);
  expect((await shop.run(`inventory count --discard ${name}`)).code).toBe(2);
  expect((await shop.run(`inventory count --discard ${name} --yes`)).code).toBe(0);
  expect((await shop.json('inventory count --list --closed --json'))[0].state).toBe('discarded');
  expect((await count(shop, '4\n')).code).toBe(0);
});

test('refuses a counting session in another store, and suggests its own store', async ({ shop }) => {
  const { PETSTOCK_URL_STAGING: url, PETSTOCK_API_KEY_STAGING: key } = shop.env;
  const env = { PETSTOCK_NORTH_URL_STAGING: url, PETSTOCK_NORTH_API_KEY_STAGING: key };
  await count(shop, '4 x2\n', '--yes --store north --max-changes 0', { env });
  const name = await sessionIn(shop);
  const hint = `Hint: petstock inventory count ${name} --yes --store north --env staging\n`;
  expect((await count(shop, '', `${name} --yes`)).stderr.endsWith(hint)).toBe(true);
  expect((await count(shop, '5\n', '--yes --store north', { env })).stderr.endsWith(hint)).toBe(true);
  expect((await count(shop, '5 x9\n', '--yes')).code).toBe(0);
  expect((await count(shop, '', `${name} --yes --store north`, { env })).written).toEqual(['4 {"quantity":2}']);
});

test('lists other unfinished counting sessions, and begins a new session if the user answers no', async ({ shop }) => {
  await begun(shop, '4\n', '7\n', '8\n');
  const prompts = { confirm: async () => true, text: async () => 'n' };
  const other = await count(shop, '1\ndone\n', '', { ...person, prompts });
  expect(other.stderr.replace(/\s+/g, ' ')).toMatch(
    /2 other sessions are not finished: \w{4}, \w{4}\. To see all: petstock inventory count --list /,
  );
  expect(other.written).toEqual(['1 {"quantity":1}']);
});

test('completes the names of unfinished counting sessions', async ({ shop }) => {
  const [first, second] = await begun(shop, '4 x2\n', '5 x2\n');
  await shop.run(`inventory count --discard ${second} --yes`);
  const known = createKnowledge({ folders: shop.folders, env: {}, now: shop.clock.now() });
  expect(await known('sessions', '')).toEqual([[expect.stringMatching(new RegExp(`Z-${first}$`)), 'begun 0 s ago']]);
});

test.for([
  "counts SET head = '{'",
  "counts SET codes = 'x'",
  "counts SET holder = 'x'",
  "count_scans SET kind = 'other'",
  "count_scans SET pet = 'x'",
])('reports and keeps a damaged counting session until it is discarded: %s', async (damage, { shop }) => {
  const [name] = await begun(shop, '4 x2\n');
  await stateSql(shop.folders.state, `UPDATE ${damage}`);
  const named = await count(shop, '4\n', `${name} --yes`);
  expect(named).toMatchObject({ code: 1, requests: [] });
  expect(named.stderr).toMatch(/^Error: Session \w{4} in \S+state\.db is damaged \(.+\)\. It was not changed\.$/m);
  expect(named.stderr).toContain('\nHint: petstock inventory count --new');
  const stderr = expect.stringMatching(/^Warning: Session/);
  expect(await shop.run('inventory count --list')).toMatchObject({ code: 0, stderr });
  const other = await count(shop, '5 x7\n');
  expect(other.written).toEqual(['5 {"quantity":7}']);
  expect(other.stderr).toContain('is damaged');
  const check = await shop.exits('state check --json', 1);
  expect(JSON.parse(check.stdout).problems).toEqual([expect.stringMatching(/^Session \w{4} /)]);
  expect((await shop.run('state check')).stderr).toContain(`\nHint: petstock inventory count --discard ${name}`);
  const removed = await shop.run(`inventory count --discard ${name} --yes`);
  expect(removed).toMatchObject({ code: 0, stderr: `Session ${name} is removed.\n` });
  expect((await shop.run('state check')).code).toBe(0);
});

test('lists finished counting sessions with --closed, and the label and user of a session', async ({ shop }) => {
  await count(shop, '4 x2\n', '--yes --label aisle-3 --max-changes 0');
  await count(shop, '5 x9\n', '--yes --new');
  const open = { label: 'aisle-3', user: expect.stringMatching(/./), state: 'open' };
  expect(await shop.json('inventory count --list --json')).toMatchObject([open]);
  const all = await shop.json('inventory count --list --closed --json');
  expect(all).toMatchObject([{ label: null, state: 'applied' }, open]);
  await shop.refused('inventory count --closed --yes', { stdin: '4\n' });
});

test('resumes the counting session of a label, or begins a session with that label', async ({ shop }) => {
  await count(shop, '4 x2\n', '--yes --label one --max-changes 0');
  const [one] = await sessionsIn(shop);
  const two = await count(shop, '5 x2\ndone\n', '--label two', person);
  expect(two.stderr).toContain(`Another session is not finished: ${one} "one". To see all:`);
  expect(two.written).toEqual(['5 {"quantity":2}']);
  const prompts = { ...person.prompts, text: async () => '' };
  expect((await count(shop, '4\ndone\n', '--label one', { ...person, prompts })).written).toEqual(['4 {"quantity":3}']);
  await shop.refused(`inventory count ${one} --label three --yes`);
});
