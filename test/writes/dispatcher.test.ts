import { expect, test } from 'vitest';
import type { Permit } from '../../src/rate-limit/permits.ts';
import { InterruptedError } from '../../src/shared/errors.ts';
import type { Intent } from '../../src/state/intents-and-outcomes.ts';
import type { PetLock } from '../../src/state/pet-locks.ts';
import type { RowWrite, WriteOptions } from '../../src/writes/row-write.ts';
import { writeRows } from '../../src/writes/write-rows.ts';
import { rowsOf, type ShopScript, simulatedShop, timeout } from './simulated-shop.ts';

/** Returns a shop that records what was admitted, intended and read. */
function observedShop(rows: readonly RowWrite[], script?: ShopScript) {
  const shop = simulatedShop(rows, script);
  const { governor, log, readStock } = shop.options;
  const asked: string[] = [];
  const intents: (readonly Intent[])[] = [];
  const versions: unknown[] = [];
  const locks: unknown[] = [];
  const reads: bigint[][] = [];
  const options: WriteOptions = {
    ...shop.options,
    governor: {
      admitSeveral: async (want, ...rest) => {
        asked.push(`${want.min} to ${want.max}`);
        return governor.admitSeveral(want, ...rest);
      },
    },
    log: {
      ...log,
      intend: async (group, version, lock) => {
        intents.push(group);
        versions.push(version?.sequence);
        locks.push(lock);
        return log.intend(group, version, lock);
      },
    },
    readStock: async (petIds, read) => {
      reads.push([...(petIds as ReadonlySet<bigint>)]);
      return readStock(petIds, read);
    },
  };
  return { ...shop, options, asked, intents, versions, locks, reads };
}

const set: RowWrite = { row: 1, petId: 1n, before: 5, after: 7 };
const increment: RowWrite = { ...set, delta: 2 };
const plain: RowWrite = { ...set, before: undefined };

test.each<[string, RowWrite, number, number, string[], number]>([
  ['sends a delta on a stock that is 1 s old, after a wait of 100 ms', increment, 1000, 100, ['1 to 1'], 7],
  ['rereads a stock that is more than 1 s old for a delta', increment, 1001, 0, ['2 to 2'], 8],
  ['rereads the stock for a delta after a wait of more than 100 ms', increment, 0, 101, ['1 to 1', '1 to 1'], 8],
  ['sends a set on an old stock after a wait of 5 s', set, 9000, 5000, ['1 to 1'], 7],
  ['rereads the stock for a set after a wait of more than 5 s', set, 0, 5001, ['1 to 1'], 6],
  ['sends a plain set after any wait', plain, 9000, 9000, ['1 to 1'], 7],
])('%s', async (_what, row, age, wait, asked, stock) => {
  const shop = observedShop([row]);
  shop.clock.advance(age);
  const { admitSeveral } = shop.options.governor;
  const governor: WriteOptions['governor'] = {
    admitSeveral: async (...args) => {
      if (shop.asked.length === 0) shop.clock.advance(wait);
      shop.stock.set(1n, 6);
      return admitSeveral(...args);
    },
  };
  await writeRows([row], { ...shop.options, governor });
  expect([shop.asked, shop.stock.get(1n), shop.held.size]).toEqual([asked, stock, 0]);
  expect(shop.reads).toEqual(stock === 7 ? [] : [[1n]]);
  const rebased = row.delta === undefined ? undefined : { before: stock - 2, after: stock };
  expect(shop.intents.flat().map((intent) => intent.rebased)).toEqual(stock === 6 ? [] : [rebased]);
});

