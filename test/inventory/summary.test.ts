import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { InventoryItem } from '../../src/inventory/items.ts';
import { createSummarizer, summarize } from '../../src/inventory/summary.ts';
import { itemLists } from './arbitraries.ts';

describe('summarize', () => {
  it('has the three known statuses even where there is nothing', async () => {
    expect(await summarize([])).toEqual({
      pets: 0,
      units: 0n,
      byStatus: new Map([
        ['available', { pets: 0, units: 0n }],
        ['pending', { pets: 0, units: 0n }],
        ['sold', { pets: 0, units: 0n }],
      ]),
    });
  });

  it('puts unknown statuses after the known ones', async () => {
    const item = (status: string) => ({ petId: 1n, quantity: 2, status });
    const { byStatus } = await summarize([
      [item('zoo'), item('sold')],
      [item('adopted'), item('__proto__')],
    ]);
    expect([...byStatus.keys()]).toEqual(['available', 'pending', 'sold', '__proto__', 'adopted', 'zoo']);
  });

  it('loses no unit beyond what a number holds', async () => {
    const quantity = Number.MAX_SAFE_INTEGER;
    const items = [1n, 2n, 3n].map((petId) => ({ petId, quantity, status: 'sold' }));
    expect((await summarize([items])).units).toBe(27021597764222973n);
  });

  it('agrees with plain sums, whatever the order and the batches', async () => {
    await fc.assert(
      fc.asyncProperty(itemLists, fc.nat({ max: 30 }), async (items, cut) => {
        async function* batches(): AsyncIterable<InventoryItem[]> {
          yield items.slice(0, cut);
          yield items.slice(cut);
        }
        const summary = await summarize(batches());
        expect(summary).toEqual(await summarize([items.toReversed()]));
        expect(summary.pets).toBe(items.length);
        expect(summary.units).toBe(items.reduce((sum, { quantity }) => sum + BigInt(quantity), 0n));
        for (const [status, { pets, units }] of summary.byStatus) {
          const same = items.filter((item) => item.status === status);
          expect(pets).toBe(same.length);
          expect(units).toBe(same.reduce((sum, { quantity }) => sum + BigInt(quantity), 0n));
        }
      }),
    );
  });

  it('can be asked in between', () => {
    const summarizer = createSummarizer();
    summarizer.add({ petId: 1n, quantity: 5, status: 'sold' });
    expect(summarizer.summary().units).toBe(5n);
    summarizer.add({ petId: 2n, quantity: -7, status: 'sold' });
    expect(summarizer.summary()).toMatchObject({ pets: 2, units: -2n });
  });
});
