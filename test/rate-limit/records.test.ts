import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeRecord, encodeRecord, type LedgerRecord } from '../../src/rate-limit/records.ts';

const record = fc.record({
  type: fc.constant('start' as const),
  boot: fc.string({ unit: 'binary' }),
  env: fc.string({ unit: 'binary' }),
  at: fc.double({ noNaN: true, noDefaultInfinity: true }).map((at) => at + 0),
  wall: fc.integer(),
});

test('what is written is read back, as one line of ASCII', () => {
  fc.assert(
    fc.property(record, (start) => {
      const line = encodeRecord(start);
      expect(line).toMatch(/^[ -~]*$/);
      expect(decodeRecord(line)).toEqual(start);
    }),
  );
});

test('with one character changed, missing or too many it is none', () => {
  fc.assert(
    fc.property(record, fc.nat(), fc.constantFrom('', 'x', '\\', '00'), (start, where, put) => {
      const line = encodeRecord(start);
      const index = where % line.length;
      const changed = line.slice(0, index) + put + line.slice(index + 1);
      fc.pre(changed !== line);
      expect(decodeRecord(changed)).toBeUndefined();
    }),
  );
});

test.each(['', ' ', '00000000 ', '{}', '0'.repeat(9), `zzzzzzzz ${'{}'}`])('%j is no record', (line) => {
  expect(decodeRecord(line)).toBeUndefined();
});

test('a record of a type of later versions is one', () => {
  expect(decodeRecord(encodeRecord({ type: 'later' } as unknown as LedgerRecord))).toEqual({ type: 'later' });
});
