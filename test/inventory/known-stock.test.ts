import { expect, test } from 'vitest';
import { KnownStock } from '../../src/inventory/known-stock.ts';
import { StockList } from '../../src/inventory/stock-list.ts';
import fc, { property } from '../support/seeded-fast-check.ts';
import { batchesOf } from './batches.ts';

/** The stock of each pet in one read; null is unreadable, undefined is missing. */
const look = fc.array(fc.constantFrom(0, 1, 2, null, undefined), { minLength: 4, maxLength: 4 });
type Quantity = number | null | undefined;
/** The last stock that could be read, and whether the pet was there then, or may have been. */
type Seen = readonly [stock: number | undefined, isThere: boolean];

function naive([stock, isThere]: Seen, now: Quantity): { readonly seen: Seen; readonly change?: string } {
  if (now === null) return { seen: [stock, isThere || stock === undefined] };
  if (now === undefined) return { seen: [stock, false], ...(isThere && stock !== undefined && { change: 'removed' }) };
  const change = !isThere ? 'added' : stock !== undefined && stock !== now ? 'changed' : undefined;
  return { seen: [now, true], ...(change !== undefined && { change }) };
}

property('reports each change once, even after an unreadable stock', [fc.array(look)], async (looks) => {
  const known = new KnownStock();
  let seen: readonly Seen[] = Array(4).fill([undefined, false]);
  for (const [index, quantities] of looks.entries()) {
    const pets = quantities.map((quantity, at) => ({ petId: BigInt(at), quantity: quantity ?? -1, status: 'sold' }));
    const list = await StockList.gather(
      batchesOf(
        pets.filter((_, at) => typeof quantities[at] === 'number'),
        64,
      ),
    );
    const unreadable = new Map(pets.flatMap(({ petId }, at) => (quantities[at] === null ? [[petId, 'no']] : [])));
    const results = seen.map((was, at) => naive(was, quantities[at]));
    const wanted = results.flatMap(({ change }, at) => {
      return change === undefined
        ? []
        : `${at} ${change} ${seen[at]?.[0]} ${change === 'removed' ? undefined : quantities[at]}`;
    });
    seen = results.map((result) => result.seen);
    if (index === 0) known.begin({ list, unreadable });
    else {
      const found = [...known.changes({ list, unreadable })].flat();
      const told = found.map(
        ({ petId, change, left, right }) => `${petId} ${change} ${left?.quantity} ${right?.quantity}`,
      );
      expect(told.sort()).toEqual(wanted);
    }
  }
});

test('reports a change of a pet that is listed twice, once with an unreadable stock', async () => {
  const known = new KnownStock();
  const lookAt = async (quantity: number) => ({
    list: await StockList.gather(batchesOf([{ petId: 4n, quantity, status: 'sold' }], 64)),
    unreadable: new Map([[4n, 'no']]),
  });
  known.begin(await lookAt(5));
  expect([...known.changes(await lookAt(6))].flat()).toMatchObject([{ change: 'changed', right: { quantity: 6 } }]);
});
