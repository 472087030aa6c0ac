import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { changeFile, confirming, test } from '../../../../support/shop.ts';
import { count, person, sessionIn, sessionsIn } from './count-rig.ts';

test('reads codes as text with leading zeros, and accepts several codes for one pet', async ({ shop }) => {
  const codes = changeFile(shop, 'petId;Bar Code;name\n4;004;Rex\n4;4006381333931;\n5;AB 12 x2;\n', 'codes.csv');
  const result = await count(shop, '004\n4006381333931\nAB 12 x2\n4\n', `--yes --json --codes ${codes}`);
  expect(result).toMatchObject({ code: 0, written: ['4 {"quantity":3}'] });
  expect(result.report.rows.map(({ petId, after }) => `${petId} ${after}`)).toEqual(['4 3', '5 1']);
});

test('shows names from the codes file in the plan, the question and the report', async ({ shop }) => {
  const codes = changeFile(shop, 'code,petId,name\n004,4,Rex\n005,5,Lady\n', 'codes.csv');
  const { asked, prompts } = confirming(true);
  const typed = (stdin: string) => shop.run(`inventory count --new --codes ${codes}`, { ...person, prompts, stdin });
  expect((await typed('004 x3\n005 x4\ndone\n')).stderr).toContain('4   39 → 3  (-36)  Rex\n');
  expect((await typed('004\n008\n005\ndone\n')).stdout).toMatch(
    /Result +Name\n +4 +3 +1 +applied +Rex\n +5 +4 +1 +applied +Lady\n/,
  );
  await typed('004 x2\ndone\n');
  expect(asked.at(-1)).toContain('Pet 4 Rex in staging: 1 → 2');
});

test('refuses a faulty codes file, and reports all of its faults', async ({ shop }) => {
  const codes = changeFile(shop, 'code,petId\n007,4\n007,5\n,6\n-,7\n8,x\n', 'codes.csv');
  const stderr = await shop.refused(`inventory count --yes --codes ${codes}`, { stdin: '4\n' });
  expect(stderr.match(/^│ line /gm)).toHaveLength(4);
  for (const other of ['petId,quantity\n4,5\n', '', undefined]) {
    const file = other === undefined ? 'nothing.csv' : changeFile(shop, other, 'other.csv');
    expect((await count(shop, '4\n', `--yes --codes ${file}`)).code).toBe(2);
  }
});

test.for([
  ['4.00638E+12', 'looks like a code that a spreadsheet rounded'],
  ['4006381000000000000', 'looks like a code that a spreadsheet rounded'],
  ['8\b4', "can't be scanned"],
  ['9'.repeat(201), 'a code has at most 200 characters'],
  ['done', 'it is a command while counting'],
  ['9 x3', 'it is a command while counting'],
  ['9*3', 'it is a command while counting'],
  ['4 X9', 'it is a command while counting'],
  ['a\x01b', "can't be scanned"],
] as const)('refuses an unusable code in the codes file: %j', async ([code, why], { shop }) => {
  const codes = changeFile(shop, `code,petId\n${code},4\n`, 'codes.csv');
  expect(await shop.refused(`inventory count --yes --codes ${codes}`, { stdin: '4\n' })).toContain(why);
});

test('reports codes whose pet the service does not have', async ({ shop }) => {
  const codes = changeFile(shop, 'code,petId\n55,99999\n56,99999\n', 'codes.csv');
  const script = await count(shop, '4\n55 x2\n56\n99998\n', `--yes --codes ${codes}`);
  expect(script.code).toBe(8);
  expect(script.stderr).toMatch(/\n {2}55, 56 \(pet 99999, which the service does not have\) {2}3\n {2}99998 +1\n/);
  const typed = await count(shop, '4\n55 x2\ndone\n', `--new --codes ${codes}`, person);
  expect(typed.stderr).toContain('\n  55 (pet 99999, which the service does not have)  2\n');
  const narrow = await count(shop, '4\n55 x2\ndone\n', `--new --dry-run --codes ${codes}`, { ...person, terminal: 40 });
  expect(narrow.stderr).toContain(
    'Not counted, because no pet is known for\nit:\n  │ 55 (pet 99999, which the\n  │ service does not have)',
  );
});

