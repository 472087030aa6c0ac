import { expect, test } from 'vitest';
import {
  codeProblem,
  codeText,
  type KnownTexts,
  parseScanLine,
  petIdOfCode,
  type ScanLine,
} from '../../src/inventory/count/scan-line.ts';
import { type Counted, type CountStep, Tally } from '../../src/inventory/count/tally.ts';
import fc, { anyText, property } from '../support/properties.ts';

const no = () => false;
const nothing: KnownTexts = { isBarCode: no, isName: no, isPet: no };
const knowing = (...codes: readonly string[]): KnownTexts => ({
  ...nothing,
  isBarCode: (text) => codes.includes(text),
});

test.each<readonly [string, ScanLine]>([
  ['42', { kind: 'add', code: '42', units: 1, isBare: true }],
  ['1042', { kind: 'add', code: '1042', units: 1 }],
  ['4;12;x', { kind: 'add', code: '4', units: 12 }],
  ['8710841030181,12,003278,14:41:03', { kind: 'add', code: '8710841030181', units: 12 }],
  ['Barcode,Quantity', { kind: 'comment' }],
  ['Sand, 5 kg', { kind: 'add', code: 'Sand, 5 kg', units: 1 }],
  ['# aisle 3', { kind: 'comment' }],
  ['42 x3', { kind: 'add', code: '42', units: 3 }],
  ['42*3', { kind: 'add', code: '42', units: 3 }],
  ['42 * 3', { kind: 'add', code: '42', units: 3 }],
  ['-7 x2', { kind: 'add', code: '-7', units: 2 }],
  ['AB 12 x2', { kind: 'add', code: 'AB 12', units: 2 }],
  ['42x3', { kind: 'add', code: '42x3', units: 1 }],
  ['blue*12A', { kind: 'add', code: 'blue*12A', units: 1 }],
  ['blue x large', { kind: 'add', code: 'blue x large', units: 1 }],
  ['x3', { kind: 'many', units: 3 }],
  ['\u00d7 12', { kind: 'many', units: 12 }],
  ['\uff13', { kind: 'add', code: '\uff13', units: 1 }],
  ['3x', { kind: 'many', units: 3 }],
  [
    '3*94047',
    {
      kind: 'either',
      readings: [
        { code: '3', units: 94_047 },
        { code: '94047', units: 3 },
      ],
    },
  ],
  ['-', { kind: 'back' }],
  ['', { kind: 'sum' }],
  ['done', { kind: 'done' }],
  ['= 42 7', { kind: 'set', code: '42', units: 7 }],
])('parses the scanned line %j', (line, meaning) => {
  expect(parseScanLine(line, nothing)).toEqual(meaning);
});

test.each([
  '42 x0',
  '42 x-1',
  '42 x1.5',
  '42 x4006381333931',
  '8710841030181,1.5',
  '= 42',
  '=',
  '= 42 -1',
  '= 42 40063813',
  '42*',
  '42*0003',
  '- 42',
  '-42 ',
  'done 42',
])('refuses the scanned line %j, and explains what to write', (line) => {
  expect(parseScanLine(line, nothing)).toEqual({
    kind: 'wrong',
    problem: expect.stringMatching(/\b(write|type) /),
  });
});

test('reads a whole line as a code if the code is known', () => {
  const codes = ['42*3', 'A x2', '007', '#7', '12'];
  for (const code of codes) expect(parseScanLine(code, knowing(...codes))).toEqual({ kind: 'add', code, units: 1 });
  expect(parseScanLine('42*3 x2', knowing(...codes))).toEqual({ kind: 'add', code: '42*3', units: 2 });
});