test.each<[string, number, number, number, number | undefined, number]>([
  ['1 s for a small group', 3, 0, 0, undefined, 1000],
  ['5 s for a large group', 4, 0, 0, undefined, 5000],
  ['1 s for a small group of deltas', 3, 0, 0, 2, 1000],
  ['2 s after the read for a group of deltas', 4, 500, 0, 2, 1500],
  ['1 s for a large group of deltas on an old stock', 4, 1000, 100, 2, 1000],
])('records another intent for a row that is not sent in time: %s', async (_what, count, age, wait, delta, hold) => {
  for (const late of [0, 1]) {
    const rows = rowsOf(count).map((row): RowWrite => ({ ...row, delta }));
    const shop = observedShop(rows);
    shop.clock.advance(age);
    const { governor, log } = shop.options;
    let [began, isHeld] = [0, false];
    await writeRows(rows, {
      ...shop.options,
      governor: {
        admitSeveral: (...args) => {
          if (shop.asked.length === 0) shop.clock.advance(wait);
          began ||= shop.clock.monotonic();
          return governor.admitSeveral(...args);
        },
      },
      log: {
        ...log,
        noteSending: () => {
          if (!isHeld) shop.clock.advance(hold + late);
          isHeld = true;
        },
      },
    });
    expect(shop.intents.flat().filter(({ row }) => row === 1)).toHaveLength(1 + late);
    expect(shop.intents[0]?.[0]?.inFlightUntil).toBe(began + (count > 3 ? 5000 : 1000) + timeout);
    expect(shop.held.size).toBe(0);
  }
});

test('records the intents of rows with the version of the stock that they depend on', async () => {
  const rows = [set, { ...plain, row: 2, petId: 2n, after: 9 }, { ...set, row: 3, petId: 3n }];
  const shop = observedShop(rows, { requests: new Map([1, 2, 3].map((row) => [row, ['lost']])) });
  await writeRows(rows, shop.options);
  expect(shop.intents.map((group) => group.map(({ row }) => row))).toEqual([[1, 2, 3], [1], [2], [3]]);
  expect(shop.versions).toEqual([0, 2, undefined, 2]);
  expect([shop.faults, shop.held.size]).toEqual([[], 0]);
});

test('returns the permits of other rows before the stock is read a second time', async () => {
  const rows = rowsOf(6);
  const shop = observedShop(rows);
  const held: number[] = [];
  const { governor, readStock } = shop.options;
  await writeRows(rows, {
    ...shop.options,
    governor: {
      admitSeveral: (...args) => {
        if (shop.asked.length === 0) shop.clock.advance(6000);
        return governor.admitSeveral(...args);
      },
    },
    readStock: async (petIds, read) => {
      held.push(shop.held.size);
      await read?.beforeRetry?.();
      held.push(shop.held.size);
      return readStock(petIds, read);
    },
  });
  expect([held, shop.sent.length]).toEqual([[5, 1], 6]);
  expect([shop.faults, shop.held.size]).toEqual([[], 0]);
});

const interrupted = AbortSignal.abort(new InterruptedError('Interrupted'));

test.each([
  ['sends the first row with the permit and the lock of the read', {}, [1]],
  ['returns the permit of the read if nothing is sent', { interrupted }, []],
])('%s', async (_what, changes, sent) => {
  const shop = observedShop([set]);
  const [permit] = (await simulatedPermit(shop.options)) as [Permit];
  const lock = {} as PetLock;
  await writeRows([set], { ...shop.options, reserved: { permit, lock }, ...changes });
  expect([shop.asked, shop.sent, shop.locks]).toEqual([['1 to 1'], sent, sent.map(() => lock)]);
  expect([shop.faults, shop.held.size]).toEqual([[], 0]);
});

const simulatedPermit = ({ governor }: WriteOptions) =>
  governor.admitSeveral({ min: 1, max: 1 }, new AbortController().signal);

test('rereads the stock of a group with a delta after a wait of more than 100 ms, and sends each row once', async () => {
  const rows = [set, { ...increment, row: 2, petId: 2n }, { ...plain, row: 3, petId: 3n }];
  const shop = observedShop(rows);
  const { admitSeveral } = shop.options.governor;
  const governor: WriteOptions['governor'] = {
    admitSeveral: async (...args) => {
      if (shop.asked.length === 0) shop.clock.advance(101);
      return admitSeveral(...args);
    },
  };
  await writeRows(rows, { ...shop.options, governor });
  expect(shop.reads[0]).toEqual([1n, 2n]);
  expect([shop.sent.toSorted(), shop.faults, shop.held.size]).toEqual([[1, 2, 3], [], 0]);
});
