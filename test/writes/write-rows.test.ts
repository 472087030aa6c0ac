import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Outcome } from '../../src/history/records.ts';
import {
  AuthError,
  FailureError,
  InterruptedError,
  NotFoundError,
  RateLimitedError,
  RejectedError,
  UnavailableError,
} from '../../src/shared/errors.ts';
import type { RowWrite, WriteOptions } from '../../src/writes/row-write.ts';
import { writeRows } from '../../src/writes/write-rows.ts';
import { createTestClock } from '../support/clock.ts';

/** What the service does with one request; after the last of a pet it carries out all. */
type Behaviour =
  | 'ok'
  | 'lost'
  | 'carried out, but lost'
  | 'unreachable'
  | 'rejected'
  | 'another pet'
  | 'another quantity';

function createShop(rows: readonly RowWrite[], behaviours: ReadonlyMap<number, readonly Behaviour[]> = new Map()) {
  const stock = new Map(rows.map(({ petId, before }) => [petId, before]));
  const sent: number[] = [];
  const intended = new Set<number>();
  const outcomes: Outcome[] = [];
  const faults: string[] = [];
  const tries = new Map<number, number>();
  const updateInventory = async (petId: bigint, quantity: number) => {
    const { row = 0 } = rows.find((candidate) => candidate.petId === petId) ?? {};
    if (!intended.has(row)) faults.push(`row ${row} was sent without its intent`);
    if (outcomes.some((outcome) => outcome.row === row && isSettled(outcome))) faults.push(`row ${row} was sent again`);
    intended.delete(row);
    sent.push(row);
    const count = tries.get(row) ?? 0;
    tries.set(row, count + 1);
    await new Promise((resolve) => setImmediate(resolve));
    const behaviour = behaviours.get(row)?.[count] ?? 'ok';
    if (behaviour === 'lost') throw new UnavailableError('reset');
    if (behaviour === 'unreachable') throw new UnavailableError('refused', { unsent: true });
    if (behaviour === 'rejected') throw new RejectedError('no', { status: 400 });
    stock.set(petId, behaviour === 'another quantity' ? quantity + 1 : quantity);
    if (behaviour === 'carried out, but lost') throw new UnavailableError('reset');
    const answered = behaviour === 'another pet' ? petId + 1000n : petId;
    return { petId: answered, quantity: stock.get(petId) ?? 0, status: 'available' };
  };
  const options: WriteOptions = {
    client: { updateInventory },
    journal: {
      intent: async (row) => {
        await Promise.resolve();
        intended.add(row);
      },
      outcome: async (outcome) => void outcomes.push(outcome),
    },
    claims: { claimAll: () => new Map(), done: () => {}, withdraw: () => {} },
    mark: { position: 0, underWay: new Map() },
    readStock: async (petIds) => new Map([...stock].filter(([petId]) => petIds.has(petId))),
    clock: createTestClock(),
    random: () => 0.5,
    concurrency: 3,
    failFast: false,
    interrupted: new AbortController().signal,
    onSettled: () => {},
  };
  return { options, stock, sent, outcomes, faults };
}

function isSettled({ result }: Outcome): boolean {
  return result === 'applied' || result === 'failed' || result === 'conflict';
}

function rowsOf(count: number): RowWrite[] {
  return Array.from({ length: count }, (_, index) => ({
    row: index + 1,
    petId: BigInt(index + 1),
    before: index,
    after: index + 100,
  }));
}

const behaviour = fc.constantFrom<Behaviour>(
  'ok',
  'lost',
  'carried out, but lost',
  'unreachable',
  'rejected',
  'another pet',
  'another quantity',
);

test('whatever the service does: no row is sent without its intent, or after its answer, and the results are the truth', async () => {
  const scenarios = fc.array(fc.array(behaviour, { maxLength: 4 }), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(scenarios, fc.integer({ min: 1, max: 8 }), async (scripts, concurrency) => {
      const rows = rowsOf(scripts.length);
      const shop = createShop(rows, new Map(scripts.map((script, index) => [index + 1, script])));
      const { settled, open, stoppedBy } = await writeRows(rows, { ...shop.options, concurrency });
      expect(shop.faults).toEqual([]);
      // A lonely row may be lost three times in a row, which is taken for a service that is down.
      if (stoppedBy === undefined) expect(settled.size).toBe(rows.length);
      for (const { row, petId, before, after } of rows) {
        const result = settled.get(row)?.result;
        const stock = shop.stock.get(petId);
        if (result === 'applied') expect(stock).toBe(after);
        if (result === undefined && !open.has(row)) expect(stock).toBe(before);
        if (result === 'conflict') expect([before, after]).not.toContain(stock);
        const settlements = shop.outcomes.filter((outcome) => outcome.row === row && isSettled(outcome));
        expect(settlements.map((outcome) => outcome.result)).toEqual(result === undefined ? [] : [result]);
      }
    }),
  );
});

