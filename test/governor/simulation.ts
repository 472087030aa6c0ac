import { setMaxListeners } from 'node:events';
import { RateLimitedError } from '../../src/errors.ts';
import { createGovernor } from '../../src/governor/admission.ts';
import { type Governor, OvertakenError } from '../../src/governor/governor.ts';
import { encodeState } from '../../src/governor/key-state.ts';
import type { Ledger } from '../../src/governor/ledger.ts';
import { SharedLog } from './shared-log.ts';
import { type Refusal, SimulatedService, type SimulatedServiceOptions } from './simulated-service.ts';
import { createTimeline, createVirtualClock, type VirtualClock } from './virtual-clock.ts';

/** Times are milliseconds since the simulation began. */
export interface ProcessPlan {
  readonly requests: number;
  readonly concurrency: number;
  readonly startsAt?: number;
  /** `kill -9`: it does nothing more. */
  readonly killedAt?: number;
  /** SIGSTOP and SIGCONT. */
  readonly stops?: readonly { readonly at: number; readonly length: number }[];
  /** Steps of its wall clock. */
  readonly steps?: readonly { readonly at: number; readonly ms: number }[];
  /** Processes of one machine share a ledger. */
  readonly machine?: number;
  readonly bulk?: boolean;
}

export interface Scenario {
  readonly service: SimulatedServiceOptions;
  readonly processes: readonly ProcessPlan[];
  /** Of a request until the service counts it, and of the answer: from, to. */
  readonly latency: readonly [number, number];
  /** From admission to leaving: a connection is made. */
  readonly connecting?: readonly [number, number];
  /** How far our wall clock is ahead of true time. */
  readonly skew?: number;
  readonly maxWait?: number;
  /** Requests per second of others, from the beginning to the end. */
  readonly foreign?: number;
  /** How many in a thousand requests, or answers, are lost. */
  readonly lost?: number;
  /** How many in a thousand records are followed by a torn one. */
  readonly torn?: number;
  readonly sealAt?: number;
  readonly seed: number;
}

export interface Outcome {
  readonly service: SimulatedService;
  /** Of ours. */
  readonly answered: number;
  readonly limited: number;
  readonly refusals: readonly Refusal[];
  /** Requests that left the machine while it knew of a Retry-After, and came within it. */
  readonly inside: number;
  /** The most 429 episodes in one window: those of requests that left before it was known are one. */
  readonly episodesPerWindow: number;
  readonly overtaken: number;
  /** The highest that any process ever took others to have. */
  readonly foreignRate: number;
  readonly endedAt: number;
  /** The state of each process that lived, by machine, as JSON. */
  readonly states: ReadonlyMap<number, ReadonlySet<string>>;
}

const timeout = 30_000;

