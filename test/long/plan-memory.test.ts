import { expect, test } from 'vitest';
import { RowColumns } from '../../src/inventory/row-columns.ts';
import type { Permit } from '../../src/rate-limit/governor.ts';
import { numberRows } from '../../src/writes/planned-rows.ts';
import { rowWrites } from '../../src/writes/rows-after.ts';
import { writeRows } from '../../src/writes/write-rows.ts';
import { heldMb } from '../support/held-memory.ts';
import { simulatedShop } from '../writes/simulated-shop.ts';

const rows = 100_000;

test('a plan of 100,000 rows takes 60 bytes a row, and 25 more while it is written', async () => {
  const before = await heldMb();
  const plan = new RowColumns();
  for (let index = 0; index < rows; index += 1) {
    const petId = 9_007_199_254_740_993n + BigInt(index);
    plan.push({
      line: index + 2,
      petId,
      before: index,
      after: index + 1,
      result: 'planned',
      reason: 'r',
      ref: undefined,
    });
  }
  const planned = await heldMb();
  expect(planned - before).toBeLessThan((60 * rows) / 1e6);
  const shop = simulatedShop([]);
  const held: number[] = [];
  const progression = await writeRows(rowWrites(plan, numberRows(plan)), {
    ...shop.options,
    concurrency: 16,
    client: { updateInventory: async (petId, quantity) => ({ petId, quantity, status: 'sold' }) },
    governor: { admitSeveral: async ({ most }) => [permit, ...Array.from({ length: most - 1 }, () => permit)] },
    log: {
      ...shop.options.log,
      settle: async () => {},
      intend: async (intents) => {
        if (intents.some(({ row }) => row % 25_000 === 0)) held.push(await heldMb());
        return intents.map(() => ({ kind: 'granted' }));
      },
    },
  });
  held.push(await heldMb());
  expect(progression.settled.size).toBe(rows);
  expect(held).toHaveLength(5);
  expect(Math.max(...held) - planned).toBeLessThan((25 * rows) / 1e6);
}, 120_000);

const permit: Permit = {
  leave: () => {},
  answered: async () => {},
  lost: async () => {},
  unsent: async () => {},
};
