import { describe, expect, vi } from 'vitest';
import type { PermitCount } from '../../src/rate-limit/permits.ts';
import fc, { property } from '../support/properties.ts';
import { expectNoRefusals, integer, noon, type Outcome, type ProcessPlan, pairs, type Scenario } from './scenario.ts';
import type { SimulatedStores } from './simulated-stores.ts';
import { simulate } from './simulation.ts';

const hour = 3_600_000;

const start = integer(0, 60_000).map((ms) => noon + ms);
const service = fc.record({
  window: fc.constantFrom(2000, 4000, 10_000, 60_000),
  limit: integer(1, 40),
  start,
  drift: fc.constantFrom(0, 0.0001, -0.0001),
});
/** A service whose limit is at least 8, because a probe that is lost with its process may have been counted. */
const lossyService = service.map((options) => ({ ...options, limit: 8 + (options.limit % 20) }));
const latency = fc.oneof(
  integer(0, 300).map((ms) => [ms, ms] as const),
  fc.tuple(integer(0, 200), integer(0, 1500)).map(([from, more]) => [from, from + more] as const),
);
const skew = fc.constantFrom(0, 30_000, -30_000, 24 * hour, -24 * hour, 1234);
const seed = integer(0, 2 ** 31 - 1);
const always = { latency, skew, seed };
const connecting = fc.constantFrom([0, 0] as const, [0, 100] as const, [50, 3000] as const);
const storeLatency = fc.constantFrom(0, 0, 0, 2, 40);
const lost = fc.constantFrom(0, 50);

const want = fc.constantFrom<PermitCount>(
  { min: 1, max: 1 },
  { min: 2, max: 2 },
  { min: 1, max: 8 },
  { min: 2, max: 5 },
);
const plain: fc.Arbitrary<ProcessPlan> = fc.record({
  requests: integer(1, 40),
  concurrency: integer(1, 12),
  startsAt: integer(0, 5000),
  want,
});
/** Processes that are killed or stopped. */
const rough: fc.Arbitrary<ProcessPlan> = fc.record(
  {
    requests: integer(1, 60),
    concurrency: integer(1, 20),
    startsAt: integer(0, 20_000),
    killedAt: integer(0, 60_000),
    stops: pairs(integer(0, 60_000), integer(1, 60_000), 2),
    bulk: fc.boolean(),
    want,
  },
  { requiredKeys: ['requests', 'concurrency'] },
);
const upTo = (maxLength: number, process = plain) => fc.array(process, { minLength: 1, maxLength });

vi.setConfig({ testTimeout: 3_600_000 });

/** One process sends a request in the 20 ms in which the 429 of another is on its way to the store. */
const leavesWhile429IsWritten: Scenario = {
  service: { window: 2000, limit: 17, start: noon + 55_687, drift: 0.0001, late: 0, refusal: 'no Retry-After' },
  latency: [30, 30],
  connecting: [50, 3000],
  skew: -30_000,
  seed: 371_909_227,
  storeLatency: 40,
  lost: 0,
  foreign: 10,
  maxWait: 90_000,
  processes: [
    {
      requests: 54,
      concurrency: 4,
      startsAt: 15_157,
      killedAt: 7236,
      bulk: true,
      want: { min: 2, max: 2 },
      machine: 0,
    },
    {
      requests: 5,
      concurrency: 2,
      startsAt: 9429,
      killedAt: 45_050,
      bulk: false,
      machine: 1,
      stops: [[31_065, 5778]],
    },
    {
      requests: 46,
      concurrency: 10,
      startsAt: 7287,
      bulk: true,
      want: { min: 2, max: 2 },
      machine: 1,
      stops: [
        [54_693, 18_558],
        [32_624, 31_668],
      ],
    },
  ],
};

