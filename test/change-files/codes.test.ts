import { expect, test } from 'vitest';
import { readCodes } from '../../src/change-files/read-codes.ts';
import { cut } from './reading.ts';

const read = (content: string) =>
  readCodes(
    (async function* () {
      yield* cut(Buffer.from(content), [7]);
    })(),
  );

test('reads the names of pets without codes, and keeps the first if a pet has several names', async () => {
  const { ok, ...file } = await read(
    ' bar-code ,Pet ID, Pet_Name , Low-Stock \n007,7,Rex,2\n,8,Mia\n,9,Tom\n8x,7,Max\n',
  );
  const pets = new Map([['007', 7n] as const, ['8x', 7n] as const]);
  const names = new Map([[7n, 'Rex'] as const, [8n, 'Mia'] as const, [9n, 'Tom'] as const]);
  expect([ok, file]).toMatchObject([true, { codes: { pets, names, lows: new Map([[7n, 2]]) } }]);
});

test.each(['petId,name\n7,Rex\ncode,petId\n', 'code,name\n7,Rex\n', '\0code,petId\n'])(
  'reports one fault, on the first line, for the codes file %j',
  async (content) => {
    expect(await read(content)).toMatchObject({ ok: false, total: 1, problems: [{ line: 1 }] });
  },
);

test('reads a column of a codes file only if its whole name is known', async () => {
  const codes = { pets: new Map([['007', 8n]]), names: new Map(), lows: new Map() };
  expect(await read('xcode,codes,code,petId,nickname,names,yellow,lower\n1,2,007,8,Rex,Max,3,4\n')).toMatchObject({
    ok: true,
    codes,
  });
});

test('reads codes with the delimiter that separates the known columns', async () => {
  const pets = new Map([['007', 8n]]);
  expect(await read('code;petId;a,b,c,d\n007;8;x\n')).toMatchObject({ ok: true, codes: { pets } });
});

test.each<[string, string, object]>([
  ['a row without a code, a name and a level', ',8,,', { ok: false, problems: [{ line: 2, column: 'code' }] }],
  ['a name without a code', ',8,Mia,', { ok: true, codes: { names: new Map([[8n, 'Mia']]) } }],
  ['a level without a code', ',8,,3', { ok: true, codes: { lows: new Map([[8n, 3]]) } }],
  ['the first level of a pet', '007,8,,3\n008,8,,4', { ok: true, codes: { lows: new Map([[8n, 3]]) } }],
  ['a level that is not a number', '007,8,,x', { ok: false, problems: [{ line: 2, column: 'low' }] }],
  ['a row of blanks', ' , ,\t,', { ok: true, codes: { pets: new Map() } }],
  ['a code that a spreadsheet rounded, beside a name', '4E+12,8,Mia,', { ok: false, problems: [{ column: 'code' }] }],
  [
    'an article of two pets in two spellings',
    '012345678905,8,,\n0012345678905,9,,',
    { ok: false, total: 1, problems: [{ line: 3, column: 'code' }] },
  ],
  ['an article of one pet in two spellings', '012345678905,8,,\n0012345678905,8,,', { ok: true }],
  ['a pet id of letters', '007,9,,\n007,x,,', { ok: false, total: 1, problems: [{ line: 3, column: 'petId' }] }],
])('reads or refuses %s in a codes file', async (_, rows, expected) => {
  expect(await read(`Barcode,petId,PetName,LowStock\n${rows}\n`)).toMatchObject(expected);
});
