import { expect, test } from 'vitest';
import type { RunContext } from '../../src/runs/run-context.ts';
import { executeSingleWrite } from '../../src/runs/single-write.ts';
import { UnavailableError } from '../../src/shared/errors.ts';
import { createRig, scope, unaborted } from '../rate-limit/rig.ts';

const busy = async (): Promise<never> => {
  throw new UnavailableError('Another process holds the state');
};

test.each([
  ['the pet is locked', { tryAcquire: busy, release: async () => {} }, busy],
  ['the stock is read', { tryAcquire: async () => undefined, release: async () => {} }, busy],
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
  // The next request of a program that continues is not delayed.
  await expect(governor.admit(unaborted)).resolves.toBeDefined();
});
