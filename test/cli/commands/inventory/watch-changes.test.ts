import { expect, test } from 'vitest';
import { UnreadablePets } from '../../../../src/cli/commands/inventory/unreadable-pets.ts';
import { type SeenChanges, watchChanges } from '../../../../src/cli/commands/inventory/watch-changes.ts';
import { ordered } from '../../../../src/inventory/differences.ts';
import { gatherItems, ItemColumns } from '../../../../src/inventory/item-columns.ts';
import { UnavailableError } from '../../../../src/shared/errors.ts';
import { createTestClock } from '../../../support/clock.ts';
import fc from '../../../support/seeded-fast-check.ts';

const interval = 1000;

/** Watches what `quantitiesAt` gives for each look; undefined: the look fails. @returns what was seen, and the columns that were filled */
async function watched(looks: number, quantitiesAt: (look: number) => readonly number[] | undefined) {
  const clock = { ...createTestClock(), sleep: async (ms: number) => advance(ms) };
  const advance = (ms: number) => clock.advance(ms);
  const filled = new Set<ItemColumns>();
  const seen: SeenChanges[] = [];
  let look = 0;
  async function* batches() {
    const quantities = quantitiesAt(look);
    look += 1;
    const batch = new ItemColumns(64);
    for (const [index, quantity] of (quantities ?? [1]).entries()) {
      batch.append({ petId: BigInt(index), quantity, status: `s${quantity}` });
    }
    yield batch;
    if (quantities === undefined) throw new UnavailableError('The answer broke off');
  }
  const changes = watchChanges({
    clock,
    interrupted: new AbortController().signal,
    interval,
    duration: (looks - 1) * interval,
    first: false,
    now: false,
    look: async (into) => {
      const items = await gatherItems(batches(), into);
      filled.add(items);
      return { list: ordered(items), unreadable: new UnreadablePets() };
    },
    limits: () => ({ minute: undefined, day: undefined }),
    counts: () => true,
    onBegin: async () => {},
    onFault: async () => {},
    onBack: async () => {},
    onTooShort: async () => {},
    onSlower: async () => {},
  });
  for await (const found of changes) seen.push(found);
  return { seen, filled, looks: look };
}

test('20,000 looks fill two lists, again and again', async () => {
  const { seen, filled, looks } = await watched(20_000, (look) =>
    Array.from({ length: 24 }, (_, pet) => (look + pet) % 7),
  );
  expect({ looks, lists: filled.size, changes: seen.length }).toEqual({ looks: 20_000, lists: 2, changes: 19_999 });
});

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
      const { seen } = await watched(answers.length, (look) => answers[look]);
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
