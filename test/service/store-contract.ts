import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { generateKey } from '../../src/service/index.ts';
import { idOfKey } from '../../src/service/keys/key.ts';
import { admit, type LimitRules, UNUSED } from '../../src/service/limits/admission.ts';
import type { Entitlement, Store } from '../../src/service/store/store.ts';
import { NOON, TestClock } from './support.ts';

/** A kind of store, and how to come by one. */
export interface Kind {
  readonly name: string;
  /** A new store with this many pets, and how to open the same one again; null where it can be open only once. */
  open(pets: number): Promise<{ store: Store; again: (() => Promise<Store>) | null }>;
}

const RULES: LimitRules = { minuteMs: 60_000, ban: { strikes: 2, seconds: 300 } };
const AT_NOON = { at: NOON, keepsKnown: false };

function allowing(minute: bigint, day = 1_000n): Entitlement {
  return { plan: 'enterprise', limits: { minute, day } };
}

/** What every store must do, whatever is behind it: call it once for each kind. */
export function describeStore(kind: Kind): void {
  const open = async (pets = 24) => {
    const { store, again } = await kind.open(pets);
    onTestFinished(() => store.close());
    return {
      store,
      again: async () => {
        const other = (await again?.()) ?? null;
        if (other !== null) onTestFinished(() => other.close());
        return other;
      },
    };
  };

  describe(kind.name, () => {
    describe('keys', () => {
      test('an unknown one is not admitted', async () => {
        expect(await (await open()).store.admit(generateKey(), RULES, new TestClock())).toBeNull();
      });

      test('a known one has what it is entitled to, exact beyond 2^53', async () => {
        const { store } = await open();
        const key = generateKey();
        await store.register(key, allowing(2n ** 63n - 2n, 2n ** 63n - 1n), AT_NOON);
        const admission = await store.admit(key, RULES, new TestClock());
        expect(admission?.shown).toMatchObject({ limit: 2n ** 63n - 2n, remaining: 2n ** 63n - 3n });
      });

      test('registering again changes the entitlement, or keeps it, and never what was used', async () => {
        const { store } = await open();
        const key = generateKey();
        const remaining = async () => (await store.admit(key, RULES, new TestClock()))?.shown.remaining;
        await store.register(key, allowing(10n), AT_NOON);
        expect(await remaining()).toBe(9n);
        await store.register(key, allowing(20n), { at: NOON + 1, keepsKnown: true });
        expect(await remaining()).toBe(8n);
        await store.register(key, allowing(20n), { at: NOON + 2, keepsKnown: false });
        expect(await remaining()).toBe(17n);
        expect(await store.keys()).toMatchObject([{ createdAt: NOON, limits: { minute: 20n } }]);
      });

      test('a revoked one is not admitted, however often it is registered', async () => {
        const { store } = await open();
        const key = generateKey();
        await store.register(key, allowing(10n), AT_NOON);
        expect(await store.revoke(idOfKey(key), NOON + 5)).toMatchObject({ id: idOfKey(key), revokedAt: NOON + 5 });
        await store.register(key, allowing(10n), { at: NOON + 6, keepsKnown: false });
        expect(await store.admit(key, RULES, new TestClock())).toBeNull();
        expect(await store.revoke(idOfKey(key), NOON + 9)).toMatchObject({ revokedAt: NOON + 5 });
      });

      test('one that is not there cannot be revoked', async () => {
        expect(await (await open()).store.revoke('000000000000', NOON)).toBeNull();
      });

      test('all are listed, oldest first, each by its id alone', async () => {
        const { store } = await open();
        const keys = [generateKey(), generateKey(), generateKey()];
        for (const [index, key] of keys.entries()) {
          await store.register(key, allowing(BigInt(index)), { at: NOON + index, keepsKnown: false });
        }
        expect(await store.keys()).toEqual(
          keys.map((key, index) => ({
            id: idOfKey(key),
            ...allowing(BigInt(index)),
            createdAt: NOON + index,
            revokedAt: null,
          })),
        );
      });
    });

    describe('admission', () => {
      test('of requests at once: exactly the limit', async () => {
        const { store } = await open();
        const key = generateKey();
        await store.register(key, allowing(20n), AT_NOON);
        const clock = new TestClock();
        const all = await Promise.all(Array.from({ length: 50 }, () => store.admit(key, RULES, clock)));
        expect(all.filter((admission) => admission?.outcome === 'admitted')).toHaveLength(20);
        expect(all.map((admission) => admission?.shown.remaining).slice(0, 20)).toEqual(
          Array.from({ length: 20 }, (_, index) => BigInt(19 - index)),
        );
      });

      test('is what the rules say of each key by itself, whatever is asked when and together with what', async () => {
        const { store } = await open();
        const steps = fc.array(
          fc.record({ wait: fc.constantFrom(0, 0, 400, 1_100, 30_000, 60_000), together: fc.nat({ max: 3 }) }),
          { maxLength: 25 },
        );
        const property = fc.asyncProperty(steps, async (taken) => {
          const keys = [generateKey(), generateKey()];
          for (const key of keys) await store.register(key, allowing(3n, 12n), AT_NOON);
          const clock = new TestClock();
          const model = keys.map(() => UNUSED);
          for (const { wait, together } of taken) {
            clock.advance(wait);
            const asked = Array.from({ length: together + 1 }, (_, index) => index % 2);
            const seen = await Promise.all(asked.map((which) => store.admit(keys[which] ?? '', RULES, clock)));
            const expected = asked.map((which) => {
              const limits = { minute: 3n, day: 12n };
              const admission = admit(model[which] ?? UNUSED, limits, RULES, clock.now());
              model[which] = admission.usage;
              return admission;
            });
            expect(seen).toEqual(expected);
          }
        });
        await fc.assert(property, { numRuns: 20 });
      });
    });

    describe('the inventory', () => {
      const read = async (store: Store) => {
        const pages: string[] = [];
        for await (const page of store.inventory()) pages.push(page);
        return pages;
      };

      test('of no pets has no pages', async () => {
        expect(await read((await open(0)).store)).toEqual([]);
      });

      test.each([1, 24, 999, 1_000, 1_001, 2_500])(
        'of %i pets is in pages, in the order of exact ids',
        async (pets) => {
          const pages = await read((await open(pets)).store);
          expect(JSON.parse(`[${pages.join(',')}]`)).toHaveLength(pets);
          for (const page of pages) expect(page.length).toBeLessThan(200_000);
          const ids = pages.flatMap((page) => [...page.matchAll(/"petId":(-?\d+)/g)].map(([, id = '']) => BigInt(id)));
          expect(ids).toEqual([...ids].sort((one, other) => (one < other ? -1 : 1)));
          expect(new Set(ids).size).toBe(pets);
        },
      );

      test('is one state, however slowly it is read, while updates go on', async () => {
        const { store } = await open(5_000);
        const before = await read(store);
        const slow = store.inventory();
        const pages = [(await slow.next()).value];
        for (const petId of [1n, 2_500n, 4_900n]) await store.setQuantity(petId, 123_456n);
        for await (const page of slow) pages.push(page);
        expect(pages.join() === before.join()).toBe(true);
        expect((await read(store)).join().match(/123456/g)).toHaveLength(3);
      });

      test('can be left in the middle, by more readers than are usual', async () => {
        const { store } = await open(5_000);
        const readers = Array.from({ length: 8 }, () => store.inventory());
        for (const reader of readers) await reader.next();
        for (const reader of readers) await reader.return();
        expect((await read(store)).length).toBeGreaterThan(1);
      });
    });

    describe('a pet', () => {
      test('is found by its exact id', async () => {
        const { store } = await open();
        expect(await store.find(9_007_199_254_740_993n)).toMatchObject({ petId: 9_007_199_254_740_993n });
        expect(await store.find(9_007_199_254_740_994n)).toBeNull();
      });

      test.each([0n, -1n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)])(
        'can have the quantity %d',
        async (quantity) => {
          const { store } = await open();
          const set = await store.setQuantity(9_223_372_036_854_775_807n, quantity);
          expect(set).toEqual({ petId: 9_223_372_036_854_775_807n, quantity, status: expect.any(String) });
          expect(await store.find(9_223_372_036_854_775_807n)).toEqual(set);
        },
      );

      test('that is not there cannot be set', async () => {
        expect(await (await open()).store.setQuantity(424_242n, 1n)).toBeNull();
      });

      test('updates at once: each tells its own, and the last one asked for stays', async () => {
        const { store } = await open();
        const set = await Promise.all([5n, 6n, 7n].map((quantity) => store.setQuantity(1n, quantity)));
        expect(set.map((item) => item?.quantity)).toEqual([5n, 6n, 7n]);
        expect((await store.find(1n))?.quantity).toBe(7n);
      });
    });

    test('closing completes what has been asked for', async () => {
      const { store, again } = await open();
      const update = store.setQuantity(1n, 77n);
      await store.close();
      expect(await update).toMatchObject({ quantity: 77n });
      const other = await again();
      if (other !== null) expect((await other.find(1n))?.quantity).toBe(77n);
    });

    test('opened twice, it is one store', async () => {
      const { store, again } = await open();
      const other = await again();
      if (other === null) return;
      const key = generateKey();
      const clock = new TestClock();
      await store.register(key, allowing(25n), AT_NOON);
      await store.setQuantity(1n, 4_711n);
      expect((await other.find(1n))?.quantity).toBe(4_711n);
      const both = await Promise.all(
        Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? store : other).admit(key, RULES, clock)),
      );
      expect(both.filter((admission) => admission?.outcome === 'admitted')).toHaveLength(25);
      await other.revoke(idOfKey(key), NOON);
      expect(await store.admit(key, RULES, clock)).toBeNull();
    });
  });
}
