import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { LineCutter } from '../../../../../src/cli/commands/inventory/count/lines.ts';
import fc, { property } from '../../../../support/properties.ts';
import { changeFile, confirming, type Shop, test } from '../../../../support/shop.ts';
import { count, person, scanFile } from './count-rig.ts';

async function withCodes(shop: Shop): Promise<void> {
  const file = changeFile(
    shop,
    'code,petId,name\n94046,6,Guppy\n94047,7,Tetra\n,4,Rabbit\n,5,Red hamster\n,8,Blue hamster\n',
    'c.csv',
  );
  await shop.exits(['config', 'set', 'codes', file], 0);
}

/** Returns the scans in a file, without the comments of petstock. */
function scansIn(file: string): string[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('# '));
}

test('scans into a file, shows the sum and unknown codes, and asks before writing', async ({ shop }) => {
  const file = scanFile(shop);
  const { asked, prompts } = confirming(true);
  const lines = '4\n4 x2\n777777\n-\n\n5\ndone\n';
  const result = await count(shop, lines, [file], { ...person, prompts });
  expect(result).toMatchObject({ code: 0, written: ['4 {"quantity":3}'] });
  const stderr = result.stderr.replaceAll('\r\x1b[K', '');
  expect(stderr.replace(/\s+/g, ' ')).toContain(`Scans go to ${file}. Scan, or type a pet id and Enter. Type - `);
  expect(stderr).toContain('0 units, 0 pets > 4: 1\n1 unit, 1 pet > 4: 3 (+2)\n3 units, 1 pet > ');
  expect(stderr).toContain('\x07777777: 1 kept apart, there is no such pet\n3 units, 1 pet, 1 unknown > ');
  expect(stderr).toMatch(/777777: 0 \(cancelled\)\n(3 units, 1 pet > )?3 units, 1 pet, 2 scans\n3 units, 1 pet > /);
  expect(asked).toEqual(['Pet 4 in staging: 39 → 3 (-36). Write this change?']);
  expect(scansIn(file)).toEqual(['4 x1', '4 x2', '777777', '-', '5 x1']);
  expect(readFileSync(file, 'utf8')).toMatch(
    /^# petstock inventory count, begun \S+\n[^#]+# applied as run \S+, .*\n$/,
  );
});

test('continues with a file that is there, and says what it holds', async ({ shop }) => {
  const file = scanFile(shop);
  const no = await count(shop, '4\ndone\n', [file], { ...person, prompts: { confirm: async () => false } });
  expect(no).toMatchObject({ code: 2, written: [] });
  expect(no.stderr.endsWith(`Hint: petstock inventory count ${file} --env staging\n`)).toBe(true);
  appendFileSync(file, '5 x2');
  const on = await count(shop, '4\ndone\n', [file], person);
  expect(on.stderr).toContain(`${file} holds 3 units, 2 pets. Scan`);
  expect(on.written).toEqual(['4 {"quantity":2}', '5 {"quantity":2}'].filter((row) => on.written.includes(row)));
  expect(scansIn(file)).toEqual(['4 x1', '5 x2', '4 x1']);
  const later = await count(shop, 'done\n', [file, '--dry-run'], person);
  expect(later.stderr.replace(/\s+/g, ' ')).toMatch(/holds 4 units, 2 pets, applied as run \w{4}\. Scan/);
});

test('keeps the scans at Ctrl-C, and leaves no file without any', async ({ shop }) => {
  const file = scanFile(shop);
  const none = await count(shop, 'help\n \n \n', [file], { ...person, ctrlCAt: /done +ends/ });
  expect(none).toMatchObject({ code: 130, stderr: expect.stringContaining('Interrupted. Nothing was counted') });
  expect(existsSync(file)).toBe(false);
  const { code, stderr } = await count(shop, '4\nfoo1\n \n \n \n4\n', [file], { ...person, ctrlCAt: /foo1: 1/ });
  expect(code).toBe(130);
  expect(stderr.replace(/\s+/g, ' ')).toContain(`Interrupted. ${file} keeps 1 unit, 1 pet, 1 unknown.`);
  expect(stderr).toContain(`Hint: petstock inventory count ${file} --env staging\n`);
  expect(scansIn(file)).toEqual(['4 x1', 'foo1']);
});

