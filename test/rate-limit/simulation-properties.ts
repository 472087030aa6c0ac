import { afterAll, describe, expect, test, vi } from 'vitest';
import type { Wanted } from '../../src/rate-limit/governor.ts';
import fc from '../support/seeded-fast-check.ts';
import type { ProcessPlan, Scenario } from './scenario.ts';
import type { SimulatedStores } from './simulated-stores.ts';
import { simulate } from './simulation.ts';

const hour = 3_600_000;

const integer = (min: number, max: number) => fc.integer({ min, max });
const noon = Date.UTC(2026, 0, 15, 12);

const service = fc.record({
  window: fc.constantFrom(2000, 4000, 10_000, 60_000),
  limit: integer(1, 40),
  start: integer(0, 60_000).map((ms) => noon + ms),
  drift: fc.constantFrom(0, 0.0001, -0.0001),
});
const latency = fc.oneof(
  integer(0, 300).map((ms) => [ms, ms] as const),
  fc.tuple(integer(0, 200), integer(0, 1500)).map(([from, more]) => [from, from + more] as const),
);
const skew = fc.constantFrom(0, 30_000, -30_000, 24 * hour, -24 * hour, 1234);
const seed = integer(0, 2 ** 31 - 1);
const want = fc.constantFrom<Wanted>(
  { least: 1, most: 1 },
  { least: 2, most: 2 },
  { least: 1, most: 8 },
  { least: 2, most: 5 },
);
const plain: fc.Arbitrary<ProcessPlan> = fc.record({
  requests: integer(1, 40),
  concurrency: integer(1, 12),
  startsAt: integer(0, 5000),
  want,
});
const steps = fc.array(fc.record({ at: integer(0, 60_000), ms: integer(-100_000, 100_000) }), { maxLength: 2 });
const connecting = fc.constantFrom([0, 0] as const, [0, 100] as const, [50, 3000] as const);

/** Processes that are killed, stopped and stepped, whose requests get lost. */
const rough: fc.Arbitrary<ProcessPlan> = fc.record(
  {
    requests: integer(1, 60),
    concurrency: integer(1, 20),
    startsAt: integer(0, 20_000),
    killedAt: integer(0, 60_000),
    stops: fc.array(fc.record({ at: integer(0, 60_000), length: integer(1, 60_000) }), { maxLength: 2 }),
    steps,
    bulk: fc.boolean(),
    want,
  },
  { requiredKeys: ['requests', 'concurrency'] },
);
const storeLatency = fc.constantFrom(0, 0, 0, 2, 40);

vi.setConfig({ testTimeout: 3_600_000 });

/** A request leaves one process in the 20 ms in which the 429 of another is on its way to the store. */
const leavesWhile429IsWritten: Scenario = {
  service: { window: 2000, limit: 17, start: noon + 55_687, drift: 0.0001, late: 0, refusal: 'no Retry-After' },
  ...{ latency: [30, 30], connecting: [50, 3000], skew: -30_000, seed: 371_909_227, storeLatency: 40, lost: 0 },
  ...{ foreign: 10, maxWait: 90_000 },
  processes: [
    {
      ...{ requests: 54, concurrency: 4, startsAt: 15_157, killedAt: 7236, steps: [{ at: 37_049, ms: -10_126 }] },
      ...{ bulk: true, want: { least: 2, most: 2 }, machine: 0 },
    },
    {
      ...{ requests: 5, concurrency: 2, startsAt: 9429, killedAt: 45_050, stops: [{ at: 31_065, length: 5778 }] },
      steps: [
        { at: 26_356, ms: 10_502 },
        { at: 9158, ms: -64_971 },
      ],
      ...{ bulk: false, machine: 1 },
    },
    {
      ...{ requests: 46, concurrency: 10, startsAt: 7287, bulk: true, want: { least: 2, most: 2 }, machine: 1 },
      stops: [
        { at: 54_693, length: 18_558 },
        { at: 32_624, length: 31_668 },
      ],
    },
  ],
};

