import { writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { changeFile, errorJson, openShop, type Shop, stockOf, test } from '../../../../support/shop.ts';
import { count, scanFile } from './count-rig.ts';

async function withCodes(shop: Shop, text: string): Promise<string> {
  const file = changeFile(shop, text, 'codes.csv');
  await shop.exits(['config', 'set', 'codes', file], 0);
  return file;
}

const afters = ({ report }: Awaited<ReturnType<typeof count>>) =>
  report.rows.map(({ petId, after }) => `${petId} ${after}`);

test('sets the stock to the scanned units in a run that can be undone', async ({ shop }) => {
  const before = await stockOf(shop);
  const result = await count(shop, '# aisle 3\n4\n4\n5 x3\n8*2\n-\n= 1 12\n\ndone\n');
  expect(result).toMatchObject({ code: 0, written: ['4 {"quantity":2}', '5 {"quantity":3}'] });
  expect(result.requests).toHaveLength(3);
  const counts = { applied: 2, unchanged: 1, failed: 0, conflict: 0 };
  expect(result.report).toMatchObject({ env: 'staging', dryRun: false, counts });
  expect(afters(result)).toEqual(['4 2', '5 3', '1 12']);
  const [run] = await shop.json('history list --json');
  expect(run).toMatchObject({ command: 'inventory count', reason: 'stock-take', state: 'done', file: '-' });
  expect((await shop.run('undo --last --yes')).code).toBe(0);
  expect(await stockOf(shop)).toEqual(before);
});

test('reads a named file of scans, also one without a last line end', async ({ shop }) => {
  const file = scanFile(shop);
  for (const text of ['4\r\n4\r\n5', '4\r\n4\r\n5\r\n\x1a', '4\n4\n5\x1a\x1a', '\uFEFF4\t4\t5\t', '4\r4\r5\r']) {
    writeFileSync(file, text);
    expect(afters(await count(shop, 'ignored', `${file} --yes --json`))).toEqual(['4 2', '5 1']);
  }
  writeFileSync(file, Buffer.from('\uFEFF4 x2\r\n5\r\n', 'utf16le'));
  expect(afters(await count(shop, '', ['--yes', '--json', file]))).toEqual(['4 2', '5 1']);
  await shop.exits(['inventory', 'count', `${file}.gone`, '--yes'], 2, 'There is no file');
});

test('counts pets with ids up to the largest int64', async ({ shop }) => {
  const { written } = await count(shop, '9007199254740993 x2\n9223372036854775807\n');
  expect(written).toEqual(['9007199254740993 {"quantity":2}', '9223372036854775807 {"quantity":1}']);
});

test('counts pets by name, and keeps an ambiguous name apart', async ({ shop }) => {
  await withCodes(shop, 'code,petId,name\nabc,7,\n,4,Rabbit\n,5,Red hamster\n,8,Blue hamster\n,12,Sand x 5\n');
  const result = await count(shop, 'rabbit\nRABBIT x2\nblue\n= red hamster 7\nSand x 5\nsand x 5 x2\nhamster\n');
  expect(afters(result)).toEqual(['4 3', '8 1', '5 7', '12 3']);
  expect(result).toMatchObject({ code: 8 });
  expect(errorJson(result.stderr).error.message).toContain('Not counted: 1 unit of 1 unknown code.\n  hamster  1');
});

test('reads A x B of a till: what is a known bar code is what was scanned', async ({ shop }) => {
  await withCodes(shop, 'code,petId\n94046,6\n94047,7\n4006381333931,8\n');
  const lines = '3*94046\n3 x 94046\n94046 x3\n94046*3\n2*4006381333931\n4006381333931;5;x\n1 x12345\n';
  expect(afters(await count(shop, lines, '--dry-run --json'))).toEqual(['6 12', '8 7', '1 12345']);
});

test('refuses two bar codes on a line, and a bare number beside scans, with the number of the line', async ({
  shop,
}) => {
  await withCodes(shop, 'code,petId,name\n94046,6,Guppy\n94047,7,Tetra\n');
  for (const [lines, line, said] of [
    ['94046\n94046*94047\n', 2, 'it may be 94,047 of Guppy (write = 94046 94048) or 94,046 of Tetra'],
    ['4\n94046\n', 1, 'it may be pet 4 (write 4 x1) or how many of a scan'],
    ['94046\n4\n', 2, 'it may be pet 4 (write 4 x1) or 4 units of Guppy (write 94046 x4)'],
    ['94046\n555\n94047\n', 2, 'it may be pet 555 (write 555 x1) or 555 units of Guppy (write 94046 x555)'],
    ['94046\nx3\n', 2, 'it may be 3 units of Guppy (write 94046 x3) or how many of a scan'],
    ['4\n+3\n', 2, 'it may be 3 units of pet 4 (write 4 x3) or how many of a scan'],
    ['0003\n94046\n', 1, 'write the code and how many on one line'],
    ['94046\n94046x3\n', 2, 'it may be 3 of Guppy (write = 94046 4) or a code that is not known'],
    ['3*094046\n', 1, 'it may be 3 of Guppy (write = 94046 3)'],
    ['3*94048\n', 1, 'it may be 94,048 of pet 3 (write = 3 94048) or 3 of 94048 (write = 94048 3)'],
    ['4006381333931\n12\n', 2, 'it may be pet 12 (write 12 x1) or 12 units of 4006381333931'],
  ] as const) {
    const { code, written, stderr, requests } = await count(shop, lines);
    expect({ code, written, requests }).toEqual({ code: 2, written: [], requests: [] });
    expect(errorJson(stderr).error.faults).toMatchObject([{ line, message: expect.stringContaining(said) }]);
  }
  expect(afters(await count(shop, '4 x1\n94046\n1234\n', '--dry-run --json'))).toEqual(['4 1', '6 1']);
  expect(afters(await count(shop, '94046\n4\n-\n', '--dry-run --json'))).toEqual(['6 1']);
});

test.for([
  ['12-digit UPC-A', '036000291452', ['0036000291452', '00036000291452', '36000291452']],
  ['13-digit EAN-13', '4006381333931', ['04006381333931', ']E04006381333931', '(01)04006381333931(10)LOT7']],
  [
    'GS1 with separators',
    '04006381333931',
    ['\x1d010400638133393110AB\x1d21X', ']C1010400638133393117251231', '4006381333931'],
  ],
] as const)('reads each spelling of one article: %s', async ([, code, others], { shop }) => {
  await withCodes(shop, `code,petId\n${code},4\n`);
  const result = await count(shop, [code, ...others, ''].join('\n'), '--dry-run --json');
  expect(afters(result)).toEqual([`4 ${others.length + 1}`]);
});

test('counts the units of a case, and warns of a column that means nothing', async ({ shop }) => {
  const file = await withCodes(shop, 'code,petId,units\n4006381333931,4,1\n14006381333938,4,6\n');
  expect(afters(await count(shop, '14006381333938 x2\n4006381333931\n', '--dry-run --json'))).toEqual(['4 13']);
  for (const [lines, said] of [
    ['14006381333938\n2\n', 'or 12 units of 14006381333938 (write 14006381333938 x2)'],
    ['14006381333938\nx2\n', 'it may be 12 units of 14006381333938 (write 14006381333938 x2)'],
    ['4006381333931\n14006381333938x2\n', 'it may be 12 of 14006381333938 (write = 14006381333938 13)'],
  ] as const) {
    const { stderr } = await count(shop, lines);
    expect(errorJson(stderr).error.faults[0].message).toContain(said);
  }
  writeFileSync(file, 'code,petId,unit,shelf\n4006381333931.0,4,6,B\n');
  const { report, stderr } = await count(shop, '4006381333931\n', ['--dry-run', '--json', '--codes', file]);
  expect(report.rows).toMatchObject([{ petId: 4, after: 1 }]);
  expect(stderr.replace(/\s+/g, ' ')).toContain('has the columns "unit", "shelf", and they are not used');
});

test('reads the file of a data collector, with a header, commas or semicolons', async ({ shop }) => {
  await withCodes(shop, 'code,petId\n8710841030181,4\n8710841090246,5\n');
  for (const lines of [
    '8710841030181,12,003278,14:41:03,23/11/2009\n8710841090246,2,003278,14:41:04,23/11/2009\n',
    'Barcode;Qty\n"8710841030181";"12"\n8710841090246;2;x\n',
  ]) {
    expect(afters(await count(shop, lines, '--dry-run --json'))).toEqual(['4 12', '5 2']);
  }
  const wrong = await count(shop, '8710841030181,1.5\n8710841030181,\n1,0\n003278,8710841030181,12\n');
  expect(errorJson(wrong.stderr).error.faults.map(({ line }: { line: number }) => line)).toEqual([1, 2, 3, 4]);
});
test('refuses a mistaken line with its number, and sends nothing', async ({ shop }) => {
  for (const [line, why] of [
    ['= 4', 'write = 42 7 to set pet 42 to 7'],
    ['= 4 -1', 'write 0 to 9,999,999 units'],
    ['4 x100000', 'write 1 to 99,999 units'],
    ['4 x4006381333931', 'write 1 to 99,999 units'],
    ['4 x0', 'write 1 to 99,999 units'],
    ['A-4*1.5', 'write 1 to 99,999 units'],
    ['rabbit x', 'write 1 to 99,999 units'],
    ['- 4', 'to cancel the last line, type - and nothing else'],
    ['done now', 'to end the count, type done and nothing else'],
  ] as const) {
    await withCodes(shop, 'code,petId,name\nA-4,4,Rabbit\n');
    const { code, stderr, stdout, requests } = await count(shop, `4\n8\n${line}\n8\n`);
    expect({ code, stdout, requests }).toEqual({ code: 2, stdout: '', requests: [] });
    expect(errorJson(stderr).error).toMatchObject({
      kind: 'usage',
      message: 'stdin has an error. Nothing was written.',
      faults: [{ line: 3, message: expect.stringContaining(`${line}: ${why}`) }],
    });
    expect(await count(shop, `4\n${line}\n-\n8\n`, '--dry-run')).toMatchObject({ code: 0 });
  }
});

test('lists unknown codes without counting them, and ends with the command that counts them', async ({ shop }) => {
  const file = scanFile(shop);
  writeFileSync(file, '4 x1\n004\n004\n7777777\nfoo x2\nfoo x0\nSHELF*12A\n');
  const result = await count(shop, '', `${file} --yes`);
  expect(result).toMatchObject({ code: 8, written: ['4 {"quantity":1}'] });
  for (const line of ['  004        2\n', '  7777777    1\n', '  foo        2\n', '  SHELF*12A  1\n']) {
    expect(result.stderr).toContain(line);
  }
  expect(result.stderr).toMatch(/Error: Not counted: 7 units of 5 unknown codes\.\n/);
  expect(result.stderr).toContain(`Hint: petstock inventory count ${file} --yes --env staging\n`);
});

test('suggests codes add for the file of --codes, and the same scans for stdin', async ({ shop }) => {
  const codes = changeFile(shop, 'code,petId\n55,4\n', 'own.csv');
  const { code, stderr } = await count(shop, 'foo x2\n', ['--yes', '--codes', codes]);
  expect(code).toBe(9);
  expect(stderr).toContain(`Hint: petstock inventory codes add foo '<petId>' --codes ${codes}\n`);
  await shop.exits(['inventory', 'codes', 'add', 'foo', '7', '--codes', codes], 0);
  const rest = await count(shop, 'foo x2\nbar\n', ['--yes', '--codes', codes]);
  expect(rest).toMatchObject({ code: 8, written: ['7 {"quantity":2}'] });
  expect(rest.stderr).toContain(`Hint: petstock inventory count --codes ${codes} --yes --env staging < '<file>'\n`);
});

test('looks for the file before it wants --yes', async ({ shop }) => {
  expect(await shop.refused(['inventory', 'count', scanFile(shop, 'gone.txt')])).toContain('There is no file');
});

test('suggests what teaches a code if no scanned code is known, and never the same command', async ({ shop }) => {
  const { code, stderr } = await count(shop, 'foo x2\n', '--yes');
  expect(code).toBe(9);
  expect(stderr).toContain("Hint: petstock config set codes '<codes.csv>'\n");
  await withCodes(shop, 'code,petId\n55,4\n');
  expect((await count(shop, 'foo x2\n', '--yes')).stderr).toContain(
    "Hint: petstock inventory codes add foo '<petId>'\n",
  );
});

test('reports codes whose pet the service does not have', async ({ shop }) => {
  await withCodes(shop, 'code,petId\n55555555,99999\n56,99999\n');
  const script = await count(shop, '4 x1\n55555555 x2\n56\n99998\n', '--yes');
  expect(script.code).toBe(8);
  expect(script.stderr).toMatch(
    /\n {2}55555555, 56 \(pet 99999, which the service does not have\) {2}3\n {2}99998 +1\n/,
  );
});

test('refuses scans after "done", and an empty count even with --yes and --all', async () => {
  const shop = await openShop({ pets: 5 });
  expect(await count(shop, '4\ndone\n7\n')).toMatchObject({
    code: 2,
    requests: [],
    stderr: expect.stringContaining('\\"7\\" follows \\"done\\", which ends a count. Nothing was written.'),
  });
  for (const lines of ['', '\n-\n', 'done\n', '4\n-\n', '= foo 0\n', '# 4\n']) {
    for (const args of ['--yes', '--yes --all', '--all --to -', '--all --dry-run']) {
      const result = await count(shop, lines, args);
      expect(result, `${args}: ${lines}`).toMatchObject({ code: 2, stdout: '', requests: [] });
      expect(result.stderr).toContain('Nothing was counted');
    }
  }
});

test('refuses a piped count without --yes or --to', async ({ shop }) => {
  const stderr = await shop.refused('inventory count', { stdin: '4\n' });
  expect(stderr).toMatch(/This needs confirmation.*\nHint: petstock inventory count --dry-run/);
});

test('sets unscanned pets to 0 with --all, but not beyond max-zero or with unknown codes', async () => {
  const shop = await openShop({ pets: 5 });
  const guarded = await count(shop, '1\n', '--yes --all --max-zero 1');
  expect(guarded.requests.map(({ method }) => method)).toEqual(['GET']);
  expect(guarded).toMatchObject({ code: 2, written: [], stderr: expect.stringContaining('max-zero allows 1') });
  expect(await count(shop, '1\nfoo\n', '--yes --all')).toMatchObject({ code: 2, written: [] });
  expect((await count(shop, '1\nfoo\n= foo 0\n', '--yes --all')).code).toBe(0);
  expect(new Set((await stockOf(shop)).values())).toEqual(new Set([0, 1]));
});

test('warns of pets that --all sets to 0 although no bar code counts them', async () => {
  const shop = await openShop({ pets: 7 });
  await shop.exits('inventory set 3 7', 0);
  await withCodes(shop, 'code,petId\n94046,1\n94047,2\n94048,4\n');
  const { stderr } = await count(shop, '94046\n', '--all --dry-run');
  expect(stderr.replace(/\s+/g, ' ')).toContain('4 pets that --all sets to 0 have no bar code in the codes file');
  expect(stderr).toContain('  3: 7 → 0\n');
});

test('writes no stock in a dry run, which ends with 3 if it would', async ({ shop }) => {
  expect(await count(shop, '4\n', '--dry-run --exit-code')).toMatchObject({ code: 3, written: [] });
});
