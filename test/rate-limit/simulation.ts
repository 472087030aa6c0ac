import { setMaxListeners } from 'node:events';
import { createGovernor } from '../../src/rate-limit/admission.ts';
import { type Governor, type ObservedAnswer, OvertakenError, type Permit } from '../../src/rate-limit/governor.ts';
import { encodeState } from '../../src/rate-limit/key-state.ts';
import type { Ledger } from '../../src/rate-limit/ledger.ts';
import { RateLimitedError } from '../../src/shared/errors.ts';
import type { Outcome, ProcessPlan, Scenario } from './scenario.ts';
import { seeded } from './seeded.ts';
import { type Log, SharedLog } from './shared-log.ts';
import { type Refusal, SimulatedService } from './simulated-service.ts';
import { createTimeline, createVirtualClock, type Timeline, type VirtualClock } from './virtual-clock.ts';

type Logs = (machine: number) => Log;

/** Runs processes against a service until each has done its work or is dead. @throws where that never happens */
export async function simulate(scenario: Scenario, logs?: Logs): Promise<Outcome> {
  return new Simulation(scenario, logs ?? perMachine(() => new SharedLog(scenario.sealAt))).run();
}

/** @returns the log of each machine, made when it is first asked for */
export function perMachine(make: (machine: number) => Log): Logs {
  const logs = new Map<number, Log>();
  return (machine) => {
    const log = logs.get(machine) ?? make(machine);
    logs.set(machine, log);
    return log;
  };
}

/** A process, as its requests see it. */
interface Sender {
  readonly governor: Governor;
  readonly clock: VirtualClock;
  readonly machine: number;
}

const timeout = 30_000;
const never = new AbortController().signal;
setMaxListeners(0, never);

class Simulation {
  readonly #scenario: Scenario;
  readonly #logs: Logs;
  readonly #timeline: Timeline;
  readonly #service: SimulatedService;
  readonly #random: () => number;
  /** The 429s that each machine has been told of. */
  readonly #known = new Map<number, Refusal[]>();
  /** 429 episodes by window. */
  readonly #episodes = new Map<number, number>();
  readonly #survivors: { machine: number; ledger: Ledger }[] = [];
  readonly #count = { answered: 0, limited: 0, inside: 0, overtaken: 0, foreignRate: 0 };
  #isOver = false;

  constructor(scenario: Scenario, logs: Logs) {
    this.#scenario = scenario;
    this.#logs = logs;
    this.#timeline = createTimeline(scenario.processes.length * 100_000);
    this.#service = new SimulatedService(scenario.service);
    this.#random = seeded(scenario.seed);
  }