/** Two processes are done one window before the third, which then has 15 requests left, and sends them one by one. */
const lastWindowForOne: Scenario = {
  service: { window: 4000, limit: 15, start: noon },
  ...{ latency: [100, 100], skew: 0, seed: 0 },
  processes: Array.from({ length: 3 }, () => ({ requests: 60, concurrency: 1 })),
};

/** Answers tell of the minute and of the day by turns: the first that tells of the day was overtaken by one of the minute. */
const dayIsToldLate: Scenario = {
  service: { window: 2000, limit: 32, start: noon + 56_593, drift: 0.0001, dayLimit: 34 },
  ...{ latency: [183, 931], skew: 30_000, seed: 1_739_478_377, maxWait: 90_000 },
  processes: [
    { requests: 13, concurrency: 7, startsAt: 2236, want: { least: 2, most: 2 } },
    { requests: 19, concurrency: 9, startsAt: 3475, want: { least: 1, most: 1 } },
    { requests: 10, concurrency: 2, startsAt: 1168, want: { least: 2, most: 5 } },
  ],
};

/** By the clock of the backend that answers first the window has ended while five requests connect. */
const othersOnTheirWay: Scenario = {
  service: { window: 60_000, limit: 6, start: noon + 50_038, drift: 0, ahead: 4000 },
  ...{ latency: [53, 499], connecting: [50, 3000], skew: 0, seed: 1_011_092_650, storeLatency: 0 },
  processes: [
    { requests: 21, concurrency: 11, startsAt: 3269 },
    { requests: 35, concurrency: 5, startsAt: 2944 },
    { requests: 1, concurrency: 7, startsAt: 3491 },
  ],
};

/**
 * The makespan of processes that lose no time; undefined where a window is too short to be used up in it.
 *
 * Each has requests of its own, and which of them gets how many places of a window is left open. So a window may be left to
 * one of them, when the others are done, and takes as long as this one needs for all that it can still have to send.
 */
function optimum({ service, processes, latency }: Scenario): number | undefined {
  const { window, limit, start } = service;
  const requests = processes.reduce((sum, process) => sum + process.requests, 0);
  const roundTrip = 2 * latency[0];
  const burstOf = (process: ProcessPlan, count: number) =>
    Math.ceil(Math.min(count, process.requests) / process.concurrency) * roundTrip;
  const burst = (count: number) => Math.max(...processes.map((process) => burstOf(process, count)));
  const untilEnd = window - (start % window);
  const slack = 1500 + 4 * roundTrip;
  if (burst(limit) + slack > window || burst(Math.min(limit, requests)) + slack > untilEnd) return undefined;
  if (requests <= limit) return burst(requests);
  const more = Math.ceil((requests - limit) / limit);
  return untilEnd + (more - 1) * window + burst(requests - more * limit);
}

/** A window is as the one before it: after so many of them, or this many days, nothing new is shown. */
const longest = { windows: 12, days: 2 };

/** The same with no more requests than these take. */
function shortened(scenario: Scenario): Scenario {
  const { service, processes } = scenario;
  const places = Math.min(
    longest.windows * service.limit,
    longest.days * (service.dayLimit ?? Number.POSITIVE_INFINITY),
  );
  const most = Math.max(1, Math.floor(places / processes.length));
  const cut = (plan: ProcessPlan) => ({ ...plan, requests: Math.min(plan.requests, most) });
  return { ...scenario, processes: processes.map(cut) };
}

