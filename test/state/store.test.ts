import { copyFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { intend } from '../../src/state/intents.ts';
import type { Store, TurnWait } from '../../src/state/state-store.ts';
import { statement } from '../../src/state/statements.ts';
import { engines, headOf, historyOf, newState, rowsFor, service, systemClock } from './rig.ts';

const put = (name: string, count: number) =>
  statement(
    'INSERT INTO services (service, last_intent) VALUES (?, ?) ON CONFLICT (service) DO UPDATE SET last_intent = excluded.last_intent',
    ...[name, count],
  );
const count = (name: string) => statement('SELECT last_intent AS count FROM services WHERE service = ?', name);

async function countOf(store: Store, name: string): Promise<number> {
  return Number((await store.ask([count(name)])).answers[0]?.[0]?.count ?? 0);
}

/** Adds 1 to a number, by what the transaction has read. */
function increment(store: Pick<Store, 'transact'>, name: string): Promise<number> {
  return store.transact([count(name)], ([rows]) => {
    const next = Number(rows?.[0]?.count ?? 0) + 1;
    return { writes: [put(name, next)], result: next };
  });
}

function waiting(fields: Partial<TurnWait> = {}): TurnWait {
  return { isBulk: false, signal: new AbortController().signal, onWait: async () => {}, ...fields };
}

describe.each(engines)('a store in %s', (engine) => {
  it('writes what a transaction decides by its answers', async () => {
    const store = await (await newState(engine)).open();
    expect(await increment(store, 'a')).toBe(1);
    expect(await increment(store, 'a')).toBe(2);
    expect(await countOf(store, 'a')).toBe(2);
  });

  it('writes nothing if a decision throws', async () => {
    const store = await (await newState(engine)).open();
    const refused = store.transact([count('a')], () => {
      throw new Error('refused');
    });
    await expect(refused).rejects.toThrow('refused');
    expect(await increment(store, 'a')).toBe(1);
  });

  it('writes all of a transaction or nothing', async () => {
    const store = await (await newState(engine)).open();
    const writes = [put('a', 1), statement('INSERT INTO nowhere VALUES (1)')];
    await expect(store.transact([], () => ({ writes, result: 0 }))).rejects.toThrow(/nowhere/);
    expect(await countOf(store, 'a')).toBe(0);
  });

  it('runs the transactions of several processes one after the other', async () => {
    const state = await newState(engine);
    const stores = await Promise.all([state.open(), state.open(), state.open()]);
    await Promise.all(stores.flatMap((store) => Array.from({ length: 20 }, () => increment(store, 'a'))));
    expect(await countOf(stores[0] as Store, 'a')).toBe(60);
  });

  it.each([[9_223_372_036_854_775_807n], [-9_223_372_036_854_775_808n]])('keeps every digit of %s', async (id) => {
    const store = await (await newState(engine)).open();
    const { answers } = await store.ask([statement('SELECT CAST(CAST(? AS bigint) AS text) AS id', id)]);
    expect(answers[0]?.[0]?.id).toBe(String(id));
  });

  it('gives the turn of a service to one process at a time', async () => {
    const state = await newState(engine);
    const [one, other] = [await state.open(), await state.open()];
    const turn = await one.takeTurn(service, waiting());
    const order: string[] = [];
    const next = other.takeTurn(service, waiting()).then((turn) => {
      order.push('second');
      return turn;
    });
    expect(await increment(turn, 'a')).toBe(1);
    const elsewhere = await one.takeTurn('another service', waiting());
    await elsewhere.release();
    order.push('first');
    await turn.release();
    await turn.release();
    await (await next).release();
    expect(order).toEqual(['first', 'second']);
  });

  it('gives the turn of a process that has closed to the next', async () => {
    const state = await newState(engine);
    const [one, other] = [await state.open(), await state.open()];
    await one.takeTurn(service, waiting());
    await one.lockRun('run');
    await one.close();
    await (await other.takeTurn(service, waiting())).release();
    expect(await other.lockRun('run')).toBeDefined();
  });

  it('lets a single change go before bulk runs that came earlier', async () => {
    const state = await newState(engine);
    const [holder, bulk] = [await state.open(), await state.open()];
    // It looks less often than the bulk run whether the turn is free.
    const single = await state.open({ ...systemClock, sleep: (ms, signal) => systemClock.sleep(50 * ms, signal) });
    const turn = await holder.takeTurn(service, waiting({ isBulk: true }));
    const order: string[] = [];
    const taken = (store: Store, isBulk: boolean) =>
      store.takeTurn(service, waiting({ isBulk })).then(async (turn) => {
        order.push(isBulk ? 'bulk' : 'single');
        await turn.release();
      });
    const bulkTurn = taken(bulk, true);
    // Answered when the first attempt to take the turn is over.
    await bulk.ask([]);
    const singleTurn = taken(single, false);
    await single.ask([]);
    await turn.release();
    await Promise.all([bulkTurn, singleTurn]);
    expect(order).toEqual(['single', 'bulk']);
  });

  it('leaves the line of those that wait for a turn when it is interrupted', async () => {
    const state = await newState(engine);
    const stores = await Promise.all([state.open(), state.open(), state.open()]);
    const [holder, waits, next] = stores as [Store, Store, Store];
    const turn = await holder.takeTurn(service, waiting());
    const ending = new AbortController();
    for (const isBulk of [true, false]) {
      const ended = waits.takeTurn(service, waiting({ isBulk, signal: ending.signal }));
      ending.abort(new Error('interrupted'));
      await expect(ended).rejects.toThrow('interrupted');
    }
    await turn.release();
    await (await next.takeTurn(service, waiting({ isBulk: true }))).release();
    await (await next.takeTurn(service, waiting())).release();
  });

  it('locks a run for one process at a time', async () => {
    const state = await newState(engine);
    const [one, other] = [await state.open(), await state.open()];
    const lock = await one.lockRun('run');
    expect([await other.lockRun('run'), await one.lockRun('run')]).toEqual([undefined, undefined]);
    expect([...(await other.lockedAmong(['run', 'free']))]).toEqual(['run']);
    await lock?.release();
    await lock?.release();
    await one.ask([]);
    expect((await other.lockedAmong(['run'])).size).toBe(0);
    const again = await other.lockRun('run');
    await again?.release();
    // What is asked next is answered when the lock is free.
    await other.ask([]);
    other.forgetRun('run');
    expect(await one.lockRun('run')).toBeDefined();
  });
});

it('writes no more to a file that was replaced', async () => {
  const { place, open } = await newState('sqlite');
  const store = await open();
  await increment(store, 'a');
  renameSync(join(place, 'state.db'), join(place, 'old.db'));
  copyFileSync(join(place, 'old.db'), join(place, 'state.db'));
  await expect(increment(store, 'a')).rejects.toThrow(/was removed or replaced/);
});

it('bounds how long a request may be under way that a clock ahead of this one has recorded', async () => {
  const { open } = await newState('sqlite');
  const ahead = await open({ ...systemClock, now: () => systemClock.now() + 86_400_000 });
  const run = await historyOf(ahead).begin(headOf(), rowsFor(1n));
  await ahead.transact([], (_answers, moment) => ({
    writes: intend(run, run.rows, 0, moment, 1000),
    result: undefined,
  }));
  const { answers } = await (await open()).ask([statement('SELECT in_flight_until AS until FROM rows')]);
  expect(Number(answers[0]?.[0]?.until)).toBeLessThanOrEqual(systemClock.now() + 1000);
});

it('waits for the disk of a database where a transaction is to be durable', async () => {
  const store = await (await newState('postgres')).open();
  const asked = [statement("SELECT current_setting('synchronous_commit') AS setting")];
  const settingOf = (isDurable: boolean) =>
    store.transact(asked, ([rows]) => ({ writes: [], result: rows?.[0]?.setting }), isDurable);
  expect([await settingOf(true), await settingOf(false)]).toEqual(['on', 'off']);
});
