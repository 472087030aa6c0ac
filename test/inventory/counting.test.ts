import { expect, test } from 'vitest';
import { Counting } from '../../src/inventory/count/counting.ts';
import { codesOf } from '../change-files/reading.ts';
import fc, { property } from '../support/properties.ts';

const codes = await codesOf('94046,6,Guppy', '94047,7', '4006381333931,4', 'case-6,4,,,6');
const pets = new Set(Array.from({ length: 30 }, (_, index) => BigInt(index)));

/** Lines of a person at a terminal: scans, ids, quantities, mistakes, answers and other words. */
const typed = fc.constantFrom(
  ...['94046', '94047 x3', '3*94046', '94046*94047', '4006381333931', ']E04006381333931', 'case-6', 'case-6 x2'],
  ...['4', '12', '999', '4 x2', '= 4 7', '= 94046 0', '4,5', 'guppy', 'unknown-1', 'unknown-1 x2', '-', '-', ''],
  ...['x3', '+12', '0003', '94046x3', '3*094046', '3*95000', 'yes', 'x 0'],
  ...['p', 'a', 'x', '1', '2', '4 x0', '= 4', '# note', 'help'],
);

const sumsOf = ({ tally }: Counting) => ({
  pets: new Map(tally.counts()),
  unknown: new Map(tally.unknowns()),
});

property(
  'keeps lines that count the same when the file is read in a script',
  [fc.array(typed, { maxLength: 40 })],
  (lines) => {
    const counting = new Counting({ codes, pets });
    const kept = lines.flatMap((line) => counting.take(line).kept);
    const read = new Counting({ codes, pets });
    read.lookAhead(kept);
    for (const [index, line] of kept.entries()) read.take(line, { line: index + 1, asks: false });
    expect(read.mistakes).toEqual([]);
    expect(sumsOf(read)).toEqual(sumsOf(counting));
  },
);

property(
  'keeps lines with which a count can go on at any point',
  [fc.array(typed, { maxLength: 30 }), fc.nat(30)],
  (lines, at) => {
    const whole = new Counting({ codes, pets });
    const kept: string[] = [];
    for (const line of lines.slice(0, at)) kept.push(...whole.take(line).kept);
    const later = new Counting({ codes, pets });
    later.lookAhead(kept);
    for (const [index, line] of kept.entries()) later.take(line, { line: index + 1, asks: true });
    expect(later.question).toBe(undefined);
    expect(sumsOf(later)).toEqual(sumsOf(whole));
  },
);

property(
  'counts nothing of a line with two meanings until it is answered',
  [fc.array(typed, { maxLength: 20 })],
  (lines) => {
    const counting = new Counting({ codes, pets });
    for (const line of lines) {
      const before = sumsOf(counting);
      const asked = counting.question;
      const { kept } = counting.take(line);
      if (asked === undefined || counting.question !== asked) continue;
      expect(kept).toEqual([]);
      expect(sumsOf(counting)).toEqual(before);
    }
  },
);

property(
  'loses no scan while a question is open',
  [
    fc.array(typed, { maxLength: 20 }),
    fc.constantFrom(
      ...([
        ['94047', 7n],
        ['guppy', 6n],
        ['unknown-1', 'unknown-1'],
      ] as const),
    ),
  ],
  (lines, [scan, what]) => {
    const counting = new Counting({ codes, pets });
    for (const line of lines) counting.take(line);
    const before = counting.tally.unitsOf(what);
    expect(counting.take(scan).kept).toContain(scan);
    expect(counting.tally.unitsOf(what)).toBe(before + 1);
  },
);

test('never counts a number beside scans in a script, wherever it stands', () => {
  const rest = fc.array(fc.constantFrom('94046', '94047 x3', '4 x1', 'guppy'), { maxLength: 4 });
  fc.assert(
    fc.property(rest, rest, fc.integer({ min: 0, max: 999 }), (before, after, number) => {
      const lines = [...before, `${number}`, ...after];
      const counting = new Counting({ codes, pets });
      counting.lookAhead(lines);
      for (const [index, line] of lines.entries()) counting.take(line, { line: index + 1, asks: false });
      const hasScans = [...before, ...after].some((line) => line.startsWith('94'));
      expect(counting.mistakes.map(({ line }) => line)).toEqual(hasScans ? [before.length + 1] : []);
    }),
  );
});