test('ignores the control characters and prefixes that a scanner adds to a code', async ({ shop }) => {
  const codes = changeFile(shop, 'code,petId\n4006381333931,4\n0109506000134352\x1d10AB,5\n', 'codes.csv');
  const scans = [
    '\x024006381333931\x03',
    ']E04006381333931',
    '4006381333931\t',
    '4\x1d',
    ']C04',
    ']C10109506000134352\x1d10AB x2',
    '010950600013435210AB',
  ];
  const result = await count(shop, `${scans.join('\r\n')}\r\n`, `--yes --json --codes ${codes}`);
  expect(result).toMatchObject({ code: 0, written: ['4 {"quantity":5}', '5 {"quantity":3}'] });
});

test('does not count a scan with a backspace or an escape, and shows the character', async ({ shop }) => {
  const result = await count(shop, '4\n8\b4\n\x1b84\n\x1b[A\n4\x7f\n= 4 1\n', '--yes');
  expect(result).toMatchObject({ code: 8, written: ['4 {"quantity":1}'] });
  expect(result.stderr).toContain('8␈4: 1 kept apart, not a known code\n');
  for (const code of ['8␈4', '␛84', '␛\\[A', '4␡']) expect(result.stderr).toMatch(new RegExp(`\n  │ ${code} +1\n`));
});

test.for(['\0', '\x01', '\x02', '\x1d', '\x1f'])(
  'treats a code with %j inside as an unknown code',
  async (control, { shop }) => {
    const scans = `1${control}0\n1${control}0*3\n]C11${control}0\n${control}4${control}\n${control}4${control} x2\n`;
    const result = await count(shop, scans, '--yes');
    expect(result).toMatchObject({ code: 8, written: ['4 {"quantity":3}'] });
    expect(result.stderr).toMatch(/\n {2}│ 1.0 +4\n/);
  },
);

test('accepts "code 4" again for a code that an earlier count assigned to pet 4', async ({ shop }) => {
  const codes = changeFile(shop, 'code,petId\n', 'codes.csv');
  const args = `--new --yes --codes ${codes}`;
  expect((await count(shop, '999888777 x2\ncode 4\n', args)).written).toEqual(['4 {"quantity":2}']);
  expect(readFileSync(codes, 'utf8')).toBe('code,petId\n999888777,4\n');
  expect(await count(shop, '999888777 x3\ncode 4\n', args)).toMatchObject({ code: 0, written: ['4 {"quantity":3}'] });
  const cancelled = await count(shop, '999888777 x5\ncode 4\n-\n', args);
  expect(cancelled).toMatchObject({ code: 0, written: ['4 {"quantity":5}'] });
  expect(readFileSync(codes, 'utf8')).toBe('code,petId\n999888777,4\n');
  const { stderr } = await count(shop, '999888777\ncode 5\n', args);
  expect(stderr).toContain('code 5: "999888777" already means pet 4: scan an unknown code first');
});

test('stores bar codes in the counting session, so a resume or a merge needs no codes file', async ({ shop }) => {
  const [one, two] = ['code,petId,name\n55,4,Rex\n', 'code,petId\n66,5\n'].map((text, index) =>
    changeFile(shop, text, `codes-${index}.csv`),
  );
  await count(shop, '55\n', `--yes --max-changes 0 --codes ${one}`);
  const first = await sessionIn(shop);
  rmSync(one ?? '');
  const on = await count(shop, '55\ndone\n', `${first}`, { ...person, prompts: { confirm: async () => false } });
  expect(on.stderr).toContain('4 Rex: 2\n');
  expect(on.stderr).toContain(`Hint: petstock inventory count ${first} --env staging\n`);
  await count(shop, '66 x3\n', `--new --yes --max-changes 0 --codes ${two}`);
  const [, second] = await sessionsIn(shop);
  const merged = await count(shop, '55\n66\n', `--merge ${first} ${second} --yes --json`);
  expect(merged.written).toEqual(['4 {"quantity":3}', '5 {"quantity":4}']);
});

