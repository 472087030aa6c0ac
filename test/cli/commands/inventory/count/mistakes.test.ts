import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { changeFile, confirming, errorJson, type Shop, test } from '../../../../support/shop.ts';
import { count, person, sessionIn, statesIn } from './count-rig.ts';

async function withNames(shop: Shop): Promise<string> {
  const file = changeFile(shop, 'code,petId,name\nA-4,4,Rabbit\n,5,Red hamster\n,8,Blue hamster\n', 'codes.csv');
  await shop.run(['config', 'set', 'codes', file]);
  return file;
}

test.for([
  ['= 4', 'write = 42 7 to set pet 42 to 7'],
  ['=', 'write = 42 7 to set pet 42 to 7'],
  ['= 4 -1', 'write 0 to 9,999,999 units'],
  ['4 x100000', 'write 1 to 99,999 units'],
  ['4 x0', 'write 1 to 99,999 units'],
  ['A-4*1.5', 'write 1 to 99,999 units'],
  ['rabbit x', 'write 1 to 99,999 units'],
  ['red x100000', 'write 1 to 99,999 units'],
  ['- 4', 'to cancel the last line, type - and nothing else'],
  ['--', 'to cancel the last line, type - and nothing else'],
  ['done now', 'to end the count, type done and nothing else'],
  ['code', 'to choose pet 22, for example, write code 22'],
  ['code 5', '"8" already means pet 8: scan an unknown code first'],
  ['X-1\ncode 999', 'there is no pet 999'],
  ['X-1\ncode nosuch', 'no pet has that name: to choose pet 22, for example, write code 22'],
  ['X-1\ncode hamster', '2 pets have that name: to choose pet 22, for example, write code 22'],
  ['4.00638E+12\ncode 5', '"4.00638E+12" looks like a code that a spreadsheet rounded: format the column as text'],
  ['X-1\n4\ncode 5', '"4" already means pet 4: scan an unknown code first'],
  ['X-1\ncode 8\ncode 5', '"X-1" was just assigned to pet 8: type - to cancel that first'],
] as const)(
  'exits with 2 for the mistaken piped line %j, and keeps the other scans',
  async ([lines, why], { shop }) => {
    const file = await withNames(shop);
    const before = readFileSync(file, 'utf8');
    const { code, stderr, stdout, written } = await count(shop, `4\n8\n${lines}\n8\n`);
    expect({ code, stdout, written }).toEqual({ code: 2, stdout: '', written: [] });
    expect(readFileSync(file, 'utf8')).toBe(before);
    const line = 2 + lines.split('\n').length;
    const said = expect.stringContaining(`${lines.split('\n').at(-1)}: ${why}`);
    const { error } = errorJson(stderr);
    expect(error).toMatchObject({ kind: 'usage', faults: [{ line, message: said }] });
    const session = await sessionIn(shop);
    expect(error.message).toMatch(
      new RegExp(`^stdin has an error\\. Nothing was written\\. Session ${session} keeps `),
    );
    expect(error.hint).toMatch(new RegExp(`^petstock inventory count ${session} `));
    // Then only the corrected line is piped.
    const rest = await count(shop, '= 4 7\n', `${session} --yes`);
    expect(rest.written).toContain('4 {"quantity":7}');
    expect(rest.written).toContain(`8 {"quantity":${lines.includes('code 8') ? 3 : 2}}`);
  },
);

test('reports all mistaken piped lines with their numbers, and discards a session without scans', async ({ shop }) => {
  const { code, stderr } = await count(shop, '= 4\r\n\r\ncode 5\r\ndone\r\n', '--yes');
  expect(code).toBe(2);
  expect(stderr).toContain('Line 1 is ignored: write = 42 7 to set pet 42 to 7\n');
  expect(stderr).toContain('Error: stdin has 2 errors. Nothing was written.\n');
  expect(stderr).toMatch(/\n│ line 1: = 4: write .*\n│ line 3: code 5: scan an unknown code first\n/);
  expect(await statesIn(shop)).toEqual(['discarded']);
});

test('cancels a mistake, an assigned code or a scan if a line with - follows', async ({ shop }) => {
  const file = await withNames(shop);
  const lines = '4\n4 x100000\n-\nX-1\ncode 8\n-\ncode rabbit\nX-2\ncode 5\n-\n-\n8\n';
  const { code, report, stderr } = await count(shop, lines);
  expect({ code, stderr }).toEqual({ code: 0, stderr });
  expect(report.rows.map(({ petId, after }) => `${petId} ${after}`)).toEqual(['4 2', '8 1']);
  expect(readFileSync(file, 'utf8').split('\n').slice(4)).toEqual(['X-1,4,', '']);
});

test('assigns a piped code to the pet named by several words after "code"', async ({ shop }) => {
  const file = await withNames(shop);
  const { code, report } = await count(shop, '4006381333931 x2\ncode red hamster\n4006381333931\n');
  expect(code).toBe(0);
  expect(report.rows).toMatchObject([{ petId: 5, after: 3 }]);
  expect(readFileSync(file, 'utf8')).toMatch(/\n4006381333931,5,\n$/);
});

test('does not read a quantity from codes such as SHELF*12A', async ({ shop }) => {
  const { code, stderr } = await count(shop, '4\nSHELF*12A\nABC x-200\n*ABC*\n', '--yes');
  expect(code).toBe(8);
  for (const text of ['SHELF*12A', 'ABC x-200', '*ABC*']) expect(stderr).toContain(`${text}: 1 kept apart`);
});

test('rings the bell for a mistaken line at a terminal, ignores it, and lists it at the end', async ({ shop }) => {
  await withNames(shop);
  const { asked, prompts } = confirming(true);
  const { code, stderr, written } = await count(shop, '4\n= 4\n4 x0\n-\ndone\n', '', { ...person, prompts });
  expect({ code, written }).toEqual({ code: 0, written: ['4 {"quantity":1}'] });
  expect(stderr).toContain('\x07│ = 4: ignored, write = 42 7 to set pet 42 to 7\n');
  expect(stderr).toContain('4 x0: cancelled\n');
  expect(stderr).toContain('Warning: 1 line was ignored:\n│ = 4: write = 42 7 to set pet 42 to 7\n');
  expect(asked).toHaveLength(1);
});

test('does not save a code that was assigned to a pet that the service does not have', async ({ shop }) => {
  const file = await withNames(shop);
  shop.service.setFaults(['GET /inventory:first=5:status=503']);
  const typed = await count(shop, 'X-1\ncode 999\nX-2\ncode 5\ndone\n', '', person);
  expect(typed.stderr).toContain('X-1 (pet 999, which the service does not have)');
  expect(readFileSync(file, 'utf8')).toContain('X-2,5,\n');
  expect(readFileSync(file, 'utf8')).not.toContain('X-1');
});