test('never goes on with a delivery as a stock-take', async ({ shop }) => {
  const file = scanFile(shop);
  const no = { ...person, prompts: { confirm: async () => false } };
  await count(shop, '4\ndone\n', [file, '--add'], no);
  for (const options of [person, {}]) {
    const refused = await count(shop, '4\ndone\n', [file, '--yes'], options);
    expect(refused).toMatchObject({ code: 2, written: [] });
    expect(refused.stderr.replace(/\s+/g, ' ')).toContain(
      'is a count of units that came in, with --add, not a stock-take',
    );
    expect(refused.stderr).toContain(`Hint: petstock inventory count ${file} --add --yes --env staging\n`);
  }
});

test('stops without counting a scan if the file was removed or is written by others', async ({ shop }) => {
  const file = scanFile(shop);
  const onStderr = (change: () => void) => (text: string) => {
    if (text.includes('4: 1')) change();
  };
  const others = await count(shop, '4\n5\n', [file], {
    ...person,
    onStderr: onStderr(() => appendFileSync(file, '8\n')),
  });
  expect(others).toMatchObject({ code: 7, written: [], stderr: expect.stringContaining('Somebody else writes to') });
  expect(scansIn(file)).toEqual(['4 x1', '8']);
  rmSync(file);
  const gone = await count(shop, '4\n5\n', [file], { ...person, onStderr: onStderr(() => rmSync(file)) });
  expect(gone).toMatchObject({ code: 1, written: [], stderr: expect.stringContaining('was removed or replaced') });
  await shop.exits(['inventory', 'count', shop.folders.state], 2, 'is not a file', person);
});

test('asks whether a number beside scans is a pet or how many', async ({ shop }) => {
  await withCodes(shop);
  const file = scanFile(shop);
  const lines = '94046\n12\nx\n94046\n94047\n4\np\n5\n-\n8\na\n8\n94047*94046\n1\n-\n94046\n12\n94047\n-\ndone\n';
  const { stderr, code } = await count(shop, lines, [file, '--dry-run'], person);
  expect({ code, stderr }).toEqual({ code: 0, stderr });
  expect(stderr).toContain('\x0712 beside scans: is it a pet, or how many?\n');
  expect(stderr).toContain('  x  12 units of Guppy\n');
  expect(scansIn(file)).toEqual([
    ...['94046', '-', '94046 x12', '94046', '94047', '4 x1', '8 x1', '8 x1'],
    ...['= 94047 94047', '-', '94046', '12 x1', '94047', '-'],
  ]);
  const read = await count(shop, '', [file, '--dry-run', '--json']);
  expect(read.report.rows.map(({ petId, after }) => [petId, after])).toEqual([
    [6, 14],
    [7, 1],
    [4, 1],
    [8, 2],
    [12, 1],
  ]);
});

test('asks about a number that was typed before the first scan', async ({ shop }) => {
  await withCodes(shop);
  const file = scanFile(shop);
  const typed = async (answer: string) => {
    rmSync(file, { force: true });
    await count(shop, `4\n94046\n${answer}\ndone\n`, [file, '--dry-run'], person);
    return scansIn(file);
  };
  expect(await typed('x')).toEqual(['4 x1', '-', '94046', '-', '94046 x4']);
  expect(await typed('p')).toEqual(['4 x1', '-', '94046', '4 x1']);
  expect(await typed('-')).toEqual(['4 x1', '-', '94046']);
});