  async run(): Promise<Outcome> {
    if (this.#scenario.foreign) this.#sendAsOthers(0, 1000 / this.#scenario.foreign);
    const lives = this.#scenario.processes.map((plan, name) => this.#live(plan, name));
    await Promise.race([Promise.all(lives), this.#timeline.stalled]);
    this.#isOver = true;
    return {
      ...this.#count,
      service: this.#service,
      refusals: this.#service.refusals,
      episodesPerWindow: Math.max(0, ...this.#episodes.values()),
      endedAt: this.#timeline.passed,
      states: this.#states(),
    };
  }

  /** One process, from its start to its end or its death. */
  async #live(plan: ProcessPlan, name: number): Promise<void> {
    const { machine = 0, startsAt = 0, killedAt = Number.POSITIVE_INFINITY, bulk = false } = plan;
    const clock = this.#clockOf(plan);
    const killed = new Promise<void>((resolve) => {
      if (killedAt < Number.POSITIVE_INFINITY) this.#timeline.schedule(killedAt, resolve);
    });
    const work = async () => {
      await clock.sleep(startsAt);
      const ledger = this.#openLedger(machine);
      const governor = createGovernor({
        clock,
        ledger,
        env: 'staging',
        maxWait: this.#scenario.maxWait ?? Number.POSITIVE_INFINITY,
        lease: timeout + 1000,
        bulk,
        unique: `p${name}`,
        random: this.#random,
        onWait: () => {},
      });
      const jobs = { left: plan.requests };
      const workers = Array.from({ length: plan.concurrency }, () => this.#work({ governor, clock, machine }, jobs));
      await Promise.all(workers);
      this.#survivors.push({ machine, ledger });
    };
    await Promise.race([work(), killed]);
  }

  #clockOf({ stops = [], steps = [], killedAt = Number.POSITIVE_INFINITY }: ProcessPlan): VirtualClock {
    const ends = (at: number) => stops.filter((stop) => at >= stop.at && at < stop.at + stop.length);
    const clock = createVirtualClock({
      start: Math.round(this.#service.timeAt(0)) + (this.#scenario.skew ?? 0),
      timeline: this.#timeline,
      resumesAt: (at) =>
        at >= killedAt ? Number.POSITIVE_INFINITY : Math.max(at, ...ends(at).map((stop) => stop.at + stop.length)),
    });
    for (const { at, ms } of steps) this.#timeline.schedule(at, () => clock.step(ms));
    return clock;
  }

  /** A ledger behind whose records a torn one may follow. */
  #openLedger(machine: number): Ledger {
    const log = this.#logs(machine);
    const ledger = log.open();
    return {
      get state() {
        return ledger.state;
      },
      get alone() {
        return ledger.alone;
      },
      refresh: ledger.refresh,
      glance: ledger.glance,
      commit: (record) => {
        ledger.commit(record);
        this.#count.foreignRate = Math.max(this.#count.foreignRate, ledger.state.foreignRate);
        if (this.#random() * 1000 < (this.#scenario.torn ?? 0)) log.tear();
      },
    };
  }

  /** One of the many at once of a process. */
  async #work(sender: Sender, jobs: { left: number }): Promise<void> {
    while (jobs.left > 0) {
      jobs.left -= 1;
      try {
        while (!(await this.#attempt(sender))) {}
        this.#count.answered += 1;
      } catch (error) {
        if (!(error instanceof RateLimitedError)) throw error;
        this.#count.limited += 1;
      }
    }
  }

  /** One try, from admission to answer. @returns whether it was answered for good */
  async #attempt({ governor, clock, machine }: Sender): Promise<boolean> {
    const permit = await governor.admit(never);
    await clock.sleep(this.#between(this.#scenario.connecting ?? [0, 0]));
    if (!this.#leave(permit)) return false;
    const leftAt = this.#timeline.passed;
    const arrivesAt = leftAt + this.#between(this.#scenario.latency);
    if (this.#knownOn(machine).some(({ until }) => arrivesAt < until)) this.#count.inside += 1;
    const isLost = this.#random() * 1000 < (this.#scenario.lost ?? 0);
    const arrives = !isLost || this.#random() < 0.5;
    const answer = arrives ? await this.#arrival(arrivesAt) : undefined;
    await clock.sleep(isLost ? timeout : this.#between(this.#scenario.latency));
    if (answer === undefined || isLost) {
      permit.lost();
      return false;
    }
    if (answer.status === 429) this.#note(machine, leftAt, arrivesAt);
    permit.answered(answer);
    return answer.status !== 429;
  }

  #leave(permit: Permit): boolean {
    try {
      permit.leave();
      return true;
    } catch (error) {
      if (!(error instanceof OvertakenError)) throw error;
      this.#count.overtaken += 1;
      permit.unsent();
      return false;
    }
  }

  /** The request is on its way, whatever becomes of its process. */
  #arrival(at: number): Promise<ObservedAnswer> {
    return new Promise((resolve) => {
      this.#timeline.schedule(at, () => resolve(this.#service.handle(at)));
    });
  }

  /** A machine has been told of a 429: from here on nothing may leave it. */
  #note(machine: number, leftAt: number, at: number): void {
    const refusal = this.#service.refusals.find((one) => one.at === at);
    if (refusal === undefined) return;
    const known = this.#knownOn(machine);
    const window = Math.floor(this.#service.timeAt(at) / this.#scenario.service.window);
    const isNew = known.every(({ until }) => leftAt >= until);
    if (isNew) this.#episodes.set(window, (this.#episodes.get(window) ?? 0) + 1);
    known.push(refusal);
  }

  #knownOn(machine: number): Refusal[] {
    const known = this.#known.get(machine) ?? [];
    this.#known.set(machine, known);
    return known;
  }

  #sendAsOthers(at: number, every: number): void {
    if (this.#isOver) return;
    this.#service.handle(at, false);
    const next = at + every * (0.5 + this.#random());
    this.#timeline.schedule(next, () => this.#sendAsOthers(next, every));
  }

  /** What the processes that lived know, and what a new one would read. */
  #states(): Map<number, Set<string>> {
    const states = new Map<number, Set<string>>();
    const replays = [...new Set(this.#survivors.map(({ machine }) => machine))].map((machine) => ({
      machine,
      ledger: this.#logs(machine).open(),
    }));
    for (const { machine, ledger } of [...this.#survivors, ...replays]) {
      ledger.refresh();
      const seen = states.get(machine) ?? new Set();
      states.set(machine, seen.add(JSON.stringify(encodeState(ledger.state))));
    }
    return states;
  }

  #between([from, to]: readonly [number, number]): number {
    return from + this.#random() * (to - from);
  }
}