test.each<readonly [string, ScanLine]>([
  ['3*94046', { kind: 'add', code: '94046', units: 3 }],
  ['94046 x3', { kind: 'add', code: '94046', units: 3 }],
  ['4006381333931*94046', { kind: 'wrong', problem: 'write 1 to 99,999 units' }],
  ['94046,3', { kind: 'add', code: '94046', units: 3 }],
  ['003278,94046,12', { kind: 'wrong', problem: '"94046" is a bar code: write the code first, then how many' }],
  ['3;PUP-1', { kind: 'wrong', problem: '"PUP-1" is a bar code: write the code first, then how many' }],
  ['94046x3', { kind: 'either', readings: [{ code: '94046', units: 3 }] }],
  ['PUP-1 3', { kind: 'either', readings: [{ code: 'PUP-1', units: 3 }] }],
  ['3\u00d794046', { kind: 'add', code: '94046', units: 3 }],
  ['3*094046', { kind: 'either', readings: [{ code: '94046', units: 3 }] }],
  ['SHELF*PUP-1', { kind: 'add', code: 'SHELF*PUP-1', units: 1 }],
  [
    '94046*94047',
    {
      kind: 'either',
      readings: [
        { code: '94046', units: 94_047 },
        { code: '94047', units: 94_046 },
      ],
    },
  ],
  ['PUP-1*94047', { kind: 'either', readings: [{ code: 'PUP-1', units: 94_047 }] }],
  ['PUP-1*PUP-1', { kind: 'wrong', problem: 'write one code a line' }],
])('reads which side of %j is how many by the known codes', (line, meaning) => {
  expect(parseScanLine(line, knowing('94046', '94047', 'PUP-1'))).toEqual(meaning);
});

test('removes 300,000 control characters around a code, and replaces as many inside a code', () => {
  const run = '\x02'.repeat(300_000);
  expect(codeText(`${run}42${run}`)).toBe('42');
  expect(codeText(`4${run}2`)).toBe(`4${'␂'.repeat(300_000)}2`);
});

test('reads a code as a pet id only if it is a 64-bit integer in canonical form', () => {
  expect(['42', '-7', '0', '9223372036854775807'].map(petIdOfCode)).toEqual([42n, -7n, 0n, 9223372036854775807n]);
  expect(['042', '+42', '4.2', '-0', '9223372036854775808', '４２', ''].map(petIdOfCode)).toEqual(
    Array.from({ length: 7 }),
  );
});

test('parses any scanned line, and reads a code with its units', () => {
  fc.assert(
    fc.property(anyText({ maxLength: 300 }), (line) => {
      expect(parseScanLine(line, nothing).kind).toMatch(/^(add|set|back|comment|either|many|sum|done|wrong)$/);
    }),
  );
  const code = fc
    .string({ maxLength: 30 })
    .filter((text) => codeProblem(text) === undefined && codeText(text) === text);
  fc.assert(
    fc.property(code, fc.integer({ min: 1, max: 99_999 }), (text, units) => {
      const known = knowing(text);
      expect(parseScanLine(text, known)).toEqual({ kind: 'add', code: text, units: 1 });
      for (const line of [`${text} x${units}`, `${text} * ${units}`]) {
        expect(parseScanLine(line, known)).toEqual({ kind: 'add', code: text, units });
      }
      expect(parseScanLine(`= ${text} ${units}`, known)).toEqual({ kind: 'set', code: text, units });
    }),
  );
});

const what = fc.constantFrom<Counted>(4n, 42n, 9223372036854775807n, '42', '007');
const step = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), what, units: fc.integer({ min: 1, max: 9 }) }),
  fc.record({ kind: fc.constant('set' as const), what, units: fc.integer({ min: 0, max: 9 }) }),
  fc.record({ kind: fc.constant('back' as const) }),
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

property('counts only the steps that were not cancelled', [fc.array(step)], (steps) => {
  const tally = new Tally();
  const kept: (Exclude<Step, { kind: 'back' }> & { readonly taken: CountStep })[] = [];
  for (const one of steps) {
    if (one.kind !== 'back') kept.push({ ...one, taken: tally[one.kind](one.what, one.units) });
    else {
      const last = kept.pop();
      if (last !== undefined) tally.takeBack(last.taken);
    }
  }
  const expected = new Map<Counted, number>();
  for (const { kind, what: counted, units } of kept) {
    expected.set(counted, kind === 'set' ? units : (expected.get(counted) ?? 0) + units);
  }
  const pets = [...expected].filter(([key]) => typeof key === 'bigint');
  const unknown = [...expected].filter(([key, units]) => typeof key === 'string' && units > 0);
  expect(new Map(tally.counts())).toEqual(new Map(pets));
  expect(new Map(tally.unknowns())).toEqual(new Map(unknown));
  const sum = (entries: readonly (readonly [Counted, number])[]) => entries.reduce((all, [, units]) => all + units, 0);
  expect(tally).toMatchObject({
    units: sum(pets),
    pets: pets.length,
    unknownUnits: sum(unknown),
    scans: kept.length,
  });
});
