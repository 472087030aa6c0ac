import { expect, vi } from 'vitest';
import type { PermitCount } from '../../src/rate-limit/permits.ts';
import fc, { property } from '../support/seeded-fast-check.ts';
import { expectNoRefusals, integer, noon, type Outcome, type ProcessPlan, pairs, type Scenario } from './scenario.ts';
import { type DatabasePlan, inDatabase } from './simulated-stores.ts';
import { simulate } from './simulation.ts';

/** The number of cases of each property. For more: `PETSTOCK_RUNS=1000`. */
const numRuns = Number(process.env.PETSTOCK_RUNS ?? 3);
vi.setConfig({ testTimeout: 3_600_000 });

/** A process on its own machine, which has another boot and unrelated clocks. */
const machine = {
  requests: integer(1, 25),
  concurrency: integer(1, 8),
  startsAt: integer(0, 3000),
  want: fc.constantFrom<PermitCount>({ min: 1, max: 1 }, { min: 2, max: 2 }, { min: 1, max: 8 }),
  ahead: fc.record({
    monotonic: integer(0, 1_000_000_000),
    wall: fc.constantFrom(0, 30_000, -30_000, 86_400_000),
  }),
};
const plain: fc.Arbitrary<ProcessPlan> = fc.record(machine);
/** A machine that starts before any crash. */
const early: fc.Arbitrary<ProcessPlan> = fc.record({
  ...machine,
  startsAt: integer(0, 500),
  // Stops last longer than a known state is trusted. A machine stopped during a crash trusts a state that was lost.
  stops: pairs(integer(0, 12_000), integer(2500, 15_000), 1),
});
const rough: fc.Arbitrary<ProcessPlan> = fc.record(
  {
    ...machine,
    killedAt: integer(0, 20_000),
    bulk: fc.boolean(),
    stops: pairs(integer(0, 20_000), integer(1, 40_000), 1),
  },
  { requiredKeys: ['requests', 'concurrency', 'ahead'] },
);

/** Two to four of these machines, with a limit between the two numbers. */
const team = ([min, max]: readonly [number, number], process: fc.Arbitrary<ProcessPlan>) => ({
  service: fc.record({
    window: fc.constantFrom(2000, 10_000),
    limit: integer(min, max),
    start: integer(0, 60_000).map((ms) => noon + ms),
  }),
  processes: fc.array(process, { minLength: 2, maxLength: 4 }),
  latency: integer(0, 300).map((ms) => [ms, ms] as const),
  connecting: fc.constantFrom([0, 0] as const, [50, 1500] as const),
  seed: integer(0, 2 ** 31 - 1),
});
const besideOthers = { foreign: integer(2, 12), maxWait: fc.constant(90_000) };

const trip = fc.constantFrom(0, 1, 1, 8, 60);
const ahead = fc.constantFrom(0, 6000, -30_000);
const server = fc.record({ trips: fc.array(trip, { minLength: 4, maxLength: 4 }), ahead });
/** All machines have the same latency to the database, so they hear of a 429 when the first one gets its reply. */
const asFar = fc.record({ trips: fc.tuple(trip), ahead });
const crashing = fc.record({
  trips: fc.tuple(fc.constantFrom(0, 1, 8)),
  // Crashes are apart, because a command gives up if two of them hit one change.
  crashes: fc.uniqueArray(integer(1, 20), { minLength: 1, maxLength: 3 }).map((all) => all.map((one) => one * 730)),
});

interface Given {
  readonly scenario: Scenario;
  readonly server: DatabasePlan;
}

/** The stores of one database, which every process uses from its own machine. */
const stores = inDatabase();

/** The crash at 10.95 s loses the row. One machine writes it again; the other is stopped, and trusts the lost one. */
const rowIsLost: Given = {
  scenario: {
    latency: [290, 290],
    connecting: [50, 1500],
    seed: 861_274_750,
    foreign: 12,
    maxWait: 90_000,
    service: { window: 10_000, limit: 16, start: 1_768_478_440_932 },
    processes: [
      {
        requests: 7,
        concurrency: 3,
        startsAt: 56,
        want: { min: 2, max: 2 },
        ahead: { monotonic: 621_304_958, wall: -30_000 },
        stops: [[9866, 13_233]],
      },
      {
        requests: 24,
        concurrency: 3,
        startsAt: 7,
        want: { min: 1, max: 8 },
        ahead: { monotonic: 643_393_723, wall: 30_000 },
        stops: [[50, 6473]],
      },
    ],
  },
  server: { trips: [0], crashes: [3650, 2920, 10_950] },
};

/** When the stopped machine continues, the row written after the crash has the version of the lost row, and a gate. */
const versionComesAgain: Given = {
  scenario: {
    latency: [8, 8],
    connecting: [50, 1500],
    seed: 1_872_163_163,
    foreign: 10,
    maxWait: 90_000,
    service: { window: 10_000, limit: 8, start: 1_768_478_419_611 },
    processes: [
      {
        requests: 13,
        concurrency: 7,
        startsAt: 80,
        want: { min: 1, max: 8 },
        ahead: { monotonic: 428_636_457, wall: -30_000 },
        stops: [[5452, 7820]],
      },
      {
        requests: 7,
        concurrency: 1,
        startsAt: 138,
        want: { min: 2, max: 2 },
        ahead: { monotonic: 763_096_832, wall: 86_400_000 },
        stops: [[3439, 7325]],
      },
    ],
  },
  server: { trips: [8], crashes: [14_600, 5840, 8030] },
};

const expectNoneInside = ({ inside }: Outcome) => expect(inside).toBe(0);

const check = (
  title: string,
  scenario: fc.Arbitrary<Scenario>,
  judge: (outcome: Outcome) => void,
  of: fc.Arbitrary<DatabasePlan> = server,
  found: readonly Given[] = [],
) =>
  property(
    title,
    [fc.record({ scenario, server: of })],
    { numRuns, endOnFailure: true, examples: found.map((one) => [one]) },
    async ({ scenario, server }) => judge(await stores(server)((open) => simulate(scenario, open))),
  );

check('gets no 429 on machines with unrelated clocks', fc.record(team([1, 20], plain)), expectNoRefusals);
// The limit is more than 1, because a probe that was lost with its process may have been counted.
check('gets no 429 even if machines are killed and stopped', fc.record(team([8, 28], rough)), expectNoRefusals);
check(
  'sends nothing before Retry-After has passed from any machine that could know of the 429',
  fc.record({ ...team([4, 20], plain), ...besideOthers }),
  expectNoneInside,
  asFar,
);
check(
  'sends nothing before Retry-After has passed even if the database crashes and loses commits',
  fc.record({ ...team([4, 20], early), ...besideOthers }),
  expectNoneInside,
  crashing,
  [rowIsLost, versionComesAgain],
);
