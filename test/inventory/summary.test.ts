import { describe, expect, it } from 'vitest';
import { summarize } from '../../src/inventory/summary.ts';
import fc, { property } from '../support/properties.ts';
import { itemLists } from './arbitraries.ts';
import { batchesOf } from './batches.ts';

describe('summarize', () => {
  it('lists the three known statuses in a summary even if there are no pets', async () => {
    expect(await summarize(batchesOf([], 1))).toEqual({
      pets: 0,
      units: 0n,
      byStatus: new Map([
        ['available', { pets: 0, units: 0n }],
        ['pending', { pets: 0, units: 0n }],
        ['sold', { pets: 0, units: 0n }],
      ]),
    });
  });

  it('puts unknown statuses after the known statuses', async () => {
    const item = (status: string) => ({ petId: 1n, quantity: 2, status });
    const items = ['zoo', 'sold', 'adopted', '__proto__'].map(item);
    const { byStatus } = await summarize(batchesOf(items, 2));
    expect([...byStatus.keys()]).toEqual(['available', 'pending', 'sold', '__proto__', 'adopted', 'zoo']);
  });

  property(
    'adds up pets and units by status, whatever the order and the batches',
    [itemLists, fc.integer({ min: 1, max: 30 })],
    async (items, size) => {
      const summary = await summarize(batchesOf(items, size));
      expect(summary).toEqual(await summarize(batchesOf(items.toReversed(), 30)));
      expect(summary.pets).toBe(items.length);
      expect(summary.units).toBe(items.reduce((sum, { quantity }) => sum + BigInt(quantity), 0n));
      for (const [status, { pets, units }] of summary.byStatus) {
        const same = items.filter((item) => item.status === status);
        expect(pets).toBe(same.length);
        expect(units).toBe(same.reduce((sum, { quantity }) => sum + BigInt(quantity), 0n));
      }
    },
  );
});