test('keeps the first scan before it asks about the number before it', async ({ shop }) => {
  await withCodes(shop);
  const file = scanFile(shop);
  let atQuestion: readonly string[] = [];
  const onStderr = (text: string) => {
    if (text.includes('4 beside scans')) atQuestion = scansIn(file);
  };
  const { stderr, report } = await count(shop, '4\n94046 x3\n', [file, '--dry-run', '--json'], { ...person, onStderr });
  expect(atQuestion).toEqual(['4 x1', '-', '94046 x3']);
  expect(scansIn(file)).toEqual(atQuestion);
  expect(report.rows.map(({ petId, after }) => [petId, after])).toEqual([[6, 3]]);
  expect(stderr.replace(/[\s│]+/g, ' ')).toContain(
    '4 beside scans: is it a pet, or how many? Not answered, so not counted',
  );
});

test('counts a scan at an open question, and names what was not answered', async ({ shop }) => {
  await withCodes(shop);
  const file = scanFile(shop);
  const lines = '94046\n5\nyes\n94047\nx3\nx\n94046\n+2\ndone\n';
  const { stderr } = await count(shop, lines, [file, '--dry-run'], person);
  expect(stderr).toContain('\x075: not answered, so not counted\n7 Tetra: 1\n');
  expect(stderr).toContain('  x  3 units of Tetra\n');
  expect(stderr).toMatch(/Warning: 2 lines were ignored:\n│ 5 beside scans: .*\n│ \+2: is it how many/);
  expect(scansIn(file)).toEqual(['94046', '94047', '-', '94047 x3', '94046']);
  expect(readFileSync(file, 'utf8')).toContain('# 5: not answered, so not counted\n');
});

test('asks about the lines of a file on a terminal with --apply-only', async ({ shop }) => {
  await withCodes(shop);
  const file = scanFile(shop);
  writeFileSync(file, '94046\n12\n94047*94046\n');
  const questions: string[] = [];
  const text = async (question: string) => ['x', 'nonsense', '2'][questions.push(question) - 1] ?? '';
  const { report, code } = await count(shop, '', [file, '--apply-only', '--dry-run', '--json'], {
    ...person,
    prompts: { text },
  });
  expect({ code, rows: report.rows.map(({ petId, after }) => [petId, after]) }).toEqual({
    code: 0,
    rows: [[6, 94_059]],
  });
  expect(questions[0]).toMatch(/^Line 2, 12 beside scans: .*p = pet 12, .*x = 12 units of Guppy, - = neither:$/);
  expect(questions).toHaveLength(3);
  expect(readFileSync(file, 'utf8')).toBe('94046\n12\n94047*94046\n');
});

test('does not count an ambiguous or unknown name at a terminal, and lists possible pets', async ({ shop }) => {
  await withCodes(shop);
  const file = scanFile(shop);
  const { stderr } = await count(shop, 'hamster\nrabit\nxylophone\nrabbit\ndone\n', [file, '--dry-run'], person);
  const said = stderr.replaceAll('\r\x1b[K', '');
  expect(said).toContain("'hamster' is in the names of 2 pets: not counted\n  5 Red hamster\n  8 Blue hamster\n");
  expect(said).toContain("'rabit': not counted. Did you mean:\n  4 Rabbit\n");
  expect(said).toContain("'xylophone' is not a pet or a code: not counted");
  expect(scansIn(file)).toEqual(['rabbit']);
});

test('keeps the lines of a count within 40 columns, even for a long code', async ({ shop }) => {
  const long = `${'9'.repeat(60)}\n4\n9223372036854775807 x99999\n\n94046\n7\ndone\n`;
  await withCodes(shop);
  const { stderr } = await count(shop, long, [scanFile(shop), '--dry-run'], { ...person, terminal: 40 });
  const lines = stderr.split(/\n|(?<= > )/).map((line) => line.replace('\x07', ''));
  const drawn = lines.filter((line) => / > $|^\S+: |^ {2}9|^ {2}[pax-] {2}| → /.test(line));
  expect(drawn.length).toBeGreaterThan(8);
  expect(drawn.filter((line) => line.length > 40 && !/^(Error|Hint|Rate limit|Warning): /.test(line))).toEqual([]);
});

