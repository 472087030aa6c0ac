import { describe, expect, it } from 'vitest';
import { bareNumber, readPetId } from '../../src/change-files/cell-values.ts';
import fc from '../support/properties.ts';

const looksRounded = /looks like an id that a spreadsheet rounded/;
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

describe('bareNumber', () => {
  it.each(['123', ' 123 ', "'123", "' 123 ", '="123"', '=" 123 "', ' ="123" '])(
    'reads the number in the cell %j',
    (text) => {
      expect(bareNumber(text)).toBe('123');
    },
  );

  it.each(['="123', '123"', '="', '12"3'])('leaves the cell %j as it is', (text) => {
    expect(bareNumber(text)).toBe(text);
  });

  it('reads an empty formula text as blank', () => {
    expect(bareNumber('=""')).toBe('');
  });
});

describe('readPetId', () => {
  it('reads every int64, even with zeros at its end', () => {
    fc.assert(
      fc.property(int64, fc.nat(15), (id, zeros) => {
        const rounded = (id / 10n ** BigInt(zeros)) * 10n ** BigInt(zeros);
        expect(readPetId(`${rounded}`)).toEqual({ ok: true, value: rounded });
      }),
    );
  });

  it.each([
    '1.23E+18',
    '1,23E+18',
    '9E+18',
    '1.23e18',
    '-1.23E+18',
    '+1E+18',
    '12E+18',
    '12345678901234500000',
    '-12345678901234500000',
    '123456789012345000000000',
  ])('reports that a spreadsheet has rounded the id %j', (text) => {
    expect(readPetId(text)).toMatchObject({ ok: false, problem: expect.stringMatching(looksRounded) });
  });

  it.each([
    'SKU1E5',
    '1E5x',
    '1E-5',
    'E5',
    '1.E5',
    'x12345678901234500000',
    '12345678901234500000x',
    '12345678901234567890',
    '12345678901234x0000000',
  ])('does not report the id %j as rounded', (text) => {
    expect(readPetId(text)).toMatchObject({ ok: false, problem: expect.not.stringMatching(looksRounded) });
  });
});
