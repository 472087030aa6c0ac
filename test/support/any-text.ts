import fc from './seeded-fast-check.ts';

/**
 * Returns an arbitrary for text of whole code points, half of them ASCII. `fc.string({ unit: 'binary' })` does the
 * same, but its first use spends two seconds on a table of code points.
 */
export function anyText(constraints: fc.ArrayConstraints = {}): fc.Arbitrary<string> {
  const codePoint = fc.oneof(
    { arbitrary: fc.integer({ min: 0, max: 0x7f }), weight: 2 },
    { arbitrary: fc.integer({ min: 0x80, max: 0xd7ff }), weight: 1 },
    { arbitrary: fc.integer({ min: 0xe000, max: 0x10ffff }), weight: 1 },
  );
  return fc.array(codePoint, constraints).map((codePoints) => String.fromCodePoint(...codePoints));
}
