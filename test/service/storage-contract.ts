import { describe, expect, onTestFinished, test } from 'vitest';
import { generateKey } from '../../src/service/index.ts';
import { idOfKey } from '../../src/service/keys/key.ts';
import { admit, type LimitRules, UNUSED } from '../../src/service/limits/admission.ts';
import { seededStock } from '../../src/service/seed/stock.ts';
import type { Entitlement, ServiceStorage } from '../../src/service/storage/storage.ts';
import fc from '../support/seeded-fast-check.ts';

export interface Kind {
  readonly name: string;
  /** Creates a store with this many pets. `again` opens it once more; null if it can't be opened twice. */
  open(pets: number): Promise<{ storage: ServiceStorage; again: (() => Promise<ServiceStorage>) | null }>;
  /** Whether every process that has the store open shares its clock. */
  readonly sharesClock: boolean;
}

const MINUTE = 60_000;
const RULES: LimitRules = { minuteMs: MINUTE, ban: { strikes: 2, seconds: 300 } };
const NEW = { keepsKnown: false };

function allowing(minute: bigint, day = 1_000n): Entitlement {
  return { plan: 'enterprise', limits: { minute, day } };
}

/** Moves the storage's clock to the beginning of a minute, so that no minute ends in the middle of a test. */
async function toMinute(storage: ServiceStorage): Promise<void> {
  await storage.check();
  await storage.advance(MINUTE - (storage.now() % MINUTE));
}

async function read(storage: ServiceStorage): Promise<string[]> {
  const pages: string[] = [];
  for await (const page of storage.inventory()) pages.push(page);
  return pages;
}

