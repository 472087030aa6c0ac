import { expect, test } from 'vitest';
import type { CountEvent } from '../../src/inventory/count/counting.ts';
import { countPrompt, eventLines, modeName, sumText, unknownLines, unknownRows } from '../../src/output/count-text.ts';
import { createPaint } from '../../src/output/terminal.ts';
import { visible } from './render.ts';

const paint = await createPaint(true);
const plain = await createPaint(false);
const names = new Map([[42n, 'Rex']]);
const sum = { units: 1213, pets: 8, unknownUnits: 1, scans: 15 };
const step = { what: 42n, before: 2, after: 5 };
const code = '4006381333931';
const [pet, unknown] = [{ ...step, what: 7n }, { kind: 'unknown', code, why: 'no pet has this code' } as const];
const ids = (from: number, count: number) => Array.from({ length: count }, (_, index) => BigInt(from + index));

test.each<[string, CountEvent, number, string]>([
  ['a unit of a named pet', { kind: 'counted', code: '42', step }, 80, '42 Rex: 5 (+3)'],
  ['a unit of a pet without a name', { kind: 'counted', code: '7', step: pet }, 80, '7: 5 (+3)'],
  ['a scanned code', { kind: 'counted', code, step: pet }, 80, `${code} = 7: 5 (+3)`],
  ['a cancelled unit', { kind: 'cancelled', step }, 80, '42 Rex: 2 (cancelled)'],
  ['a dropped code', { ...unknown, units: 0 }, 80, `${code}: dropped`],
  ['an unknown code', { ...unknown, units: 3 }, 80, `␛[31m${code}: 3 kept apart, no pet has this code␛[39m`],
  [
    'an unknown code that just fits',
    { ...unknown, units: 3 },
    49,
    `␛[31m${code}: 3 kept apart, no pet has this code␛[39m`,
  ],
  ['an unknown code without room for the reason', { ...unknown, units: 3 }, 48, `␛[31m${code}: 3 kept apart␛[39m`],
  ['nothing to cancel', { kind: 'nothingToCancel' }, 80, 'There is no line to cancel'],
  ['a mistake', { kind: 'wrong', code: '42x', why: 'no number' }, 80, '␛[31m42x: ignored, no number␛[39m'],
  ['a cancelled line', { kind: 'lineCancelled', line: '= 42' }, 80, '│ = 42: cancelled'],
  ['the sum', { kind: 'sum' }, 80, '1,213 units, 8 pets, 1 unknown, 15 scans'],
])('prints one line of a count for %s', (_, event, width, line) => {
  expect(eventLines(event, { sum, mode: 'count', names, paint, width }).map(visible)).toEqual([line]);
});

test.each<[string, readonly bigint[], readonly bigint[], number, readonly string[]]>([
  ['no pet', [], [], 80, ["'re' is not a pet or a code: not counted. Type - to cancel a line, or help"]],
  [
    'no pet, with just enough room for the help',
    [],
    [],
    74,
    ["'re' is not a pet or a code: not counted. Type - to cancel a line, or help"],
  ],
  ['no pet, without room for the help', [], [], 73, ["'re' is not a pet or a code: not counted"]],
  ['pets by name and nearby', [42n], [7n], 80, ["'re' is in the names of 1 pet: not counted", '  42 Rex', '  7']],
  ['a pet nearby', [], [42n], 80, ["'re': not counted. Did you mean:", '  42 Rex']],
  ['five pets', [], ids(1, 5), 80, ["'re': not counted. Did you mean:", ...ids(1, 5).map((id) => `  ${id}`)]],
  [
    'seven pets',
    [],
    ids(1, 7),
    80,
    ["'re': not counted. Did you mean:", ...ids(1, 5).map((id) => `  ${id}`), '  … and 2 more'],
  ],
])('shows what an uncounted word may mean: %s', (_, named, near, width, lines) => {
  const event = { kind: 'word', word: 're', named, near } as const;
  expect(eventLines(event, { sum, mode: 'count', names, paint, width })).toEqual(lines);
});

test('shows a question of a count with its choices, wrapped to the terminal', () => {
  const choices = [{ key: 'x', about: '12 units of Guppy', lines: [] }];
  const event = { kind: 'asked', question: { code: '12', otherwise: '', text: '12 beside scans', choices } } as const;
  const shown = (width: number) => eventLines(event, { sum, mode: 'count', names, paint, width }).map(visible);
  expect(shown(80)).toEqual(['␛[33m12 beside scans␛[39m', '  x  12 units of Guppy']);
  expect(shown(12).length).toBeGreaterThan(2);
});

test('wraps the help of a count to the terminal', () => {
  const lines = (width: number) => eventLines({ kind: 'help' }, { sum, mode: 'count', names, paint, width });
  expect([lines(80)[0], lines(80).length]).toEqual([
    '42          counts one unit of pet 42; a bar code or a name works, too',
    8,
  ]);
  expect(Math.max(...lines(40).map(({ length }) => length))).toBeLessThanOrEqual(40);
});

test.each([
  ['count', 80, '1,213 units, 8 pets, 1 unknown > ', 'a stock-take'],
  ['count', 46, '1,213 units, 8 pets, 1 unknown > ', 'a stock-take'],
  ['count', 43, '1,213 units (1 unknown) > ', 'a stock-take'],
  ['count', 31, '1,213 (1 unknown) > ', 'a stock-take'],
  ['take', 20, '1,213 out > ', 'a count of units that went out, with --take'],
  ['add', 20, '1,213 in > ', 'a count of units that came in, with --add'],
] as const)('fits the prompt of a count (%s) into %i columns', (mode, width, prompt, name) => {
  expect([countPrompt(sum, width, mode), modeName(mode)]).toEqual([prompt, name]);
  const known = { ...sum, unknownUnits: 0 };
  expect(countPrompt(known, 80, mode)).toBe(`${sumText(known, mode)} > `);
  expect(countPrompt(known, 20, mode)).not.toContain('unknown');
});

test('lists codes without a pet, at most 50, with their units aligned', () => {
  const codes = (count: number) => new Map(ids(1000, count).map((id) => [`${id}`, 3] as const));
  expect(unknownRows(codes(50), plain)).toHaveLength(50);
  expect(unknownRows(codes(1050), plain).at(-1)).toBe('  … and 1,000 more');
  const two = new Map([
    ['a', 1200],
    [code, 1],
  ]);
  expect(unknownRows(two, plain)).toEqual(['  a              1,200', `  ${code}  1`]);
  expect(unknownRows(new Map([[code, 5]]), plain, 20)).toEqual(['  │ 400638', '  │ 133393', '  │ 1       5']);
  expect(unknownRows(new Map([[code, 5]]), plain, 20, true)).toEqual(['  40063813', '  33931     5']);
  expect(unknownLines(two, paint, 80).map(visible)[0]).toBe('␛[33mNot counted, because no pet is known for them:␛[39m');
  expect(unknownLines(codes(1), plain, 80)).toEqual(['Not counted, because no pet is known for it:', '  1000  3']);
});
