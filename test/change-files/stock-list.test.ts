import { expect, test } from 'vitest';
import { readStockList } from '../../src/change-files/read-stock-list.ts';
import { StockList } from '../../src/inventory/stock-list.ts';
import { cut } from './reading.ts';

async function readList(content: string) {
  const pieces = (async function* () {
    yield* cut(Buffer.from(content), [5]);
  })();
  return readStockList(pieces, { name: undefined, format: undefined });
}

test.each([
  ['with other names and columns', 'Status,id,Expected on,Qty\n sold ,4,red,12\n,5,,-1\n'],
  ['that is an export with a blank quantity', 'petId,status,expected,quantity\n4,sold,12,\n5,,7,-1\n'],
  ['without a header line', '4\t12\tsold\n5\t-1\t\n'],
  ['as JSON', '[{"petId":4,"quantity":12,"status":"sold"},{"petId":5,"quantity":-1}]'],
])('reads a stock list %s', async (_, content) => {
  const file = await readList(content);
  if (!file.ok) throw new Error(file.problems[0]?.message);
  const given = [
    { petId: 4n, quantity: 12, status: 'sold' },
    { petId: 5n, quantity: -1, status: '' },
  ];
  expect([...StockList.differences(StockList.empty, file.list)].flat().map(({ right }) => right)).toMatchObject(given);
});

test.each([
  ['a pet without a quantity', 'id,Qty\n4,\n', '2 Qty: the quantity is missing'],
  ['a quantity that is not a number', 'id,Qty\n4,x\n', '2 Qty: "x" is not a quantity'],
  ['an id that is not a number', 'id,Qty\nx,1\n', '2 id: "x" is not a pet id'],
  ['deltas instead of quantities', 'petId,quantity,delta\n4,1,+1\n', '2 delta: a stock list contains quantities'],
  ['a first line without a pet id', 'x\t12\tsold\n', '1 undefined: this is not a stock list'],
  ['a first line of twelve cells', `4\t12\tsold${'\tTiger'.repeat(9)}\n`, '1 undefined: this is not a stock list'],
  ['a pet twice', 'petId,quantity\n4,1\n5,1\n4,2\n', '4'],
])('refuses a stock list with %s', async (_, content, fault) => {
  const file = await readList(content);
  const faults = file.ok ? [] : file.problems.map(({ line, column, message }) => `${line} ${column}: ${message}`);
  expect(faults).toEqual([expect.stringContaining(fault)]);
});