test('count uses the setting codes if there is no --codes', async ({ shop }) => {
  const codes = changeFile(shop, 'code,petId,name\n55,4,Rex\n', 'codes.csv');
  await shop.run(['config', 'set', 'codes', codes]);
  const typed = await count(shop, '55\ndone\n', '--dry-run', person);
  expect(typed.stderr).toContain('4 Rex: 1\n');
});

test.for([
  ['a long code', '9'.repeat(1500)],
  ['many spaces', `4${' '.repeat(1500)}x3`],
] as const)('ignores a scanned line of more than 200 characters: %s', async ([, line], { shop }) => {
  const { stderr } = await count(shop, `4\n${line}\n`, '--dry-run');
  expect(stderr).toContain('this line is longer than 200 characters, the maximum for a code');
});

test('counts a pasted scan without the bracketed-paste markers of the terminal', async ({ shop }) => {
  const { stderr } = await count(shop, '\x1b[200~4\n4\x1b[201~\ndone\n', '--dry-run', person);
  expect(stderr).toContain('2 units, 1 pet > ');
});

test('reports an unknown word typed at the prompt as not counted', async ({ shop }) => {
  const { stderr, code } = await count(shop, '4\nundo\nrex the dog\ndone\n', '', person);
  expect(code).toBe(0);
  const word = "'undo' is not a pet or a code: not counted. Type - to cancel a line, or help\n";
  for (const told of [word, '23 pets were not scanned and keep their stock.\n']) expect(stderr).toContain(told);
  const narrow = await count(shop, 'hamster\ndone\n', '', { ...person, terminal: 60 });
  expect(narrow.stderr).toContain("'hamster' is not a pet or a code: not counted\n");
});

test('offers once to add assigned codes to the codes file, and knows them in the next count', async ({ shop }) => {
  const codes = changeFile(shop, 'petId;code;name;shelf\r\n4;"0;04";Rex;B', 'codes.csv');
  await shop.run(['config', 'set', 'codes', codes]);
  const { asked, prompts } = confirming(true);
  await count(shop, 'X-1\ncode 5\nX-2\ncode 8\n0;04\ndone\n', '', { ...person, prompts });
  expect(asked[0]).toBe(`Add 2 new codes to ${codes}?`);
  expect(readFileSync(codes, 'utf8')).toBe('petId;code;name;shelf\r\n4;"0;04";Rex;B\n5;X-1;;\n8;X-2;;\n');
  const next = confirming(true);
  expect((await count(shop, 'X-1 x2\nX-2 x2\ndone\n', '', { ...person, prompts: next.prompts })).code).toBe(0);
  expect(next.asked).toHaveLength(1);
});

test('does not add declined codes to the codes file, and counts even if the file became invalid', async ({ shop }) => {
  const codes = changeFile(shop, 'code,petId\n', 'codes.csv');
  const { prompts } = confirming(false, true);
  const typed = 'X-1\ncode 5\ndone\n';
  expect((await count(shop, typed, `--codes ${codes}`, { ...person, prompts })).code).toBe(0);
  expect(readFileSync(codes, 'utf8')).toBe('code,petId\n');
  const confirm = async (question: string) => {
    writeFileSync(codes, 'nothing\n');
    return question !== '';
  };
  const lost = await count(shop, 'X-1 x2\ncode 5\ndone\n', `--codes ${codes}`, { ...person, prompts: { confirm } });
  expect(lost).toMatchObject({ code: 0, written: ['5 {"quantity":2}'] });
  expect(lost.stderr.replace(/\s+/g, ' ')).toContain('has an error. Nothing was added');
});
