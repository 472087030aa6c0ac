import { expect, test } from 'vitest';
import { GroupSize } from '../../src/writes/group-size.ts';
import { writeRows } from '../../src/writes/write-rows.ts';
import { rowsOf, simulatedShop } from './simulated-shop.ts';

test('makes groups of as many rows as are sent in 100 ms', () => {
  const size = new GroupSize(16);
  const after = (rows: number, at: number) => {
    for (let row = 0; row < rows; row += 1) size.noteSent();
    return size.next(at);
  };
  expect(size.next(0)).toBe(64);
  expect([after(64, 64), after(100, 114), after(200, 214)]).toEqual([100, 200, 200]);
  expect(after(100, 220)).toBe(512);
  expect(after(512, 60_000)).toBe(64);
  // The clock was set back.
  expect(after(512, 0)).toBe(64);
});

test('writes 2,000 rows in few transactions, even if the clock stands still', async () => {
  const rows = rowsOf(2000);
  for (const msPerGroup of [0, 5]) {
    const shop = simulatedShop(rows, { room: 1000 });
    const groups: number[] = [];
    const progress = await writeRows(rows, {
      ...shop.options,
      concurrency: 16,
      log: {
        ...shop.options.log,
        intend: async (intents, ...others) => {
          groups.push(intents.length);
          shop.clock.advance(msPerGroup);
          return shop.options.log.intend(intents, ...others);
        },
      },
    });
    expect(progress.settled.size).toBe(rows.length);
    expect(shop.faults).toEqual([]);
    expect(groups.length).toBeLessThan(msPerGroup === 0 ? 33 : 12);
  }
});
