import { setMaxListeners } from 'node:events';
import { GateFile } from '../../src/rate-limit/gate-file.ts';
import { Limits } from '../../src/rate-limit/limits.ts';
import { type Permit, type PermitCount, PermitExpiredError, type ResponseHead } from '../../src/rate-limit/permits.ts';
import { RateLimitedError } from '../../src/shared/errors.ts';
import type { Outcome, ProcessPlan, Scenario } from './scenario.ts';
import { seeded } from './seeded.ts';
import { type Refusal, SimulatedService } from './simulated-service.ts';
import { inMemory, type SimulatedMachines, slowed } from './simulated-stores.ts';
import { createTimeline, createVirtualClock, type Timeline, type VirtualClock } from './virtual-clock.ts';

/**
 * Simulates processes until each has finished or was killed.
 * @param machines default: the processes of a machine share a state in memory
 * @throws if that never happens
 */
export function simulate(scenario: Scenario, machines?: SimulatedMachines): Promise<Outcome> {
  if (machines === undefined) return inMemory((made) => simulate(scenario, made));
  return new Simulation(scenario, machines).run();
}

/** The parts of a process that its workers use. */
interface Sender {
  readonly limits: Limits;
  /** Admits several requests, and waits until that is possible. */
  admit(want: PermitCount): Promise<readonly Permit[]>;
  readonly clock: VirtualClock;
  readonly machine: number;
  /** How many connections are open and unused. */
  idle: number;
}

interface KnownRefusal extends Refusal {
  readonly machine: number;
  readonly knownAt: number;
}

const timeout = 30_000;
/** How long after a 429 of another machine a request may still leave, in milliseconds: knowledge is at most 1 s old. */
const lagOfOthers = 1100;

class Simulation {
  readonly #scenario: Scenario;
  readonly #machines: SimulatedMachines;
  readonly #timeline: Timeline;
  readonly #service: SimulatedService;
  readonly #random: () => number;
  /** The 429s that processes know of, in order of arrival. */
  readonly #known: KnownRefusal[] = [];
  /** The number of 429 episodes in each window. */
  readonly #episodes = new Map<number, number>();
  /** A signal that never aborts. Each simulation has its own, because killed processes leave their listeners on it. */
  readonly #never = new AbortController().signal;
  readonly #count = { answered: 0, limited: 0, inside: 0, foreignRate: 0 };
  #isOver = false;

