import { expect } from 'vitest';
import { LineCutter } from '../../../../../src/cli/commands/inventory/count/lines.ts';
import fc, { property } from '../../../../support/seeded-fast-check.ts';
import { changeFile, confirming, test } from '../../../../support/shop.ts';
import { count, person, sessionIn } from './count-rig.ts';

test('count shows the sum and the unknown codes at a terminal, and asks before writing', async ({ shop }) => {
  const { asked, prompts } = confirming(true);
  const result = await count(shop, '4\n4 x2\n777777\n-\n\ndone\n', '', { ...person, prompts });
  expect(result.code).toBe(0);
  const stderr = result.stderr.replaceAll('\r\x1b[K', '');
  expect(stderr).toMatch(
    /^▸ staging · .*\nSession [0-9a-z]{4}\. Scan, or type a pet id and Enter\.\nType - to cancel /,
  );
  expect(stderr).toContain('0 units, 0 pets > 4: 1\n1 unit, 1 pet > 4: 3 (+2)\n3 units, 1 pet > ');
  expect(stderr).toContain('\x07777777: 1 kept apart, there is no such pet\n3 units, 1 pet, 1 unknown > ');
  expect(stderr).toMatch(/777777: 0 \(cancelled\)\n(3 units, 1 pet > )?3 units, 1 pet, 2 scans\n3 units, 1 pet > /);
  expect(asked).toEqual(['Pet 4 in staging: 39 → 3 (-36). Write this change?']);
  expect(result.requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'PATCH']);
});