/** Responses report the minute and the day in turn. One about the minute overtook the first one about the day. */
const dayIsToldLate: Scenario = {
  service: { window: 2000, limit: 32, start: noon + 56_593, drift: 0.0001, dayLimit: 34 },
  latency: [183, 931],
  skew: 30_000,
  seed: 1_739_478_377,
  maxWait: 90_000,
  processes: [
    { requests: 13, concurrency: 7, startsAt: 2236, want: { min: 2, max: 2 } },
    { requests: 19, concurrency: 9, startsAt: 3475, want: { min: 1, max: 1 } },
    { requests: 10, concurrency: 2, startsAt: 1168, want: { min: 2, max: 5 } },
  ],
};

/**
 * Returns the time at which processes that lose no time would finish; undefined if a window is too short to be used up.
 * Any process may send the last requests, so the slowest one counts.
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

/** The most windows and days of a scenario. More would only repeat the earlier ones. */
const longest = { windows: 12, days: 2 };

/** Returns the scenario with no more requests than fit into `longest`. */
function shortened(scenario: Scenario): Scenario {
  const { service, processes } = scenario;
  const { limit, dayLimit = Number.POSITIVE_INFINITY } = service;
  const most = Math.max(1, Math.floor(Math.min(longest.windows * limit, longest.days * dayLimit) / processes.length));
  return { ...scenario, processes: processes.map((plan) => ({ ...plan, requests: Math.min(plan.requests, most) })) };
}

interface Checked {
  /** Scenarios that once failed, which are tried first. */
  readonly found?: readonly Scenario[];
  /** Selects scenarios; default: all. */
  isMeant?(scenario: Scenario): boolean;
}

