import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Wanted } from '../../src/rate-limit/governor.ts';
import { openState } from '../../src/state/open-state.ts';
import { createTestClock } from '../support/clock.ts';
import fc from '../support/seeded-fast-check.ts';
import { processWith } from './rig.ts';
import type { Outcome, ProcessPlan, Scenario } from './scenario.ts';
import { simulate } from './simulation.ts';

/** More of them with `PETSTOCK_RUNS=1000`. */
const numRuns = Number(process.env.PETSTOCK_RUNS ?? 6);
const integer = (min: number, max: number) => fc.integer({ min, max });
const limited = (min: number, max: number) =>
  fc.record({
    window: fc.constantFrom(2000, 10_000),
    limit: integer(min, max),
    start: integer(0, 60_000).map((ms) => Date.UTC(2026, 0, 15, 12) + ms),
  });
const want = fc.constantFrom<Wanted>({ least: 1, most: 1 }, { least: 2, most: 2 }, { least: 1, most: 8 });
const surroundings = {
  latency: integer(0, 300).map((ms) => [ms, ms] as const),
  connecting: fc.constantFrom([0, 0] as const, [50, 3000] as const),
  skew: fc.constantFrom(0, 30_000, -86_400_000),
  seed: integer(0, 2 ** 31 - 1),
};
const requests = integer(1, 25);
const concurrency = integer(1, 8);
const plain = fc.record({ requests, concurrency, startsAt: integer(0, 3000), want });
const rough: fc.Arbitrary<ProcessPlan> = fc.record(
  {
    ...{ requests, concurrency, want, startsAt: integer(0, 5000), killedAt: integer(0, 20_000), bulk: fc.boolean() },
    stops: fc.array(fc.record({ at: integer(0, 20_000), length: integer(1, 40_000) }), { maxLength: 1 }),
  },
  { requiredKeys: ['requests', 'concurrency'] },
);

/** Each process of the scenario has a state of its own, all of them on one file. */
async function simulateOnFile(scenario: Scenario): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'petstock-simulation-'));
  const clock = createTestClock();
  const open = () =>
    openState({
      ...{ folder, need: 'limits', clock, command: 'inventory apply', random: Math.random },
      processes: { self: processWith(), isGone: () => false, isStopped: () => false },
      warn: (line) => {
        throw new Error(line);
      },
    });
  const states = [];
  for (const _ of scenario.processes) states.push(await open());
  try {
    const unused = states.map(({ limits }) => limits);
    return await simulate(scenario, () => {
      const next = unused.pop();
      if (next === undefined) throw new Error('there are more processes than states');
      return next;
    });
  } finally {
    for (const state of states) await state.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const check = (scenario: fc.Arbitrary<Scenario>) =>
  fc.assert(
    fc.asyncProperty(scenario, async (given) => {
      const { refusals, inside, service, foreignRate } = await simulateOnFile(given);
      const { mostUsed } = service;
      expect({ refusals: refusals.length, inside, foreignRate }).toEqual({ refusals: 0, inside: 0, foreignRate: 0 });
      expect(mostUsed).toBeLessThanOrEqual(given.service.limit);
    }),
    { numRuns, endOnFailure: true },
  );

test(
  'several processes on one file: no 429, and the service never counts more than its limit',
  () =>
    check(
      fc.record({
        ...surroundings,
        service: limited(1, 20),
        processes: fc.array(plain, { minLength: 2, maxLength: 4 }),
      }),
    ),
  3_600_000,
);

test(
  'processes that are killed and stopped on one file: no 429',
  () =>
    // A probe that was lost with its process may have been counted, which a limit of 1 would not bear.
    check(
      fc.record({
        ...surroundings,
        service: limited(8, 28),
        processes: fc.array(rough, { minLength: 2, maxLength: 4 }),
      }),
    ),
  3_600_000,
);