test('clears the waiting line of a slow read before the question', async ({ shop }) => {
  let [shown, onQuestion] = ['', ''];
  const onStderr = (text: string) => {
    shown += text;
  };
  const confirm = async () => {
    onQuestion = shown;
    return true;
  };
  const onSent = () => shop.clock.expireDeadlines(1000);
  const { code } = await count(shop, '4\ndone\n', '--add', { ...person, prompts: { confirm }, onSent, onStderr });
  expect(code).toBe(0);
  expect(onQuestion).toContain('Waiting for ');
  expect(onQuestion.split(/\n|\r\x1b\[K/).at(-1)).toBe('');
});

test('keeps the lines of a count within 40 columns, even for a long code', async ({ shop }) => {
  const long = `${'9'.repeat(60)}\n4\n9223372036854775807 x99999\n\ndone\n`;
  const { stderr } = await count(shop, long, '--dry-run', { ...person, terminal: 40 });
  const lines = stderr.split(/\n|(?<= > )/).map((line) => line.replace('\x07', ''));
  const drawn = lines.filter((line) => / > $|^\S+: |^ {2}9| → /.test(line));
  expect(drawn.length).toBeGreaterThan(8);
  expect(drawn.filter((line) => line.length > 40 && !/^(Error|Hint|Rate limit|Warning): /.test(line))).toEqual([]);
});

test('explains a mistyped line of a count on a terminal of 60 columns', async ({ shop }) => {
  const { stderr } = await count(shop, '= 4\n4 x0\n4*9999999999\ndone\n', '--dry-run', { ...person, terminal: 60 });
  expect(stderr).toContain('= 4: ignored, write = 42 7 to set pet 42 to 7\n');
  expect(stderr).toContain('4 x0: ignored, write 1 to 99,999 units\n');
});

test('prints the sum of a count in plain lines with TERM=dumb', async ({ shop }) => {
  const { stderr } = await count(shop, '4\n777777\ndone\n', '--yes', { ...person, env: { TERM: 'dumb' } });
  expect(stderr).toContain('\n4: 1\nSum: 1 unit, 1 pet\n');
  expect(stderr).toContain('kept apart, there is no such pet\nSum: 1 unit, 1 pet, 1 unknown\n');
  expect(stderr.replace('\x07', '')).not.toMatch(/ > |[\x00-\x09\x0b-\x1f]/);
});

test('keeps the counting session if the user declines, and offers to resume it in the next count', async ({ shop }) => {
  const no = await count(shop, '4\ndone\n', '', { ...person, prompts: { confirm: async () => false } });
  expect(no).toMatchObject({ code: 2 });
  const name = await sessionIn(shop);
  expect(no.stderr.endsWith(`Hint: petstock inventory count ${name} --env staging\n`)).toBe(true);
  expect(no.written).toEqual([]);
  const questions: string[] = [];
  const text = async (question: string) => ['4006381333931', 'never', ''][questions.push(question) - 1] ?? '';
  const on = await count(shop, '4\ndone\n', '', { ...person, prompts: { confirm: async () => true, text } });
  expect(questions).toHaveLength(3);
  expect(questions[1]).toContain('"4006381333931" is not an answer, and was not counted. Session ');
  expect(questions[0]).toMatch(/^Session \w{4}, begun at .*, is not finished \(1 unit, 1 pet\)\. Resume it\?/);
  expect(on.stderr).toContain(`Session ${name} is resumed: 1 unit, 1 pet.`);
  expect(on.written).toEqual(['4 {"quantity":2}']);
});

test('shows help if quit, exit or help is typed at a terminal, unless the word is a code', async ({ shop }) => {
  const typed = await count(shop, '4\nquit\nEXIT\nhelp\n?\ndone\n', '', person);
  expect(typed.code).toBe(0);
  expect(typed.stderr.match(/42 x3 to count 3, done to end, help for more\n/g)).toHaveLength(1);
  expect(typed.stderr.match(/\ndone +ends the count, like Ctrl-D\nCtrl-C +stops; /g)).toHaveLength(4);
  for (const word of ['42 x3', '-', '= 42 7', '= [^ ]+ 0', 'Enter']) {
    expect(typed.stderr).toMatch(new RegExp(`\n${word} +\\S`));
  }
  expect(typed.stderr).not.toContain('unknown');
  const codes = changeFile(shop, 'code,petId\nquit,5\n', 'codes.csv');
  const code = await count(shop, 'quit\ndone\n', `--dry-run --codes ${codes}`, person);
  expect(code.stderr).toContain('quit = 5: 1\n');
  expect(await count(shop, '4\nquit\n', '--new --yes')).toMatchObject({ code: 8 });
});

test('reports an unknown code that is dropped', async ({ shop }) => {
  const { code, stderr } = await count(shop, '4\nfoo1\n= foo1 0\ndone\n', '', person);
  expect(code).toBe(0);
  expect(stderr).toContain('foo1: 1 kept apart, not a known code\n');
  expect(stderr).toContain('foo1: dropped\n');
  expect(stderr).not.toContain('0 kept apart');
});

test('redraws the prompt after each key, and once for several lines that arrive together', async ({ shop }) => {
  const keys = ['4', '2', '\x7f', '\r5\r\r4', '\x1b[A\x15', '\x1b[200~8\r\x1b[201~', '\x04'];
  const { code, stderr } = await count(shop, '', '--dry-run', { ...person, keys });
  expect(code).toBe(0);
  const drawn = stderr.slice(stderr.indexOf('0 units, 0 pets > '), stderr.indexOf('\n▸', 5)).split('\r\x1b[K');
  expect(drawn).toEqual([
    '0 units, 0 pets > ',
    '0 units, 0 pets > 4',
    '0 units, 0 pets > 42',
    '0 units, 0 pets > 4',
    '4: 1\n5: 1\n2 units, 2 pets, 2 scans\n2 units, 2 pets > 4',
    '2 units, 2 pets > ',
    '8: 1\n3 units, 3 pets > ',
    '3 units, 3 pets > ',
  ]);
});

test('asks to recount a pet from zero if its stock changes during the count', async ({ shop }) => {
  let isSold = false;
  const around = async <T>(send: () => Promise<T>): Promise<T> => {
    const answer = await send();
    if (!isSold) {
      isSold = true;
      await shop.run('inventory set 4 37');
    }
    return answer;
  };
  // The last two inputs follow the request to count pet 4 again.
  const keys = ['4\r4\r5\r', '\x04', '4\r', '\x04'].values() as unknown as string[];
  const { code, stderr, written } = await count(shop, '', '', { ...person, around, keys });
  expect(stderr).toContain('4: 39 → 37 while you counted: count it again\n');
  expect({ code, written }).toEqual({ code: 0, written: ['4 {"quantity":1}'] });
});

test('counts the last scanned code as pet 5 after "code 5", even in a resumed session', async ({ shop }) => {
  const lines = 'code 5\nfoo x2\ncode 99999\n-\ncode 8\n-\ncode 5\nfoo\nbar1\ndone\n';
  const taught = await count(shop, lines, '', { ...person, prompts: { confirm: async () => true } });
  expect(taught).toMatchObject({ code: 8, written: ['5 {"quantity":3}'] });
  for (const said of [
    'code 5: ignored, scan an unknown code first\n',
    'code 99999: ignored, there is no pet 99999\n',
    'foo = 8: 2 (+2)\n',
    'code 8: cancelled\n',
    'foo = 5: 2 (+2)\n',
    'foo = 5: 3\n',
  ]) {
    expect(taught.stderr).toContain(said);
  }
  const session = await sessionIn(shop);
  const later = await count(shop, 'foo\nbar1\ncode 8\n', `${session} --yes`);
  expect(later.written.toSorted()).toEqual(['5 {"quantity":4}', '8 {"quantity":2}']);
});

test('includes the units left out in the question of a count, and prints a command to resume it', async ({ shop }) => {
  const { asked, prompts } = confirming(true);
  const { stderr } = await count(shop, '4\nfoo x2\nbar1\ndone\n', '', { ...person, prompts });
  expect(asked).toEqual(['Pet 4 in staging: 39 → 1 (-38), leaving out 3 units of 2 unknown codes. Write this change?']);
  const name = await sessionIn(shop);
  expect(stderr.endsWith(`Hint: petstock inventory count ${name} --codes '<codes.csv>' --env staging\n`)).toBe(true);
});

test('ignores a line in which Ctrl-Z was typed', async ({ shop }) => {
  const result = await count(shop, '4\x1a\n4\ndone\n', '', person);
  expect(result).toMatchObject({ code: 0, written: ['4 {"quantity":1}'] });
  expect(result.stderr).toContain('4␚: ignored, it contains a control character: scan it again\n');
});

const keys = ['4', 'x', ' ', 'é', '😀', '\r', '\n', '\r\n', '\x7f', '\x15', '\x1b[A', '\x1b[200~', '\x1d'];

property(
  'reads the same lines from keys, however the input is split',
  [
    fc.array(fc.constantFrom(...keys), { maxLength: 20 }),
    fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1 }),
    fc.boolean(),
  ],
  (keys, sizes, hasKeys) => {
    const bytes = Buffer.from(keys.join(''));
    const whole = new LineCutter(hasKeys);
    const cutter = new LineCutter(hasKeys);
    const lines: string[] = [];
    for (let at = 0, index = 0; at < bytes.length; index += 1) {
      const size = sizes[index % sizes.length] ?? 1;
      lines.push(...cutter.take(bytes.subarray(at, at + size)).lines);
      at += size;
    }
    expect(lines).toEqual(whole.take(bytes).lines);
    expect(cutter.rest).toBe(whole.rest);
  },
);