/** Defines the tests that every kind of storage has to pass. */
export function describeStore(kind: Kind): void {
  /** Opens a store with a key that may send `minute` requests a minute. */
  const open = async ({ pets = 24, minute = 10n } = {}) => {
    const { storage, again: openAgain } = await kind.open(pets);
    onTestFinished(() => storage.close());
    const again = async () => {
      const other = (await openAgain?.()) ?? null;
      if (other !== null) onTestFinished(() => other.close());
      return other;
    };
    const key = generateKey();
    await storage.register(key, allowing(minute), NEW);
    return { store: storage, key, again };
  };

  describe(kind.name, { timeout: 30_000 }, () => {
    describe('keys', () => {
      test('admits and revokes only known keys, and counts exactly beyond 2^53', async () => {
        const { store: storage, key } = await open({ minute: 2n ** 63n - 2n });
        expect(await storage.admit(generateKey(), RULES)).toBeNull();
        expect(await storage.revoke('000000000000')).toBeNull();
        await storage.register(key, allowing(2n ** 63n - 2n, 2n ** 63n - 1n), NEW);
        const shown = { limit: 2n ** 63n - 2n, remaining: 2n ** 63n - 3n };
        expect(await storage.admit(key, RULES)).toMatchObject({ shown });
      });

      test('changes or keeps the limits of a key that is registered again, and keeps its usage', async () => {
        const { store: storage, key } = await open();
        await toMinute(storage);
        const remaining = async () => (await storage.admit(key, RULES))?.shown.remaining;
        expect(await remaining()).toBe(9n);
        await storage.register(key, allowing(20n), { keepsKnown: true });
        expect(await remaining()).toBe(8n);
        await storage.register(key, allowing(20n), NEW);
        expect(await remaining()).toBe(17n);
        expect(await storage.keys()).toMatchObject([{ limits: { minute: 20n }, usage: { minute: { used: 3n } } }]);
      });

      test('keeps a revoked key revoked if it is registered again', async () => {
        const { store: storage, key } = await open();
        const revoked = await storage.revoke(idOfKey(key));
        expect(revoked).toMatchObject({ id: idOfKey(key), revokedAt: expect.any(Number) });
        await storage.register(key, allowing(10n), NEW);
        expect(await storage.admit(key, RULES)).toBeNull();
        await storage.advance(5_000);
        expect(await storage.revoke(idOfKey(key))).toMatchObject({ revokedAt: revoked?.revokedAt });
      });

      test('lists keys oldest first, each with its id and name', async () => {
        const { store: storage, key } = await open();
        const others = [generateKey(), generateKey()];
        for (const other of others) {
          await storage.advance(1_000);
          await storage.register(other, allowing(10n), { ...NEW, name: 'till 3' });
          // Registering the key again without a name keeps its name.
          await storage.register(other, allowing(10n), NEW);
        }
        const listed = await storage.keys();
        const common = { ...allowing(10n), revokedAt: null, origin: null, usage: UNUSED };
        const ids = [key, ...others].map(idOfKey);
        const nameOf = (id: string) => (id === idOfKey(key) ? null : 'till 3');
        expect(listed).toEqual(ids.map((id) => ({ ...common, id, name: nameOf(id), createdAt: expect.any(Number) })));
        const times = listed.map(({ createdAt }) => createdAt);
        expect(times).toEqual([...times].sort((one, other) => one - other));
      });
    });

    describe('admission', () => {
      test('admits exactly the limit of simultaneous requests', async () => {
        const { store: storage, key } = await open({ minute: 20n });
        await toMinute(storage);
        const all = await Promise.all(Array.from({ length: 50 }, () => storage.admit(key, RULES)));
        expect(all.filter((admission) => admission?.outcome === 'admitted')).toHaveLength(20);
        expect(all.map((admission) => admission?.shown.remaining).slice(0, 20)).toEqual(
          Array.from({ length: 20 }, (_, index) => BigInt(19 - index)),
        );
      });

      test("admits each key's requests by the rules, even if several arrive at once", async () => {
        const { store: storage } = await open();
        const steps = fc.array(
          fc.record({ wait: fc.constantFrom(0, 0, 400, 1_100, 30_000, 60_000), together: fc.nat({ max: 3 }) }),
          { maxLength: 25 },
        );
        const property = fc.asyncProperty(steps, async (taken) => {
          const keys = [generateKey(), generateKey()];
          for (const key of keys) await storage.register(key, allowing(3n, 12n), NEW);
          const model = keys.map(() => UNUSED);
          let before = 0;
          for (const { wait, together } of taken) {
            await storage.advance(wait);
            const asked = Array.from({ length: together + 1 }, (_, index) => index % 2);
            const seen = await Promise.all(asked.map((which) => storage.admit(keys[which] ?? '', RULES)));
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

      test('applies and lists the usage of a key that an administrator has changed', async () => {
        const { store: storage, key } = await open();
        await toMinute(storage);
        await storage.admit(key, RULES);
        const changed = await storage.changeUsage(idOfKey(key), (usage, now) => ({
          ...usage,
          minute: { ...usage.minute, used: 7n },
          conduct: { firstRefusalAt: null, strikes: 0, bannedUntil: now + 300_000 },
        }));
        expect(changed?.usage.minute.used).toBe(7n);
        expect(await storage.keys()).toEqual([changed]);
        expect((await storage.admit(key, RULES))?.outcome).toBe('banned');
        await storage.changeUsage(idOfKey(key), (usage) => ({ ...usage, conduct: UNUSED.conduct }));
        expect(await storage.admit(key, RULES)).toMatchObject({ outcome: 'admitted', shown: { remaining: 2n } });
        expect(await storage.changeUsage('000000000000', () => UNUSED)).toBeNull();
      });
    });

    describe('the stock', () => {
      const huge = 9_223_372_036_854_775_807n;

      test('adds, changes and removes single pets', async () => {
        const { store: storage } = await open({ pets: 3 });
        const rex = { petId: huge, quantity: 3n, status: 'pending' as const, record: '{"name":"Rex"}' };
        await storage.put([rex, { petId: 1n, quantity: 4n, status: 'sold' }]);
        expect(await storage.find(huge)).toEqual(rex);
        expect(await storage.find(1n)).toMatchObject({ quantity: 4n, status: 'sold' });
        await storage.put([{ petId: huge, quantity: 2n, status: 'sold' }]);
        expect(await storage.find(huge)).toEqual({ ...rex, quantity: 2n, status: 'sold' });
        expect(await storage.setStatus(huge, 'pending')).toEqual({ petId: huge, quantity: 2n, status: 'pending' });
        expect(await storage.find(huge)).toEqual({ ...rex, quantity: 2n });
        expect(await storage.setStatus(-1n, 'sold')).toBeNull();
        expect(await storage.records()).toEqual(['{"name":"Rex"}']);
        expect([await storage.remove(huge), await storage.remove(huge)]).toEqual([true, false]);
        expect(await storage.records()).toEqual([]);
      });

      test('replaces the stock and orders, clears usage only on request, and keeps keys', async () => {
        const { store: storage, key } = await open({ pets: 5_000 });
        await storage.admit(key, RULES);
        const items = [{ petId: -5n, quantity: 1n, status: 'sold' as const }];
        await storage.replace({ items, orders: ['{"id":2}', '{"id":1}'] }, { clearsUsage: false });
        expect(await read(storage)).toEqual(['{"petId":-5,"quantity":1,"status":"sold"}']);
        expect(await storage.orders()).toEqual(['{"id":2}', '{"id":1}']);
        expect((await storage.keys())[0]?.usage.day.used).toBe(1n);
        await storage.replace(seededStock({ pets: 30 }), { clearsUsage: true });
        expect(await storage.orders()).toEqual([]);
        expect(await storage.keys()).toMatchObject([{ id: idOfKey(key), usage: UNUSED }]);
      });

      test('keeps the stock if replacing it fails', async () => {
        const { store: storage } = await open({ pets: 2 });
        const lost = { petId: 7n, quantity: 1n, status: 'lost' as 'sold' };
        await expect(storage.replace({ items: [lost], orders: [] }, { clearsUsage: true })).rejects.toThrow();
        expect(await storage.find(1n)).not.toBeNull();
        await storage.check();
      });
    });

    test("advances a storage's clock, and the clocks of other storages that share it", async () => {
      const { store: storage, again } = await open();
      const other = await again();
      const before = storage.now();
      await storage.advance(86_400_000);
      expect(storage.now()).toBeGreaterThanOrEqual(before + 86_400_000);
      if (other === null || !kind.sharesClock) return;
      await other.admit(generateKey(), RULES);
      expect(other.now()).toBeGreaterThanOrEqual(before + 86_400_000);
    });

    describe('the inventory', () => {
      test.each([0, 1, 24, 999, 1_000, 1_001, 2_500])('pages through %i pets by exact ids', async (pets) => {
        const pages = await read((await open({ pets })).store);
        expect(JSON.parse(`[${pages.join(',')}]`)).toHaveLength(pets);
        for (const page of pages) expect(page.length).toBeLessThan(200_000);
        const ids = pages.flatMap((page) => [...page.matchAll(/"petId":(-?\d+)/g)].map(([, id = '']) => BigInt(id)));
        expect(ids).toEqual([...ids].sort((one, other) => (one < other ? -1 : 1)));
        expect(new Set(ids).size).toBe(pets);
      });

      test('reads one consistent list, however slowly, while pets are updated and then replaced', async () => {
        const { store: storage } = await open({ pets: 5_000 });
        const before = await read(storage);
        const [updated, replaced] = [storage.inventory(), storage.inventory()];
        const pages = [(await updated.next()).value];
        for (const petId of [1n, 2_500n, 4_900n]) await storage.setQuantity(petId, 123_456n);
        for await (const page of updated) pages.push(page);
        expect(pages.join() === before.join()).toBe(true);
        const between = await read(storage);
        expect(between.join().match(/123456/g)).toHaveLength(3);
        const others = [(await replaced.next()).value];
        await storage.replace(seededStock({ pets: 10 }), { clearsUsage: false });
        for await (const page of replaced) others.push(page);
        expect(others.join() === between.join()).toBe(true);
        expect(JSON.parse(`[${await read(storage)}]`)).toHaveLength(10);
      });

      test('frees the readers of eight clients that disconnect in the middle of a list', async () => {
        const { store: storage } = await open({ pets: 5_000 });
        const readers = Array.from({ length: 8 }, (_, at) => storage.inventory(`key ${at % 4}`));
        for (const reader of readers) await reader.next();
        for (const reader of readers) await reader.return();
        expect((await read(storage)).length).toBeGreaterThan(1);
      });
    });

    describe('a pet', () => {
      test('finds and sets a pet only by its exact id', async () => {
        const { store: storage } = await open();
        expect(await storage.find(9_007_199_254_740_993n)).toMatchObject({ petId: 9_007_199_254_740_993n });
        expect(await storage.find(9_007_199_254_740_994n)).toBeNull();
        expect(await storage.setQuantity(424_242n, 1n)).toBeNull();
        const petId = 9_223_372_036_854_775_807n;
        for (const quantity of [0n, -1n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)]) {
          const set = await storage.setQuantity(petId, quantity);
          expect(set).toEqual({ petId, quantity, status: expect.any(String) });
          expect(await storage.find(petId)).toEqual(set);
        }
      });

      test('returns to each simultaneous update its own result, and stores the last quantity', async () => {
        const { store: storage } = await open();
        const set = await Promise.all([5n, 6n, 7n].map((quantity) => storage.setQuantity(1n, quantity)));
        expect(set.map((item) => item?.quantity)).toEqual([5n, 6n, 7n]);
        expect((await storage.find(1n))?.quantity).toBe(7n);
      });
    });

    test('completes pending work before it closes', async () => {
      const { store: storage, key, again } = await open();
      const [update, admission] = [storage.setQuantity(1n, 77n), storage.admit(key, RULES)];
      await storage.close();
      expect(await admission).toMatchObject({ outcome: 'admitted' });
      expect(await update).toMatchObject({ quantity: 77n });
      const other = await again();
      if (other !== null) expect((await other.find(1n))?.quantity).toBe(77n);
    });

    test('shares stock, limits and keys between two open storages', async ({ skip }) => {
      const { store: storage, key, again } = await open({ minute: 25n });
      const other = await again();
      if (other === null) return skip('what is in memory is opened once');
      await toMinute(storage);
      if (!kind.sharesClock) await other.advance(MINUTE);
      await storage.setQuantity(1n, 4_711n);
      expect((await other.find(1n))?.quantity).toBe(4_711n);
      const both = await Promise.all(
        Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? storage : other).admit(key, RULES)),
      );
      expect(both.filter((admission) => admission?.outcome === 'admitted')).toHaveLength(25);
      await other.revoke(idOfKey(key));
      expect(await storage.admit(key, RULES)).toBeNull();
    });
  });
}