test('an answer about another pet or another quantity is not taken for success', async () => {
  const rows = rowsOf(2);
  const shop = createShop(
    rows,
    new Map([
      [1, ['another pet']],
      [2, ['another quantity']],
    ]),
  );
  const { settled, firstFailure } = await writeRows(rows, shop.options);
  // The first one was carried out, as a look at the stock tells.
  expect(settled.get(1)).toEqual({ result: 'applied' });
  expect(settled.get(2)).toMatchObject({ result: 'failed', error: { code: 'unexpected_answer' } });
  expect(firstFailure).toBeInstanceOf(FailureError);
});

describe('the run stops', () => {
  const stopping = (error: Error) => {
    const rows = rowsOf(40);
    const shop = createShop(rows);
    const { updateInventory } = shop.options.client;
    let answers = 0;
    const client: WriteOptions['client'] = {
      updateInventory: async (petId, quantity, update) => {
        update?.once?.throwIfAborted();
        answers += 1;
        if (answers > 5) throw error;
        return updateInventory(petId, quantity, update);
      },
    };
    return { rows, shop, run: () => writeRows(rows, { ...shop.options, client }) };
  };

  test.each([
    new AuthError('no', { status: 401 }),
    new RateLimitedError('wait', { unsent: true, retryAfterSeconds: 9 }),
  ])('at once: %s', async (error) => {
    const { shop, run } = stopping(error);
    const { settled, open, stoppedBy } = await run();
    expect(stoppedBy).toBe(error);
    expect(settled.size).toBe(5);
    expect(open.size).toBe(0);
    // What had an intent and was not carried out says so.
    const last = new Map(shop.outcomes.map(({ row, result }) => [row, result]));
    expect([...last.values()].filter((result) => result === 'void').length).toBeGreaterThan(0);
    expect([...last.values()]).not.toContain('unknown');
  });

  test('after three rounds in which nothing was settled', async () => {
    const down = new UnavailableError('down', { status: 503 });
    const rows = rowsOf(4);
    const shop = createShop(rows);
    let requests = 0;
    const client: WriteOptions['client'] = {
      updateInventory: async () => {
        requests += 1;
        throw down;
      },
    };
    const { open, stoppedBy } = await writeRows(rows, { ...shop.options, client });
    expect({ stoppedBy, requests }).toEqual({ stoppedBy: down, requests: 12 });
    expect(open.size).toBe(4);
  });

  test('without asking for all rows when none is answered any more', async () => {
    const rows = rowsOf(500);
    const shop = createShop(rows);
    let requests = 0;
    const client: WriteOptions['client'] = {
      updateInventory: async () => {
        requests += 1;
        throw new UnavailableError('refused', { unsent: true });
      },
    };
    const { settled } = await writeRows(rows, { ...shop.options, client });
    expect(settled.size).toBe(0);
    expect(requests).toBeLessThan(60);
  });

  test('when the service asks for a longer wait than a command takes', async () => {
    const rows = rowsOf(1);
    const shop = createShop(rows);
    const busy = new UnavailableError('busy', { status: 503, retryAfterSeconds: 3600 });
    const client: WriteOptions['client'] = { updateInventory: () => Promise.reject(busy) };
    const { stoppedBy } = await writeRows(rows, { ...shop.options, client });
    expect(stoppedBy).toBe(busy);
  });

  test('when the journal can not be written: nothing more is sent', async () => {
    const rows = rowsOf(30);
    const shop = createShop(rows);
    const full = new FailureError('disk full');
    const { intent } = shop.options.journal;
    const journal: WriteOptions['journal'] = {
      ...shop.options.journal,
      intent: (row) => (row > 12 ? Promise.reject(full) : intent(row)),
    };
    const { stoppedBy } = await writeRows(rows, { ...shop.options, journal });
    expect(stoppedBy).toBe(full);
    expect(Math.max(...shop.sent)).toBeLessThanOrEqual(12);
  });

  test('on Ctrl-C, before anything is sent', async () => {
    const rows = rowsOf(3);
    const shop = createShop(rows);
    const interrupted = AbortSignal.abort(new InterruptedError('Interrupted'));
    const { stoppedBy } = await writeRows(rows, { ...shop.options, interrupted });
    expect(stoppedBy).toBeInstanceOf(InterruptedError);
    expect(shop.sent).toEqual([]);
  });
});

test('--fail-fast begins nothing after a row that failed', async () => {
  const rows = rowsOf(40);
  const shop = createShop(rows);
  const client: WriteOptions['client'] = {
    updateInventory: (petId, quantity, update) =>
      petId === 2n
        ? Promise.reject(new NotFoundError('gone', { status: 404 }))
        : shop.options.client.updateInventory(petId, quantity, update),
  };
  const { settled, stoppedBy } = await writeRows(rows, { ...shop.options, client, concurrency: 1, failFast: true });
  expect([...settled.values()].map(({ result }) => result)).toEqual(['applied', 'failed']);
  expect(stoppedBy).toBeUndefined();
});

test('a pet that another command has claimed is a conflict, and not sent', async () => {
  const rows = rowsOf(3);
  const shop = createShop(rows);
  const claims = { ...shop.options.claims, claimAll: () => new Map([[2n, '77.abc']]) };
  const { settled } = await writeRows(rows, { ...shop.options, claims });
  expect([1, 2, 3].map((row) => settled.get(row)?.result)).toEqual(['applied', 'conflict', 'applied']);
  expect(shop.sent).toEqual([1, 3]);
});