/** Defines the tests of limits that are kept in these stores. @param usual how many cases of each; `PETSTOCK_RUNS=3600` for more */
export function testLimits(stores: SimulatedStores, usual: number): void {
  afterAll(() => stores.close());

  /** @param found scenarios that once failed, and are tried first */
  const check = (
    scenario: fc.Arbitrary<Scenario>,
    judge: (scenario: Scenario) => Promise<void>,
    found: readonly Scenario[] = [],
  ) =>
    fc.assert(fc.asyncProperty(scenario.map(shortened), judge), {
      numRuns: Number(process.env.PETSTOCK_RUNS ?? usual),
      examples: found.map((one) => [one]),
      endOnFailure: true,
    });

  /** Everything that is asked is answered or refused. */
  async function run(scenario: Scenario) {
    const outcome = await stores.with((open) => simulate(scenario, open));
    const asked = scenario.processes.filter(({ killedAt }) => killedAt === undefined);
    const sum = asked.reduce((total, { requests }) => total + requests, 0);
    expect(outcome.answered + outcome.limited).toBeGreaterThanOrEqual(sum);
    if (scenario.foreign === undefined) expect(outcome.foreignRate).toBe(0);
    return outcome;
  }

  describe('alone on the key: no 429, and the service never counts more than its limit', () => {
    test('whatever the windows, the latency, the clocks and the number of processes', () =>
      check(
        fc.record({
          // Of two backends, one request alone would show only one.
          service: fc
            .tuple(service, fc.constantFrom(0, 0, 4000))
            .map(([one, ahead]) => (ahead === 0 ? one : { ...one, ahead, limit: one.limit + 1, window: 60_000 })),
          latency,
          connecting,
          skew,
          seed,
          storeLatency,
          processes: fc.array(plain, { minLength: 1, maxLength: 4 }),
        }),
        async (scenario) => {
          // A response tells the clock to its round trip and a second: of slower ones two may agree that are 4 s apart.
          fc.pre(scenario.service.ahead === undefined || scenario.latency[1] < 500);
          const { refusals, service, inside } = await run(scenario);
          expect({ refusals: refusals.length, inside }).toEqual({ refusals: 0, inside: 0 });
          expect(service.mostUsed).toBeLessThanOrEqual(scenario.service.limit);
        },
        [othersOnTheirWay],
      ));

    test('with a limit per day that is spent on the way', () =>
      check(
        fc.record({
          service: fc.tuple(service, integer(20, 80)).map(([options, dayLimit]) => ({ ...options, dayLimit })),
          latency,
          skew,
          seed,
          maxWait: fc.constantFrom(90_000, Number.POSITIVE_INFINITY),
          processes: fc.array(plain, { minLength: 1, maxLength: 3 }),
        }),
        async (scenario) => {
          const { refusals, endedAt } = await run(scenario);
          expect(refusals).toEqual([]);
          // A wait for the next day has to be asked for.
          if (scenario.maxWait === 90_000) expect(endedAt).toBeLessThan(hour);
        },
        [dayIsToldLate],
      ));

    test('with processes that are killed, stopped and started, lost requests and stepped clocks', () =>
      check(
        fc.record({
          // A probe that is lost, or whose process is killed, may have been counted: a limit of 1 would be spent then.
          service: service.map((options) => ({ ...options, limit: 8 + (options.limit % 20) })),
          latency,
          connecting,
          skew,
          seed,
          storeLatency,
          lost: fc.constantFrom(0, 50),
          processes: fc.array(rough, { minLength: 1, maxLength: 4 }),
        }),
        async (scenario) => {
          const { refusals, inside } = await run(scenario);
          expect({ refusals: refusals.length, inside }).toEqual({ refusals: 0, inside: 0 });
        },
      ));

    test('with processes that are killed with answers that no other has seen', () =>
      check(
        fc.record({
          service: service.map((options) => ({ ...options, limit: 8 + (options.limit % 20) })),
          latency: integer(0, 15).map((ms) => [ms, ms + 10] as const),
          skew,
          seed,
          storeLatency,
          processes: fc.array(
            fc.record({
              requests: integer(20, 100),
              concurrency: integer(5, 20),
              startsAt: integer(0, 300),
              killedAt: integer(20, 1000),
              want,
            }),
            { minLength: 2, maxLength: 6 },
          ),
        }),
        async (scenario) => {
          const rest = { requests: 20, concurrency: 5, startsAt: 1000 };
          const { refusals, inside } = await run({ ...scenario, processes: [...scenario.processes, rest] });
          expect({ refusals: refusals.length, inside }).toEqual({ refusals: 0, inside: 0 });
        },
      ));
  });

  describe('alone, with fixed windows: as fast as can be', () => {
    const share = fc.record({ requests: integer(1, 60), concurrency: integer(1, 12) });
    const scenario = fc.record({
      service: fc.record({
        window: fc.constantFrom(4000, 10_000, 60_000),
        limit: integer(1, 30),
        start: integer(0, 60_000).map((ms) => noon + ms),
      }),
      latency: integer(1, 150).map((ms) => [ms, ms] as const),
      skew,
      seed,
    });

    test('one process: at most 1 s over the optimum, and a probe at the start and at the end', () =>
      check(
        fc.tuple(scenario, share).map(([rest, process]) => ({ ...rest, processes: [process] })),
        async (scenario) => {
          const best = optimum(scenario);
          fc.pre(best !== undefined);
          const { endedAt } = await run(scenario);
          const roundTrip = 2 * scenario.latency[0];
          expect(endedAt).toBeLessThanOrEqual(best + 1000 + 2 * roundTrip + 20);
        },
      ));

    test('several processes: at most a look at the store more', () =>
      check(
        fc
          .tuple(scenario, share, integer(2, 4))
          .map(([rest, process, count]) => ({ ...rest, processes: Array.from({ length: count }, () => process) })),
        async (scenario) => {
          const best = optimum(scenario);
          fc.pre(best !== undefined);
          const { endedAt } = await run(scenario);
          const roundTrip = 2 * scenario.latency[0];
          expect(endedAt).toBeLessThanOrEqual(best + 1000 + 3 * roundTrip + 2 * 250);
        },
        [lastWindowForOne],
      ));
  });

  describe('whatever happens, nothing is sent inside a Retry-After', () => {
    test('with others on the key, a late service, bare 429s, several machines, kills and lost requests', () =>
      check(
        fc.record({
          service: fc
            .tuple(
              service,
              fc.record({
                late: fc.constantFrom(0, 900),
                refusal: fc.constantFrom('all', 'no limits', 'no Retry-After', 'nothing'),
                strikes: fc.constant(10),
              }),
            )
            // Who is banned and not told for how long can't know it.
            .map(([options, { strikes, ...more }]) => ({
              ...options,
              ...more,
              ...((more.refusal === 'all' || more.refusal === 'no limits') && { strikes }),
            })),
          latency,
          connecting,
          skew,
          seed,
          storeLatency,
          lost: fc.constantFrom(0, 50),
          foreign: fc.constantFrom(0, 0.5, 2, 10),
          maxWait: fc.constantFrom(90_000, 600_000),
          processes: fc.array(
            fc.tuple(rough, integer(0, 1)).map(([plan, machine]) => ({ ...plan, machine })),
            { minLength: 1, maxLength: 4 },
          ),
        }),
        async (scenario) => {
          const { inside, service, slowest429 } = await run(scenario);
          expect(inside).toBe(0);
          // A 429 waits for the one transaction that is under way, and is in the store after the first half of its own.
          expect(slowest429).toBeLessThanOrEqual(1.5 * (scenario.storeLatency ?? 0));
          // Where others take what was left, many that are in flight are refused at once, which may be too many.
          const isAlone = scenario.foreign === 0 && scenario.processes.every(({ machine }) => machine === 0);
          if (isAlone && scenario.latency[1] <= 300) expect(service.banned).toBe(0);
        },
        [leavesWhile429IsWritten],
      ));

    test('others of 2 requests a second on the key: at most one episode per window', () =>
      check(
        fc.record({
          service: fc
            .record({
              window: fc.constantFrom(4000, 10_000, 60_000),
              limit: integer(2, 20),
              start: integer(0, 60_000).map((ms) => noon + ms),
            })
            .map((options) => ({ ...options, limit: options.limit + (2 * options.window) / 1000 })),
          latency,
          skew,
          seed,
          foreign: fc.constant(2),
          processes: fc.array(plain, { minLength: 1, maxLength: 3 }),
        }),
        async (scenario) => {
          const { inside, episodesPerWindow } = await run(scenario);
          expect(inside).toBe(0);
          expect(episodesPerWindow).toBeLessThanOrEqual(1);
        },
      ));
  });
}
