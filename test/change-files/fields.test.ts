import { describe, expect, test } from 'vitest';
import { fields, nearestField } from '../../src/change-files/field-names.ts';
import { faultsOf } from './reading.ts';

const names: readonly (readonly [string, string | undefined])[] = [
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
];
test.each(names.map(([name, field]) => [name.slice(0, 20), name, field] as const))(
  'finds the field nearest to %s',
  (_start, name, field) => expect(nearestField(name)).toBe(field),
);

test('finds every field with a letter missing', () => {
  for (const field of fields.filter((name) => name.length > 4)) {
    for (let at = 1; at < field.length; at += 1) {
      expect(nearestField(field.slice(0, at) + field.slice(at + 1))).toBe(field);
    }
  }
});

describe('readChanges with --column and --ignore-columns', () => {
  test.each([
    'expcted',
    'Expected stock',
    'expected_quantity',
    'oldQuantity',
    'stock (expected)',
    'Expectation',
    'expekted',
    'expectedQty',
  ])('reports %s even with --ignore-columns, since it may mean the expected stock', async (name) => {
    const json = JSON.stringify([{ petId: 4, quantity: 12, [name]: 39, Colour: 'red' }]);
    for (const content of [`petId,quantity,${name},Colour\n4,12,39,red\n`, json]) {
      const [fault, ...others] = await faultsOf(content, { ignoreColumns: true });
      expect(fault).toContain(`"${name}" is not a `);
      expect(others).toEqual([]);
    }
  });

  test.each([
    ['petId,quantity,expected,Seen\n4,12,39,1\n', '"Seen" is already the column for expected. Leave out "expected"'],
    ['petId,quantity\n4,12\n', 'there is no column "Seen", but --column names it for expected'],
    ['[{"petId":4,"quantity":12}]', 'there is no field "Seen", but --column names it for expected'],
  ])('reports a --column that is missing or already taken: %j', async (content, fault) => {
    const columns = new Map([['expected', 'Seen'] as const]);
    const faults = await faultsOf(content, { columns, ignoreColumns: true });
    expect(faults).toEqual([expect.stringContaining(fault)]);
  });
});
