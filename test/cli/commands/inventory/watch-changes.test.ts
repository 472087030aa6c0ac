import { expect, test } from 'vitest';
import { UnreadablePets } from '../../../../src/cli/commands/inventory/stock.ts';
import { watchChanges } from '../../../../src/cli/commands/inventory/watch-changes.ts';
import { StockList } from '../../../../src/inventory/stock-list.ts';
import type { SeenFacts } from '../../../../src/output/watch-view.ts';
import { UnavailableError } from '../../../../src/shared/errors.ts';
import { batchesOf } from '../../../inventory/columns.ts';
import { createTestClock } from '../../../support/clock.ts';
import fc from '../../../support/seeded-fast-check.ts';

const interval = 1000;

/** Watches what `quantitiesAt` gives for each look; undefined: the look fails. */
async function watched(looks: number, quantitiesAt: (look: number) => readonly number[] | undefined) {
  const clock = { ...createTestClock(), sleep: async (ms: number) => advance(ms) };
  const advance = (ms: number) => clock.advance(ms);
  const seen: SeenFacts[] = [];
  let look = 0;
  async function* batches() {
    const quantities = quantitiesAt(look);
    look += 1;
    const items = (quantities ?? [1]).map((quantity, index) => ({
      petId: BigInt(index),
      quantity,
      status: `s${quantity}`,
    }));
    yield* batchesOf(items, 64);
    if (quantities === undefined) throw new UnavailableError('The answer broke off');
  }
  const changes = watchChanges({
    clock,
    interrupted: new AbortController().signal,
    interval,
    duration: (looks - 1) * interval,
    first: false,
    now: false,
    look: async () => ({ list: await StockList.gather(batches()), unreadable: new UnreadablePets() }),
    limits: () => ({ minute: undefined, day: undefined }),
    counts: () => true,
    onBegin: async () => {},
    onFault: async () => {},
    onBack: async () => {},
    onTooShort: async () => {},
    onSlower: async () => {},
  });
  for await (const found of changes) seen.push(found);
  return seen;
}

test('what is seen leads from the first list to the last, whichever looks fail', async () => {
  const lists = fc.array(
    fc.option(fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 5 }), { nil: undefined, freq: 3 }),
    {
      minLength: 1,
      maxLength: 12,
    },
  );
  await fc.assert(
    fc.asyncProperty(lists, async (answers) => {
      const seen = await watched(answers.length, (look) => answers[look]);
      const good = answers.filter((answer) => answer !== undefined);
      const stock = new Map((good[0] ?? []).map((quantity, petId) => [BigInt(petId), quantity]));
      const removed = new Map<bigint, number>();
      for (const { changes } of seen) {
        for (const { petId, left, right } of changes) {
          expect(left?.quantity).toBe((stock.has(petId) ? stock : removed).get(petId));
          if (right === undefined) {
            removed.set(petId, stock.get(petId) ?? 0);
            stock.delete(petId);
          } else stock.set(petId, right.quantity);
        }
      }
      expect([...stock].sort()).toEqual((good.at(-1) ?? []).map((quantity, petId) => [BigInt(petId), quantity]));
    }),
  );
});