/** Defines the tests of limits in these stores. @param usual how many cases of each; `PETSTOCK_RUNS=3600` for more */
export function testLimits(stores: SimulatedStores, usual: number): void {
  const check = (
    title: string,
    scenarios: fc.Arbitrary<Scenario>,
    judge: (outcome: Outcome, scenario: Scenario) => void,
    { found = [], isMeant = () => true }: Checked = {},
  ) =>
    property(
      title,
      [scenarios.map(shortened).filter(isMeant)],
      {
        numRuns: Number(process.env.PETSTOCK_RUNS ?? usual),
        examples: found.map((one) => [one]),
        endOnFailure: true,
      },
      async (scenario) => judge(await run(scenario), scenario),
    );

  /** Runs a scenario, and checks that surviving processes got a response to each request, or waited too long. */
  async function run(scenario: Scenario) {
    const outcome = await stores((machines) => simulate(scenario, machines));
    const asked = scenario.processes.filter(({ killedAt }) => killedAt === undefined);
    const sum = asked.reduce((total, { requests }) => total + requests, 0);
    expect(outcome.answered + outcome.limited).toBeGreaterThanOrEqual(sum);
    if (scenario.foreign === undefined) expect(outcome.foreignRate).toBe(0);
    return outcome;
  }

  describe('requests alone on a key', () => {
    check(
      'gets no 429 alone on its key, whatever the windows, latency, clocks and processes',
      fc.record({
        ...always,
        connecting,
        storeLatency,
        processes: upTo(4),
        service,
      }),
      expectNoRefusals,
    );

    check(
      'gets no 429 even if the daily limit runs out on the way',
      fc.record({
        ...always,
        processes: upTo(3),
        maxWait: fc.constantFrom(90_000, Number.POSITIVE_INFINITY),
        service: fc.tuple(service, integer(20, 80)).map(([options, dayLimit]) => ({ ...options, dayLimit })),
      }),
      (outcome, { maxWait }) => {
        expectNoRefusals(outcome);
        // The process waits for the next day only with a long enough maxWait.
        if (maxWait === 90_000) expect(outcome.endedAt).toBeLessThan(hour);
      },
      { found: [dayIsToldLate] },
    );

    check(
      'gets no 429 even if processes are killed or stopped, and requests lost',
      fc.record({ ...always, service: lossyService, connecting, storeLatency, lost, processes: upTo(4, rough) }),
      expectNoRefusals,
    );

    const killed = fc.record({
      requests: integer(20, 100),
      concurrency: integer(5, 20),
      startsAt: integer(0, 300),
      killedAt: integer(20, 1000),
      want,
    });
    const rest = { requests: 20, concurrency: 5, startsAt: 1000 };
    check(
      'gets no 429 even if processes are killed before other processes see their responses',
      fc.record({
        service: lossyService,
        skew,
        seed,
        storeLatency,
        latency: integer(0, 15).map((ms) => [ms, ms + 10] as const),
        processes: fc.array(killed, { minLength: 2, maxLength: 6 }).map((processes) => [...processes, rest]),
      }),
      expectNoRefusals,
    );
  });

  describe('requests alone on a key with fixed windows', () => {
    const share = fc.record({ requests: integer(1, 60), concurrency: integer(1, 12) });
    const atOnce = (min: number, max: number) =>
      fc.record({
        service: fc.record({ window: fc.constantFrom(4000, 10_000, 60_000), limit: integer(1, 30), start }),
        latency: integer(1, 150).map((ms) => [ms, ms] as const),
        skew,
        seed,
        processes: fc
          .tuple(share, integer(min, max))
          .map(([process, count]) => Array<ProcessPlan>(count).fill(process)),
      });
    const isMeant = (scenario: Scenario) => optimum(scenario) !== undefined;
    const over = ({ endedAt }: Outcome, scenario: Scenario) => endedAt - (optimum(scenario) ?? 0) - 1000;

    check(
      'finishes at most a second and a few round trips after the optimum with one process',
      atOnce(1, 1),
      (outcome, scenario) => expect(over(outcome, scenario)).toBeLessThanOrEqual(4 * scenario.latency[0] + 20),
      { isMeant },
    );

    check(
      'finishes at most 1.5 s and a few round trips after the optimum with several processes',
      atOnce(2, 4),
      (outcome, scenario) => expect(over(outcome, scenario)).toBeLessThanOrEqual(6 * scenario.latency[0] + 2 * 250),
      { isMeant },
    );
  });

  describe('requests beside others or during failures', () => {
    // A process can't know of a ban that a 429 reports without its length.
    const ways = fc.constantFrom(
      { refusal: 'all' as const, strikes: 10 },
      { refusal: 'no limits' as const, strikes: 10 },
      { refusal: 'no Retry-After' as const },
      { refusal: 'nothing' as const },
    );
    check(
      'sends nothing before Retry-After has passed, despite other users, kills and lost requests',
      fc.record({
        ...always,
        connecting,
        storeLatency,
        lost,
        service: fc
          .tuple(service, fc.constantFrom(0, 900), ways)
          .map(([options, late, way]) => ({ ...options, late, ...way })),
        foreign: fc.constantFrom(0, 0.5, 2, 10),
        maxWait: fc.constantFrom(90_000, 600_000),
        processes: upTo(
          4,
          fc.tuple(rough, integer(0, 1)).map(([plan, machine]) => ({ ...plan, machine })),
        ),
      }),
      ({ inside, service }, { foreign, processes, latency }) => {
        expect(inside).toBe(0);
        // If other clients use up the window, many requests in flight are refused at once, which may ban the key.
        const isAlone = foreign === 0 && processes.every(({ machine }) => machine === 0);
        if (isAlone && latency[1] <= 300) expect(service.banned).toBe(0);
      },
      { found: [leavesWhile429IsWritten] },
    );

    check(
      'gets 429s at most once per window if other users send 2 requests a second',
      fc.record({
        ...always,
        foreign: fc.constant(2),
        processes: upTo(3),
        service: fc
          .record({ window: fc.constantFrom(4000, 10_000, 60_000), limit: integer(2, 20), start })
          .map((options) => ({ ...options, limit: options.limit + (2 * options.window) / 1000 })),
      }),
      ({ inside, episodesPerWindow }) => {
        expect(inside).toBe(0);
        expect(episodesPerWindow).toBeLessThanOrEqual(1);
      },
    );
  });
}
