import { describe, expect, onTestFinished, test } from 'vitest';
import { generateKey } from '../../src/service/index.ts';
import { idOfKey } from '../../src/service/keys/key.ts';
import { admit, type LimitRules, UNUSED } from '../../src/service/limits/admission.ts';
import { seededStock } from '../../src/service/seed/stock.ts';
import type { Entitlement, Store } from '../../src/service/store/store.ts';
import fc from '../support/seeded-fast-check.ts';

/** A kind of store, and how to come by one. */
export interface Kind {
  readonly name: string;
  /** A new store with this many pets, and how to open the same one again; null where it can be open only once. */
  open(pets: number): Promise<{ store: Store; again: (() => Promise<Store>) | null }>;
  /** Whether a moved clock is of all who have it open, or of one process. */
  readonly sharesClock: boolean;
}

const MINUTE = 60_000;
const RULES: LimitRules = { minuteMs: MINUTE, ban: { strikes: 2, seconds: 300 } };
const NEW = { keepsKnown: false };

function allowing(minute: bigint, day = 1_000n): Entitlement {
  return { plan: 'enterprise', limits: { minute, day } };
}

/** To the beginning of a minute of the store, so that none ends in the middle of a test. */
async function toMinute(store: Store): Promise<void> {
  await store.check();
  await store.advance(MINUTE - (store.now() % MINUTE));
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

  describe(kind.name, { timeout: 30_000 }, () => {
    describe('keys', () => {
      test('an unknown one is not admitted', async () => {
        expect(await (await open()).store.admit(generateKey(), RULES)).toBeNull();
      });

      test('a known one has what it is entitled to, exact beyond 2^53', async () => {
        const { store } = await open();
        const key = generateKey();
        await store.register(key, allowing(2n ** 63n - 2n, 2n ** 63n - 1n), NEW);
        const admission = await store.admit(key, RULES);
        expect(admission?.shown).toMatchObject({ limit: 2n ** 63n - 2n, remaining: 2n ** 63n - 3n });
      });

      test('registering again changes the entitlement, or keeps it, and never what was used', async () => {
        const { store } = await open();
        const key = generateKey();
        await toMinute(store);
        const remaining = async () => (await store.admit(key, RULES))?.shown.remaining;
        await store.register(key, allowing(10n), NEW);
        expect(await remaining()).toBe(9n);
        await store.register(key, allowing(20n), { keepsKnown: true });
        expect(await remaining()).toBe(8n);
        await store.register(key, allowing(20n), NEW);
        expect(await remaining()).toBe(17n);
        expect(await store.keys()).toMatchObject([{ limits: { minute: 20n }, usage: { minute: { used: 3n } } }]);
      });

      test('a revoked one is not admitted, however often it is registered', async () => {
        const { store } = await open();
        const key = generateKey();
        await store.register(key, allowing(10n), NEW);
        const revoked = await store.revoke(idOfKey(key));
        expect(revoked).toMatchObject({ id: idOfKey(key), revokedAt: expect.any(Number) });
        await store.register(key, allowing(10n), NEW);
        expect(await store.admit(key, RULES)).toBeNull();
        await store.advance(5_000);
        expect(await store.revoke(idOfKey(key))).toMatchObject({ revokedAt: revoked?.revokedAt });
      });

      test('one that is not there cannot be revoked', async () => {
        expect(await (await open()).store.revoke('000000000000')).toBeNull();
      });

      test('all are listed, oldest first, each by its id alone', async () => {
        const { store } = await open();
        const keys = [generateKey(), generateKey(), generateKey()];
        for (const [index, key] of keys.entries()) {
          await store.register(key, allowing(BigInt(index)), NEW);
          await store.advance(1_000);
        }
        const listed = await store.keys();
        expect(listed).toEqual(
          keys.map((key, index) => ({
            id: idOfKey(key),
            ...allowing(BigInt(index)),
            createdAt: expect.any(Number),
            revokedAt: null,
            origin: null,
            usage: UNUSED,
          })),
        );
        const times = listed.map(({ createdAt }) => createdAt);
        expect(times).toEqual([...times].sort((one, other) => one - other));
      });
    });

    describe('admission', () => {
      test('of requests at once: exactly the limit', async () => {
        const { store } = await open();
        const key = generateKey();
        await store.register(key, allowing(20n), NEW);
        await toMinute(store);
        const all = await Promise.all(Array.from({ length: 50 }, () => store.admit(key, RULES)));
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
          for (const key of keys) await store.register(key, allowing(3n, 12n), NEW);
          const model = keys.map(() => UNUSED);
          let before = 0;
          for (const { wait, together } of taken) {
            await store.advance(wait);
            const asked = Array.from({ length: together + 1 }, (_, index) => index % 2);
            const seen = await Promise.all(asked.map((which) => store.admit(keys[which] ?? '', RULES)));
            const expected = asked.map((which, index) => {
              const limits = { minute: 3n, day: 12n };
              const admission = admit(model[which] ?? UNUSED, limits, RULES, seen[index]?.at ?? Number.NaN);
              model[which] = admission.usage;
              return admission;
            });
            expect(seen).toEqual(expected);
            const times = [before, ...seen.map((admission) => admission?.at ?? 0)];
            expect(times).toEqual([...times].sort((one, other) => one - other));
            before = times.at(-1) ?? 0;
          }
        });
        await fc.assert(property, { numRuns: 8 });
      });
    });

    describe('usage', () => {
      test('can be changed by administrators, and is listed', async () => {
        const { store } = await open();
        const key = generateKey();
        await store.register(key, allowing(10n), NEW);
        await toMinute(store);
        await store.admit(key, RULES);
        const ban = (now: number) => ({ firstRefusalAt: null, strikes: 0, bannedUntil: now + 300_000 });
        const changed = await store.changeUsage(idOfKey(key), (usage, now) => ({
          ...usage,
          minute: { ...usage.minute, used: 7n },
          conduct: ban(now),
        }));
        expect(changed?.usage.minute.used).toBe(7n);
        expect(await store.keys()).toEqual([changed]);
        expect((await store.admit(key, RULES))?.outcome).toBe('banned');
        await store.changeUsage(idOfKey(key), (usage) => ({ ...usage, conduct: UNUSED.conduct }));
        expect(await store.admit(key, RULES)).toMatchObject({ outcome: 'admitted', shown: { remaining: 2n } });
        expect(await store.changeUsage('000000000000', () => UNUSED)).toBeNull();
      });
    });

    describe('the stock', () => {
      const huge = 9_223_372_036_854_775_807n;

      test('is put in, changed and taken out, pet by pet', async () => {
        const { store } = await open(3);
        const rex = { petId: huge, quantity: 3n, status: 'pending' as const, record: '{"name":"Rex"}' };
        await store.put([rex, { petId: 1n, quantity: 4n, status: 'sold' }]);
        expect(await store.find(huge)).toEqual(rex);
        expect(await store.find(1n)).toMatchObject({ quantity: 4n, status: 'sold' });
        await store.put([{ petId: huge, quantity: 2n, status: 'sold' }]);
        expect(await store.find(huge)).toEqual({ ...rex, quantity: 2n, status: 'sold' });
        expect(await store.records()).toEqual(['{"name":"Rex"}']);
        expect([await store.remove(huge), await store.remove(huge)]).toEqual([true, false]);
        expect(await store.records()).toEqual([]);
      });

      test('can have another status, and keeps its quantity', async () => {
        const { store } = await open(3);
        await store.setQuantity(1n, huge);
        expect(await store.setStatus(1n, 'sold')).toEqual({ petId: 1n, quantity: huge, status: 'sold' });
        expect(await store.find(1n)).toMatchObject({ quantity: huge, status: 'sold' });
        expect(await store.setStatus(-1n, 'sold')).toBeNull();
      });

      test('is replaced as a whole, with its orders; usage is forgotten if that is asked for, keys never', async () => {
        const { store } = await open(5_000);
        const key = generateKey();
        await store.register(key, allowing(10n), NEW);
        await store.admit(key, RULES);
        const items = [{ petId: -5n, quantity: 1n, status: 'sold' as const }];
        await store.replace({ items, orders: ['{"id":2}', '{"id":1}'] }, { forgetsUsage: false });
        const pages: string[] = [];
        for await (const page of store.inventory()) pages.push(page);
        expect(pages).toEqual(['{"petId":-5,"quantity":1,"status":"sold"}']);
        expect(await store.orders()).toEqual(['{"id":2}', '{"id":1}']);
        expect((await store.keys())[0]?.usage.day.used).toBe(1n);
        await store.replace(seededStock({ pets: 30 }), { forgetsUsage: true });
        expect(await store.orders()).toEqual([]);
        expect(await store.keys()).toMatchObject([{ id: idOfKey(key), usage: UNUSED }]);
      });

      test('that fails to be replaced stays as it is', async () => {
        const { store } = await open(2);
        const twice = { petId: 7n, quantity: 1n, status: 'lost' as 'sold' };
        await expect(store.replace({ items: [twice], orders: [] }, { forgetsUsage: true })).rejects.toThrow();
        expect(await store.find(1n)).not.toBeNull();
        await store.check();
      });
    });

    test('time goes ahead, for all who share it', async () => {
      const { store, again } = await open();
      const other = await again();
      const before = store.now();
      await store.advance(86_400_000);
      expect(store.now()).toBeGreaterThanOrEqual(before + 86_400_000);
      if (other === null || !kind.sharesClock) return;
      await other.admit(generateKey(), RULES);
      expect(other.now()).toBeGreaterThanOrEqual(before + 86_400_000);
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

      test('is the one before if the stock is replaced while it is read, and the one after next time', async () => {
        const { store } = await open(5_000);
        const before = await read(store);
        const slow = store.inventory();
        const pages = [(await slow.next()).value];
        await store.replace(seededStock({ pets: 10 }), { forgetsUsage: false });
        for await (const page of slow) pages.push(page);
        expect(pages.join() === before.join()).toBe(true);
        expect(JSON.parse(`[${await read(store)}]`)).toHaveLength(10);
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
      await store.register(key, allowing(25n), NEW);
      await toMinute(store);
      if (!kind.sharesClock) await other.advance(MINUTE);
      await store.setQuantity(1n, 4_711n);
      expect((await other.find(1n))?.quantity).toBe(4_711n);
      const both = await Promise.all(
        Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? store : other).admit(key, RULES)),
      );
      expect(both.filter((admission) => admission?.outcome === 'admitted')).toHaveLength(25);
      await other.revoke(idOfKey(key));
      expect(await store.admit(key, RULES)).toBeNull();
    });
  });
}