/** Runs processes against a service until each has done its work or is dead. @throws where that never happens */
export async function simulate(
  scenario: Scenario,
  logs: (machine: number) => SharedLog = sharedLogs(scenario),
): Promise<Outcome> {
  const { latency, connecting = [0, 0], skew = 0, lost = 0, torn = 0, foreign = 0 } = scenario;
  const timeline = createTimeline(scenario.processes.length * 100_000);
  const service = new SimulatedService(scenario.service);
  const random = seeded(scenario.seed);
  const between = ([from, to]: readonly [number, number]) => from + random() * (to - from);
  const known = new Map<number, Refusal[]>();
  const episodes = new Map<number, number>();
  const survivors: { machine: number; ledger: Ledger }[] = [];
  const count = { answered: 0, limited: 0, inside: 0, overtaken: 0, foreignRate: 0 };
  let isOver = false;

  /** One try, from admission to answer. @returns whether it was answered for good */
  const attempt = async (governor: Governor, clock: VirtualClock, machine: number): Promise<boolean> => {
    const permit = await governor.admit(never);
    await clock.sleep(between(connecting));
    try {
      permit.leave();
    } catch (error) {
      if (!(error instanceof OvertakenError)) throw error;
      count.overtaken += 1;
      permit.unsent();
      return false;
    }
    const gates = [...(known.get(machine) ?? [])];
    const leftAt = timeline.passed;
    const arrivesAt = leftAt + between(latency);
    const isLost = random() * 1000 < lost;
    const counts = !isLost || random() < 0.5;
    // It is on its way, whatever becomes of its process.
    const answer = counts ? await arrival(arrivesAt) : undefined;
    if (gates.some(({ until }) => arrivesAt < until)) count.inside += 1;
    await clock.sleep(isLost ? timeout : between(latency));
    if (answer === undefined || isLost) {
      permit.lost();
      return false;
    }
    if (answer.status === 429) noteRefusal(machine, leftAt, arrivesAt);
    permit.answered(answer);
    return answer.status !== 429;
  };

  const arrival = (at: number) =>
    new Promise<ReturnType<SimulatedService['handle']>>((resolve) => {
      timeline.schedule(at, () => resolve(service.handle(at)));
    });

  const noteRefusal = (machine: number, leftAt: number, at: number): void => {
    const gates = known.get(machine) ?? [];
    known.set(machine, gates);
    const refusal = service.refusals.find((one) => one.at === at);
    if (refusal === undefined) return;
    const window = Math.floor(service.timeAt(at) / scenario.service.window);
    if (gates.every(({ until }) => leftAt >= until)) episodes.set(window, (episodes.get(window) ?? 0) + 1);
    gates.push(refusal);
  };

  const work = async (
    governor: Governor,
    clock: VirtualClock,
    machine: number,
    jobs: { left: number },
  ): Promise<void> => {
    while (jobs.left > 0) {
      jobs.left -= 1;
      try {
        while (!(await attempt(governor, clock, machine))) {}
        count.answered += 1;
      } catch (error) {
        if (!(error instanceof RateLimitedError)) throw error;
        count.limited += 1;
      }
    }
  };

  const live = async (plan: ProcessPlan, name: number): Promise<void> => {
    const { machine = 0, startsAt = 0, killedAt = Number.POSITIVE_INFINITY, steps = [], bulk = false } = plan;
    const resumesAt = (at: number): number => {
      if (at >= killedAt) return Number.POSITIVE_INFINITY;
      return Math.max(
        at,
        ...(plan.stops ?? [])
          .filter((stop) => at >= stop.at && at < stop.at + stop.length)
          .map((stop) => stop.at + stop.length),
      );
    };
    const start = Math.round(service.timeAt(0)) + skew;
    const clock = createVirtualClock({ start, timeline, resumesAt });
    for (const { at, ms } of steps) timeline.schedule(at, () => clock.step(ms));
    const killed = new Promise<'killed'>((resolve) => {
      if (killedAt < Number.POSITIVE_INFINITY) timeline.schedule(killedAt, () => resolve('killed'));
    });
    const run = async () => {
      await clock.sleep(startsAt);
      const log = logs(machine);
      const ledger = log.open();
      const torning: Ledger = {
        get state() {
          return ledger.state;
        },
        alone: false,
        refresh: ledger.refresh,
        commit: (record) => {
          ledger.commit(record);
          count.foreignRate = Math.max(count.foreignRate, ledger.state.foreignRate);
          if (random() * 1000 < torn) log.tear();
        },
      };
      const governor = createGovernor({
        clock,
        ledger: torning,
        env: 'staging',
        maxWait: scenario.maxWait ?? Number.POSITIVE_INFINITY,
        lease: timeout + 1000,
        bulk,
        unique: `p${name}`,
        random,
        onWait: () => {},
      });
      const jobs = { left: plan.requests };
      await Promise.all(Array.from({ length: plan.concurrency }, () => work(governor, clock, machine, jobs)));
      survivors.push({ machine, ledger });
    };
    await Promise.race([run(), killed]);
  };

  const others = (at: number): void => {
    if (isOver) return;
    service.handle(at, false);
    const next = at + (1000 / foreign) * (0.5 + random());
    timeline.schedule(next, () => others(next));
  };
  if (foreign > 0) others(0);

  await Promise.race([Promise.all(scenario.processes.map(live)), timeline.stalled]);
  isOver = true;
  const states = new Map<number, Set<string>>();
  for (const { machine, ledger } of survivors) {
    ledger.refresh();
    const seen = states.get(machine) ?? new Set();
    states.set(machine, seen.add(JSON.stringify(encodeState(ledger.state))));
  }
  for (const [machine, seen] of states) {
    const replayed = logs(machine).open();
    replayed.refresh();
    seen.add(JSON.stringify(encodeState(replayed.state)));
  }
  const episodesPerWindow = Math.max(0, ...episodes.values());
  return { service, ...count, refusals: service.refusals, episodesPerWindow, endedAt: timeline.passed, states };
}

function sharedLogs({ sealAt }: Scenario): (machine: number) => SharedLog {
  const logs = new Map<number, SharedLog>();
  return (machine) => {
    const log = logs.get(machine) ?? new SharedLog(sealAt);
    logs.set(machine, log);
    return log;
  };
}

const never = new AbortController().signal;
setMaxListeners(0, never);

/** Mulberry32. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
