import { appendFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openShop, type Shop } from '../../../../support/shop.ts';
import { count, person, sessionIn, writes } from './count-rig.ts';

/** The file of the only session. */
function sessionFile(shop: Shop): string {
  const folder = join(shop.folders.state, 'counts');
  return join(folder, readdirSync(folder)[0] ?? '');
}

/** Replaces a line of the only session, from 1. @returns its last four characters */
function damage(shop: Shop, line: number, text = '{"add":1,"co'): string {
  const file = sessionFile(shop);
  const lines = readFileSync(file, 'utf8').split('\n');
  writeFileSync(file, lines.with(line - 1, text).join('\n'));
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

test('a damaged line before those of a process that came or left is named, and no scan is lost silently', async () => {
  const shop = await openShop();
  await count(shop, '4 x2\n5\n', '--yes --max-changes 0');
  const name = damage(shop, 4);
  expect(readFileSync(sessionFile(shop), 'utf8').split('\n')[4]).toContain('"leave"');
  const script = await count(shop, '', `${name} --yes`);
  expect(script).toMatchObject({ code: 1, requests: [] });
  expect(script.stderr).toMatch(/is damaged: line 4 of its file can't be read/);
});

test('a last line that was cut off is no damage, but it is said, once', async () => {
  const shop = await openShop();
  await count(shop, '4 x2\n', '--yes --max-changes 0');
  appendFileSync(sessionFile(shop), '{"add":1,"code":"5');
  const name = sessionIn(shop);
  const warning = `Warning: The last scan of session ${name} was cut off while it was written, and is not counted: scan it again\n`;
  const first = await count(shop, '8\n', `${name} --yes --max-changes 0 -q`);
  expect(first.stderr.startsWith(warning)).toBe(true);
  const next = await count(shop, '', `${name} --yes --json`);
  expect(next.stderr).not.toContain('cut off');
  expect(writes(next)).toEqual(['4 {"quantity":2}', '8 {"quantity":1}']);
});

test('the rest of a line that is no scan is passed over, and a merge says which session has lost one', async () => {
  const shop = await openShop();
  for (const lines of ['4\n', '8\n']) await count(shop, lines, '--new --yes --max-changes 0');
  const folder = join(shop.folders.state, 'counts');
  const [one = '', two = ''] = readdirSync(folder);
  appendFileSync(join(folder, one), '{"leave":{"host":"te');
  appendFileSync(join(folder, two), '{"add":1,');
  const [first, second] = [one.slice(-10, -6), two.slice(-10, -6)];
  const merged = await count(shop, '', `--merge ${first} ${second} --yes --json`);
  expect(merged.code).toBe(0);
  expect(merged.stderr).toContain(`Warning: The last scan of session ${second} was cut off`);
  expect(merged.stderr).not.toContain(`session ${first} was cut off`);
});

test('--list shows the others beside a file that can not be read, names it, and ends with 1', async () => {
  const shop = await openShop();
  await count(shop, '4 x2\n', '--yes --max-changes 0');
  const name = sessionIn(shop);
  const folder = join(shop.folders.state, 'counts');
  const path = join(folder, '20260101T000000Z-aaaa.count');
  mkdirSync(path);
  const listed = await shop.run('inventory count --list --json');
  expect(listed.code).toBe(1);
  expect(JSON.parse(listed.stdout)).toMatchObject([{ state: 'open', units: 2 }]);
  expect(JSON.parse(listed.stderr).error).toMatchObject({ code: 'failure', exitCode: 1 });
  expect(listed.stderr).toContain(path);
  symlinkSync('/dev/null', join(folder, '20260101T000000Z-bbbb.done'));
  const table = await shop.run('inventory count --list -o table');
  expect(table).toMatchObject({ code: 1, requests: [] });
  expect(table.stdout).toContain(name);
  expect(table.stderr).toMatch(/Error: 2 files of sessions can't be read\.\n(?: {2}The file .*\n){2}$/);
  // What it holds may be a count of this shop: a script begins none beside it.
  const begun = await count(shop, '5\n', '--yes');
  expect(begun).toMatchObject({ code: 1, requests: [] });
  expect(begun.stderr).toContain('Hint: petstock inventory count --new --env staging\n');
  expect((await count(shop, '5\n', '--new --yes')).code).toBe(0);
  expect((await count(shop, '5\n', `${name} --yes`)).code).toBe(0);
});
