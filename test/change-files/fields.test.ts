import { describe, expect, test } from 'vitest';
import { nearestField, rowFields } from '../../src/change-files/field-names.ts';
import type { Remedy } from '../../src/change-files/problems.ts';
import { readOnlyFields } from '../../src/inventory/item-fields.ts';
import { faultsOf, read } from './reading.ts';

const names: readonly (readonly [string, string | undefined])[] = [
  ['expectd', 'expected'],
  ['Exepcted', 'expected'],
  ['quanity', 'quantity'],
  ['resaon', 'reason'],
  ['stock', 'quantity'],
  ['Pet', 'petId'],
  ['Reference', 'ref'],
  ['colour', undefined],
  ['qt', undefined],
  ['x'.repeat(1_000_000), undefined],
];
test.each(names.map(([name, field]) => [name.slice(0, 20), name, field] as const))(
  'finds the field nearest to %s, if any',
  (_start, name, field) => expect(nearestField(name)).toBe(field),
);

test('finds each longer field name if any letter but the first is missing', () => {
  for (const field of [...rowFields, ...readOnlyFields].filter((name) => name.length > 4)) {
    for (let at = 1; at < field.length; at += 1) {
      expect(nearestField(field.slice(0, at) + field.slice(at + 1))).toBe(field);
    }
  }
});

test.each<[string, string, Remedy | undefined]>([
  ['no unknown column', 'petId,quantity\n4,12\n', undefined],
  ['only a wrong row', 'petId,quantity\n4,x\n', undefined],
  ['a column to ignore', 'petId,quantity,Colour\n4,12,red\n', { kind: 'ignore' }],
  [
    'an unknown column for the stock',
    'petId,Shelf\n4,12\n',
    {
      kind: 'ask',
      question:
        'Which column is the stock: Shelf? `--column quantity=<name>`, or `--column delta=<name>` for a delivery',
    },
  ],
  [
    'two unknown columns, one for the pet id',
    'Animal,quantity,Shelf\n4,12,1\n',
    {
      kind: 'ask',
      question:
        'Which column is the pet id: Animal or Shelf? `--column petId=<name>`. To ignore the others, add `--ignore-columns`',
    },
  ],
  [
    'a column that may be the expected stock',
    'petId,quantity,oldQuantity\n4,12,9\n',
    {
      kind: 'ask',
      question: 'Is "oldQuantity" the stock that a row expects? `--column expected=oldQuantity`',
    },
  ],
  ['two columns that may be the expected stock', 'petId,quantity,oldQuantity,expcted\n4,12,9,9\n', undefined],
  ['too few columns', 'Shelf\n4\n', undefined],
  ['a column name that is unsafe in a shell', 'petId,Shelf$x\n4,12\n', undefined],
])('decides which options to suggest for a file with %s', async (_, content, remedy) => {
  const file = await read(content);
  expect(file.ok ? undefined : file.remedy).toEqual(remedy);
  const [names = '', cells = ''] = content.split('\n');
  const values = cells.split(',');
  const object = Object.fromEntries(names.split(',').map((name, at) => [name, values[at]]));
  const json = await read(JSON.stringify([object]));
  const question = remedy?.kind === 'ask' ? { question: remedy.question.replace('column is', 'field is') } : {};
  expect(json.ok ? undefined : json.remedy).toEqual(remedy && { ...remedy, ...question });
});

test.each<[string, boolean]>([
  ['Animal,Box 12', true],
  ['Animal,Key123', false],
  [`Animal,${'x'.repeat(25)}`, false],
])('asks about the columns %s only if all of them look like names', async (header, asks) => {
  const file = await read(`${header}\n4,12\n`);
  expect(file.ok ? undefined : file.remedy?.kind).toBe(asks ? 'ask' : undefined);
});

test('does not ask about the column of a header with a single unknown word', async () => {
  const file = await read('Animal\n', { columns: new Map([['petId', 'Nr']]) });
  expect(file).toMatchObject({ ok: false, total: 1, remedy: undefined });
});

test('does not ask about an unknown column if a column named by the user is missing', async () => {
  const file = await read('petId,quantity,Colour\n', { columns: new Map([['expected', 'Seen']]) });
  expect(file).toMatchObject({ ok: false, total: 2, remedy: undefined });
});

describe('readChanges with --column and --ignore-columns', () => {
  test.each([
    'expcted',
    'Expected stock',
    'exepcted_quantity',
    'oldQuantity',
    'stock (exepcted)',
    'Expectation',
    'expekted',
    'exepctedQty',
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

  test.each([
    ['petId,quantity,Quantity\n4,1,2\n', 'Quantity', 2],
    ['petId,quantity,Quantity\n4,1,2\n', 'quantity', 1],
    ['petId,QUANTITY,Quantity,qty\n4,1,2,3\n', 'Quantity', 2],
    ['petId,QUANTITY\n4,1\n', 'Quantity', 1],
    ['[{"petId":4,"quantity":1,"Quantity":2}]', 'Quantity', 2],
  ])('uses exactly the named column where several differ only in case: %j', async (content, name, quantity) => {
    const columns = new Map([['quantity', name] as const]);
    const file = await read(content, { columns, ignoreColumns: true });
    expect(file).toMatchObject({ ok: true, changes: [{ petId: 4n, quantity }] });
  });

  test('says which of two columns is in use if they differ only in case', async () => {
    const columns = new Map([['quantity', 'Quantity'] as const]);
    const file = await read('petId,quantity,Quantity\n4,1,2\n', { columns });
    expect(file).toMatchObject({ ok: false, remedy: { kind: 'ignore' } });
    expect(await faultsOf('petId,quantity,Quantity\n4,1,2\n', { columns })).toEqual([
      '1 quantity: "Quantity" is already the column for quantity. Leave out "quantity"',
    ]);
  });
});