test('rings the bell for a mistaken line at a terminal, ignores it, and lists it at the end', async ({ shop }) => {
  const { asked, prompts } = confirming(true);
  const file = scanFile(shop);
  const { code, stderr, written } = await count(shop, '4\n= 4\n4 x0\n-\n4\x1a\ndone\n', [file], { ...person, prompts });
  expect({ code, written }).toEqual({ code: 0, written: ['4 {"quantity":1}'] });
  expect(stderr).toContain('\x07│ = 4: ignored, write = 42 7 to set pet 42 to 7\n');
  expect(stderr).toContain('4 x0: cancelled\n');
  expect(stderr).toContain('4␚: ignored, it contains a control character: scan it again\n');
  expect(stderr).toContain('Warning: 2 lines were ignored:\n│ = 4: write = 42 7 to set pet 42 to 7\n');
  expect(asked).toHaveLength(1);
  expect(scansIn(file)).toEqual(['4 x1']);
});

test('prints the sum of a count in plain lines with TERM=dumb', async ({ shop }) => {
  const options = { ...person, env: { TERM: 'dumb' } };
  const { stderr } = await count(shop, '4\n777777\ndone\n', [scanFile(shop), '--yes'], options);
  expect(stderr).toContain('\n4: 1\nSum: 1 unit, 1 pet\n');
  expect(stderr).toContain('kept apart, there is no such pet\nSum: 1 unit, 1 pet, 1 unknown\n');
  expect(stderr.replace('\x07', '')).not.toMatch(/ > |[\x00-\x09\x0b-\x1f]/);
});

test('redraws the prompt after each key, and once for several lines that arrive together', async ({ shop }) => {
  const keys = ['4', '2', '\x7f', '\r5\r\r4', '\x1b[A\x15', '\x1b[200~8\t\x1b[201~', '\x04'];
  const { code, stderr } = await count(shop, '', [scanFile(shop), '--dry-run'], { ...person, keys });
  expect(code).toBe(0);
  const drawn = stderr.slice(stderr.indexOf('0 units, 0 pets > '), stderr.indexOf('\n21 pets')).split('\r\x1b[K');
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

test('counts on while the service is away, and warns that ids are checked at the end', async ({ shop }) => {
  shop.service.setFaults(['GET /inventory:first=5:status=503']);
  const { stderr, written } = await count(shop, '4\n999\ndone\n', [scanFile(shop)], person);
  expect(stderr.replace(/\s+/g, ' ')).toContain('Pet ids are checked once the count is done');
  expect(stderr).toContain('\n  999  1\n');
  expect(written).toEqual(['4 {"quantity":1}']);
});

test('ends a scan with a frame, a TAB, CR and LF, also one after another', () => {
  for (const hasKeys of [true, false]) {
    const linesOf = (text: string) => new LineCutter(hasKeys).take(Buffer.from(text)).lines;
    expect(linesOf('\x024\x03\x025\x03\r\n6\t\r\n7\t8\t\r\r\n')).toEqual(['\x024', '\x025', '6', '7', '8', '']);
  }
});

test('does not go on with a file that says done, or that is UTF-16', async ({ shop }) => {
  const file = scanFile(shop);
  writeFileSync(file, '4\ndone\n');
  const done = await count(shop, '5\n', [file], person);
  expect(done).toMatchObject({ code: 2, stderr: expect.stringContaining('has a line "done"') });
  writeFileSync(file, Buffer.from('\uFEFF4\r\n', 'utf16le'));
  const wide = await count(shop, '5\n', [file], person);
  expect(wide).toMatchObject({ code: 2, requests: [], stderr: expect.stringContaining('--apply-only') });
  expect(await count(shop, '', [file, '--apply-only', '--dry-run'], person)).toMatchObject({ code: 0 });
});

const keys = [
  '4',
  'x',
  ' ',
  'é',
  '😀',
  '\r',
  '\n',
  '\r\n',
  '\t',
  '\x02',
  '\x03',
  '\x7f',
  '\x15',
  '\x1b[A',
  '\x1b[200~',
  '\x1d',
];

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
