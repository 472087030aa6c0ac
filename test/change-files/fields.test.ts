import { describe, expect, it, test } from 'vitest';
import { fieldOf, fields, nearestField } from '../../src/change-files/field-names.ts';

describe('fieldOf', () => {
  test.each([
    ['petId', 'petId'],
    ['PET ID', 'petId'],
    ['p_e-t\u00a0ID', 'petId'],
    ['id', 'petId'],
    ['qty', 'quantity'],
    ['Adjust', 'delta'],
    ['pets', undefined],
    ['constructor', undefined],
    ['', undefined],
  ])('%j', (name, field) => expect(fieldOf(name)).toBe(field));
});

describe('nearestField', () => {
  test.each([
    ['expectd', 'expected'],
    ['Exepcted', 'expected'],
    ['quanity', 'quantity'],
    ['qtty', 'quantity'],
    ['petid2', 'petId'],
    ['resaon', 'reason'],
    ['stock', 'quantity'],
    ['Pet', 'petId'],
    ['Reference', 'ref'],
    ['ids', 'petId'],
    ['colour', undefined],
    ['x', undefined],
    ['x'.repeat(1_000_000), undefined],
  ])('%s', (name, field) => expect(nearestField(name)).toBe(field));

  it('leaves no field with a letter less alone', () => {
    for (const field of fields.filter((name) => name.length > 4)) {
      for (let at = 1; at < field.length; at += 1) {
        expect(nearestField(field.slice(0, at) + field.slice(at + 1))).toBe(field);
      }
    }
  });
});