  constructor(scenario: Scenario, machines: SimulatedMachines) {
    this.#scenario = scenario;
    this.#machines = machines;
    this.#timeline = createTimeline(scenario.processes.length * 100_000);
    this.#service = new SimulatedService(scenario.service);
    this.#random = seeded(scenario.seed);
    setMaxListeners(0, this.#never);
  }

  async run(): Promise<Outcome> {
    // Yields to the event loop, so that other pending work runs first.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#scenario.foreign) this.#sendAsOthers(0, 1000 / this.#scenario.foreign);
    const lives = this.#scenario.processes.map((plan) => this.#live(plan));
    await Promise.race([Promise.all(lives), this.#timeline.stalled]);
    this.#isOver = true;
    return {
      ...this.#count,
      service: this.#service,
      refusals: this.#service.refusals,
      episodesPerWindow: Math.max(0, ...this.#episodes.values()),
      endedAt: this.#timeline.passed,
    };
  }

  /** Runs one process until it has finished or is killed. */
  async #live(plan: ProcessPlan): Promise<void> {
    const { startsAt = 0, killedAt = Number.POSITIVE_INFINITY } = plan;
    const clock = this.#clockOf(plan);
    const killed = new Promise<void>((resolve) => {
      if (killedAt < Number.POSITIVE_INFINITY) this.#timeline.schedule(killedAt, resolve);
    });
    const work = async () => {
      await clock.sleep(startsAt);
      const sender = await this.#sender(plan, clock);
      const jobs = { left: plan.requests };
      await Promise.all(Array.from({ length: plan.concurrency }, () => this.#work(sender, jobs, plan.want)));
      this.#count.foreignRate = Math.max(this.#count.foreignRate, sender.limits.state.foreignRate);
    };
    await Promise.race([work(), killed]);
  }

  async #sender({ machine = 0, bulk = false }: ProcessPlan, clock: VirtualClock): Promise<Sender> {
    const opened = await this.#machines.open(machine, clock, this.#timeline);
    const store = slowed(opened, clock, this.#scenario.storeLatency ?? 0);
    const limits = new Limits({
      ...{ store, clock, scope: 'key', target: 'staging' },
      gates: new GateFile([this.#machines.folder(machine)], clock),
      maxWait: this.#scenario.maxWait ?? Number.POSITIVE_INFINITY,
      permitLifetime: timeout + 1000,
      isBoundPerWait: false,
      isBulk: bulk,
      random: this.#random,
      onWait: () => {},
      warn: (line) => {
        throw new Error(line);
      },
    });
    const admit = async (want: PermitCount) => {
      for (;;) {
        const { permits, retryAt } = await store.transact([limits.reading], ([rows], moment) => {
          const admission = limits.admit(rows?.[0], moment, want);
          return { writes: admission.writes, result: admission };
        });
        if (permits.length > 0) return permits;
        await limits.wait(retryAt, this.#never);
      }
    };
    return { limits, admit, clock, machine, idle: 0 };
  }

  #clockOf({ stops = [], killedAt = Number.POSITIVE_INFINITY }: ProcessPlan): VirtualClock {
    const ends = (at: number) => stops.filter(([from, length]) => at >= from && at < from + length);
    return createVirtualClock({
      start: Math.round(this.#service.timeAt(0)) + (this.#scenario.skew ?? 0),
      timeline: this.#timeline,
      resumesAt: (at) =>
        at >= killedAt ? Number.POSITIVE_INFINITY : Math.max(at, ...ends(at).map(([from, length]) => from + length)),
    });
  }

  /** Runs one of the concurrent workers of a process. */
  async #work(sender: Sender, jobs: { left: number }, { min, max }: PermitCount = { min: 1, max: 1 }): Promise<void> {
    while (jobs.left > 0) {
      const taken = Math.min(max, jobs.left);
      jobs.left -= taken;
      try {
        const want = { min: taken < 2 ? 1 : min, max: taken } as const;
        const answered = await this.#attemptSeveral(sender, want);
        this.#count.answered += answered;
        jobs.left += taken - answered;
      } catch (error) {
        if (!(error instanceof RateLimitedError)) throw error;
        this.#count.limited += taken;
      }
    }
  }

  /** @returns how many got a response other than a 429 */
  async #attemptSeveral(sender: Sender, want: PermitCount): Promise<number> {
    const permits = await sender.admit(want);
    const results: boolean[] = [];
    if (want.min === 2) for (const permit of permits) results.push(await this.#attempt(sender, permit));
    else results.push(...(await Promise.all(permits.map((permit) => this.#attempt(sender, permit)))));
    await sender.limits.save();
    return results.filter((isAnswered) => isAnswered).length;
  }

  /** Makes one attempt, from admission to response. @returns whether it got a response other than a 429 */
  async #attempt(sender: Sender, permit: Permit): Promise<boolean> {
    const { clock, limits, machine } = sender;
    if (sender.idle > 0) sender.idle -= 1;
    else await clock.sleep(this.#between(this.#scenario.connecting ?? [0, 0]));
    await limits.refresh();
    if (!(await this.#leave(permit))) {
      sender.idle += 1;
      return false;
    }
    const leftAt = this.#timeline.passed;
    const arrivesAt = leftAt + this.#between(this.#scenario.latency);
    if (this.#isForbidden(machine, arrivesAt)) this.#count.inside += 1;
    const isLost = this.#random() * 1000 < (this.#scenario.lost ?? 0);
    const arrives = !isLost || this.#random() < 0.5;
    const answer = arrives ? await this.#arrival(arrivesAt) : undefined;
    await clock.sleep(isLost ? timeout : this.#between(this.#scenario.latency));
    if (answer === undefined || isLost) {
      await permit.forfeit();
      return false;
    }
    sender.idle += 1;
    if (answer.status === 429) this.#note(machine, leftAt, arrivesAt);
    await permit.recordResponse(answer).persisted;
    return answer.status !== 429;
  }

  async #leave(permit: Permit): Promise<boolean> {
    try {
      permit.beginSend();
      return true;
    } catch (error) {
      if (!(error instanceof PermitExpiredError)) throw error;
      await permit.release();
      return false;
    }
  }

  /** Delivers a request, even if its process is killed meanwhile. */
  #arrival(at: number): Promise<ResponseHead> {
    return new Promise((resolve) => {
      this.#timeline.schedule(at, () => resolve(this.#service.handle(at)));
    });
  }

  /** Notes a 429. From then on its machine may send nothing. */
  #note(machine: number, leftAt: number, at: number): void {
    const refusal = this.#service.refusals.find((one) => one.at === at);
    if (refusal === undefined) throw new Error('a 429 came that the service has not answered');
    const window = Math.floor(this.#service.timeAt(at) / this.#scenario.service.window);
    const isNew = this.#known.every((one) => one.machine !== machine || leftAt >= one.until);
    if (isNew) this.#episodes.set(window, (this.#episodes.get(window) ?? 0) + 1);
    this.#known.push({ ...refusal, machine, knownAt: this.#timeline.passed });
  }

  /** Reports whether a machine knows that no request may arrive at this time. */
  #isForbidden(ours: number, arrivesAt: number): boolean {
    const isShared = this.#machines.isShared ?? false;
    return this.#known.some(({ machine, knownAt, until }) => {
      const lag = machine === ours ? 0 : isShared ? lagOfOthers : Number.POSITIVE_INFINITY;
      return arrivesAt < until && this.#timeline.passed >= knownAt + lag;
    });
  }

  #sendAsOthers(at: number, every: number): void {
    if (this.#isOver) return;
    this.#service.handle(at, false);
    const next = at + every * (0.5 + this.#random());
    this.#timeline.schedule(next, () => this.#sendAsOthers(next, every));
  }

  #between([from, to]: readonly [number, number]): number {
    return from + this.#random() * (to - from);
  }
}
