import { expect, test } from 'vitest';
import type { RunOptions } from '../../src/runs/execute.ts';
import { readModifyWrite } from '../../src/runs/read-modify-write.ts';
import type { RunContext } from '../../src/runs/run-context.ts';
import { executeSingleWrite } from '../../src/runs/single-write.ts';
import { UnavailableError } from '../../src/shared/errors.ts';
import type { StockSnapshot } from '../../src/writes/row-write.ts';
import { createRig, scope, unaborted } from '../rate-limit/rig.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';

const failing = async (): Promise<never> => {
  throw new UnavailableError('Another process holds the state');
};

test.each([
  ['the pet is locked', { tryAcquire: failing, release: async () => {} }, failing],
  ['the stock is read', { tryAcquire: async () => undefined, release: async () => {} }, failing],
])('releases all permits if the state fails before %s', async (_what, place, look) => {
  const { governor, clock, limits } = createRig();
  const context = {
    governor,
    clock,
    interrupted: unaborted,
    serviceName: 'shop',
    target: { env: 'staging' },
    state: { pets: { lock: () => place, beginRead: look } },
  } as unknown as RunContext;
  const write = { command: 'inventory adjust', petId: 4n, delta: 1 };
  await expect(executeSingleWrite(context, write, {})).rejects.toThrow('Another process holds the state');
  expect(limits.peek(scope).inFlight.size).toBe(0);
  // The governor of a program that continues admits its next request at once.
  await expect(governor.admit(unaborted)).resolves.toBeDefined();
});

interface Busy {
  readonly run: string | undefined;
  readonly until: number | undefined;
}
const busy: Busy = { run: undefined, until: undefined };

/** Locks and reads pet 4. `script` decides on each attempt whether the lock is busy. */
async function lockAfter(script: (clock: TestClock, tries: number) => Busy | undefined, admitted = [2]) {
  const clock = createTestClock();
  const held = new Set<object>();
  const log: string[] = [];
  const delays: string[] = [];
  const admit = () => {
    const permit = { release: async () => void held.delete(permit) };
    held.add(permit);
    return permit;
  };
  let [tries, admissions] = [0, 0];
  const lock = {
    seen: { readVersion: { sequence: 0, at: 0 }, writes: [] },
    tryAcquire: async () => {
      tries += 1;
      const found = script(clock, tries);
      log.push(`${found === undefined ? 'lock' : 'busy'} with ${held.size}`);
      return found;
    },
    release: async () => void log.push('unlock'),
  };
  const context = {
    clock,
    interrupted: unaborted,
    onDelay: (text: string) => void delays.push(text),
    serviceName: 'shop',
    target: { env: 'staging' },
    governor: {
      admitSeveral: async ({ min, max, beforeWait }: { min: number; max: number; beforeWait: () => Promise<void> }) => {
        const count = admitted[admissions++] ?? max;
        log.push(`admit ${min} to ${max}`);
        if (count === 0) await beforeWait();
        return Array.from({ length: count || max }, admit);
      },
    },
    state: { pets: { lock: () => lock } },
    client: {
      async *scanInventory({ permit }: { permit: { release(): Promise<void> } }) {
        await permit.release();
        log.push('read');
        yield [{ petId: 4n, quantity: 5, status: 'sold' }];
      },
    },
  } as unknown as RunContext;
  const options = { dryRun: false, failFast: false, concurrency: 1, guards: {} } as RunOptions;
  const seen: bigint[] = [];
  let stock: number | undefined;
  const planOf = ({ quantities }: StockSnapshot) => {
    stock = quantities.get(4n);
    log.push(`plan with ${held.size}`);
    return undefined;
  };
  const error = await readModifyWrite(context, 4n, planOf, options, { onItem: ({ petId }) => seen.push(petId) }).catch(
    (error: Error) => error.message,
  );
  return { log, sleeps: clock.sleeps, delays, error, stock, seen, held: held.size, waited: clock.monotonic() - 1000 };
}

test('admits both requests before it locks and reads the pet', async () => {
  expect(await lockAfter(() => undefined)).toMatchObject({
    log: ['admit 2 to 2', 'lock with 2', 'read', 'plan with 1', 'unlock'],
    ...{ sleeps: [], error: undefined, stock: 5, seen: [4n], held: 0 },
  });
});

test('releases permits while it waits for a locked pet, and keeps the lock while it is admitted again', async () => {
  const { log, sleeps, delays } = await lockAfter((_clock, tries) => (tries < 9 ? busy : undefined));
  const waits = Array(7).fill('busy with 0');
  const rest = ['lock with 0', 'admit 2 to 2', 'read', 'plan with 1', 'unlock'];
  expect(log).toEqual(['admit 2 to 2', 'busy with 2', ...waits, ...rest]);
  expect([sleeps, delays]).toEqual([[10, 20, 40, 80, 160, 250, 250], []]);
});

test('locks the pet again if it was unlocked for a wait for the limit', async () => {
  const { log } = await lockAfter((_clock, tries) => (tries === 1 ? busy : undefined), [2, 0]);
  const again = ['admit 2 to 2', 'unlock', 'lock with 2'];
  expect(log).toEqual(['admit 2 to 2', 'busy with 2', 'lock with 0', ...again, 'read', 'plan with 1', 'unlock']);
});

test('admits the write after the read if both requests are not admitted at once', async () => {
  const { log } = await lockAfter(() => undefined, [1]);
  expect(log).toEqual(['admit 2 to 2', 'lock with 1', 'read', 'admit 1 to 1', 'plan with 1', 'unlock']);
});

test.each<[string, (clock: TestClock, tries: number) => Busy | undefined, object]>([
  [
    'reports once that another command is writing the pet, after more than 1 s',
    (_clock, tries) => (tries < 16 ? busy : undefined),
    { delays: ['Waiting for another command to finish with pet 4'], error: undefined },
  ],
  [
    'reports when a request of another run can no longer arrive',
    ({ monotonic }) => (monotonic() < 9000 ? { run: 'x', until: 9000 } : undefined),
    { delays: ['A request of run x may still reach the service; continuing in 7 s'], waited: 8000 },
  ],
  [
    'gives up on a pet that stays locked for more than 90 s',
    () => ({ run: 'x', until: undefined }),
    { error: 'Pet 4 has been locked by run x for 90 s. Nothing was written', waited: expect.closeTo(90_060, -1) },
  ],
  [
    'does not give up on a pet while a request of another run may arrive',
    ({ monotonic }) => (monotonic() < 150_000 ? { run: 'x', until: 150_000 } : undefined),
    { error: undefined, stock: 5, waited: 149_000 },
  ],
])('%s', async (_what, script, expected) => {
  expect(await lockAfter(script)).toMatchObject({ held: 0, ...expected });
});
