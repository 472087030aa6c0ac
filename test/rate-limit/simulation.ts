import { setMaxListeners } from 'node:events';
import { Governor } from '../../src/rate-limit/governor.ts';
import type { KeyLimits } from '../../src/rate-limit/key-limits.ts';
import type { LimitRecord } from '../../src/rate-limit/limit-records.ts';
import { type Permit, type PermitCount, PermitExpiredError, type ResponseHead } from '../../src/rate-limit/permits.ts';
import type { Clock } from '../../src/shared/clock.ts';
import { RateLimitedError } from '../../src/shared/errors.ts';
import { processWith, scope } from './rig.ts';
import type { Outcome, ProcessPlan, Scenario } from './scenario.ts';
import { seeded } from './seeded.ts';
import { type Refusal, SimulatedService } from './simulated-service.ts';
import { inMemory } from './simulated-stores.ts';
import { createTimeline, createVirtualClock, type Timeline, type VirtualClock } from './virtual-clock.ts';

/**
 * Simulates processes until each has finished or was killed.
 * @param openStore called once for each process; default: the processes of a machine share a store in memory
 * @throws if that never happens
 */
export function simulate(scenario: Scenario, openStore?: OpenStore): Promise<Outcome> {
  if (openStore === undefined) return inMemory((open) => simulate(scenario, open));
  return new Simulation(scenario, openStore).run();
}

/** Opens a machine's store. @param clock of the process that opens it */
export type OpenStore = (machine: number, clock: Clock, timeline: Timeline) => KeyLimits | Promise<KeyLimits>;

function clockAhead(clock: VirtualClock, { monotonic, wall }: NonNullable<ProcessPlan['ahead']>): VirtualClock {
  return {
    ...clock,
    boot: () => `boot ${monotonic} ${wall}`,
    monotonic: () => clock.monotonic() + monotonic,
    now: () => clock.now() + wall,
  };
}

interface Process {
  readonly machine: number;
}

/** The parts of a process that its workers use. */
interface Sender {
  readonly governor: Governor;
  readonly clock: VirtualClock;
  readonly self: Process;
}

/** A 429 that a process got. The others of its machine can know of it once it is in the store. */
interface KnownRefusal extends Refusal {
  readonly by: Process;
  readonly answeredAt: number;
  isStored: boolean;
}

const timeout = 30_000;

class Simulation {
  readonly #scenario: Scenario;
  readonly #newStore: OpenStore;
  readonly #timeline: Timeline;
  readonly #service: SimulatedService;
  readonly #random: () => number;
  /** The 429s that processes know of, in order of arrival. */
  readonly #known: KnownRefusal[] = [];
  /** The number of 429 episodes in each window. */
  readonly #episodes = new Map<number, number>();
  /** A signal that never aborts. Each simulation has its own, because killed processes leave their listeners on it. */
  readonly #never = new AbortController().signal;
  readonly #count = { answered: 0, limited: 0, inside: 0, foreignRate: 0, slowest429: 0 };
  #isOver = false;

  constructor(scenario: Scenario, openStore: OpenStore) {
    this.#scenario = scenario;
    this.#newStore = openStore;
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
    const { machine = 0, startsAt = 0, killedAt = Number.POSITIVE_INFINITY, bulk = false } = plan;
    const clock = this.#clockOf(plan);
    const killed = new Promise<void>((resolve) => {
      if (killedAt < Number.POSITIVE_INFINITY) this.#timeline.schedule(killedAt, resolve);
    });
    const work = async () => {
      await clock.sleep(startsAt);
      const self = { machine };
      const governor = new Governor({
        clock,
        limits: await this.#openStore(plan, clock, self),
        scope,
        env: 'staging',
        maxWait: this.#scenario.maxWait ?? Number.POSITIVE_INFINITY,
        permitLifetime: timeout + 1000,
        bulk,
        self: processWith(),
        random: this.#random,
        onWait: () => {},
      });
      const jobs = { left: plan.requests };
      const sender = { governor, clock, self };
      await Promise.all(Array.from({ length: plan.concurrency }, () => this.#work(sender, jobs, plan.want)));
    };
    await Promise.race([work(), killed]);
  }

  #clockOf({ stops = [], steps = [], killedAt = Number.POSITIVE_INFINITY, ahead }: ProcessPlan): VirtualClock {
    const ends = (at: number) => stops.filter(([from, length]) => at >= from && at < from + length);
    const clock = createVirtualClock({
      start: Math.round(this.#service.timeAt(0)) + (this.#scenario.skew ?? 0),
      timeline: this.#timeline,
      resumesAt: (at) =>
        at >= killedAt ? Number.POSITIVE_INFINITY : Math.max(at, ...ends(at).map(([from, length]) => from + length)),
    });
    for (const [at, ms] of steps) this.#timeline.schedule(at, () => clock.step(ms));
    return ahead === undefined ? clock : clockAhead(clock, ahead);
  }

  /** Opens the store of a machine, with the latency of the scenario. */
  async #openStore({ stops = [] }: ProcessPlan, clock: VirtualClock, self: Process): Promise<KeyLimits> {
    const limits = await this.#newStore(self.machine, clock, this.#timeline);
    const delay = (this.#scenario.storeLatency ?? 0) / 2;
    return {
      fold: async (name, records) => {
        if (delay > 0) await clock.sleep(delay);
        const state = await limits.fold(name, records);
        const took = this.#store(self, records);
        // A stopped process writes nothing, so its 429s take longer.
        if (stops.length === 0) this.#count.slowest429 = Math.max(this.#count.slowest429, took);
        this.#count.foreignRate = Math.max(this.#count.foreignRate, state.foreignRate);
        if (delay === 0) return state;
        const copy = structuredClone(state);
        await clock.sleep(delay);
        return copy;
      },
      ...(limits.read && { read: (name: string) => Promise.resolve(limits.read?.(name) ?? limits.peek(name)) }),
      peek: (name) => limits.peek(name),
      list: () => limits.list(),
      clear: (name) => limits.clear(name),
    };
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
    const permits = await sender.governor.admitSeveral(want, this.#never);
    const results: boolean[] = [];
    if (want.min === 2) for (const permit of permits) results.push(await this.#attempt(sender, permit));
    else results.push(...(await Promise.all(permits.map((permit) => this.#attempt(sender, permit)))));
    return results.filter((isAnswered) => isAnswered).length;
  }

  /** Makes one attempt, from admission to response. @returns whether it got a response other than a 429 */
  async #attempt({ clock, self }: Sender, permit: Permit): Promise<boolean> {
    await clock.sleep(this.#between(this.#scenario.connecting ?? [0, 0]));
    if (!(await this.#leave(permit))) return false;
    const leftAt = this.#timeline.passed;
    const arrivesAt = leftAt + this.#between(this.#scenario.latency);
    if (this.#isForbidden(self, arrivesAt)) this.#count.inside += 1;
    const isLost = this.#random() * 1000 < (this.#scenario.lost ?? 0);
    const arrives = !isLost || this.#random() < 0.5;
    const answer = arrives ? await this.#arrival(arrivesAt) : undefined;
    await clock.sleep(isLost ? timeout : this.#between(this.#scenario.latency));
    if (answer === undefined || isLost) {
      await permit.forfeit();
      return false;
    }
    // Notes the 429 first, because a store without latency has it at once.
    if (answer.status === 429) this.#note(self, leftAt, arrivesAt);
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

  /** Notes a 429. From then on its process may send nothing, and once it is stored, nor may its machine. */
  #note(by: Process, leftAt: number, at: number): void {
    const refusal = this.#service.refusals.find((one) => one.at === at);
    if (refusal === undefined) throw new Error('a 429 came that the service has not answered');
    const window = Math.floor(this.#service.timeAt(at) / this.#scenario.service.window);
    const isNew = this.#known.every((one) => one.by.machine !== by.machine || leftAt >= one.until);
    if (isNew) this.#episodes.set(window, (this.#episodes.get(window) ?? 0) + 1);
    this.#known.push({ ...refusal, by, answeredAt: this.#timeline.passed, isStored: false });
  }

  /** Marks the 429s among these records as stored. @returns the longest time in milliseconds that one of them took */
  #store(by: Process, records: readonly LimitRecord[]): number {
    const count = records.filter((record) => record.type === 'answer' && record.status === 429).length;
    const arrived = this.#known.filter((one) => one.by === by && !one.isStored).slice(0, count);
    for (const one of arrived) one.isStored = true;
    return Math.max(0, ...arrived.map(({ answeredAt }) => this.#timeline.passed - answeredAt));
  }

  /** Reports whether a process knows that no request may arrive at this time. */
  #isForbidden(self: Process, arrivesAt: number): boolean {
    return this.#known.some(({ by, isStored, until }) => {
      return arrivesAt < until && (by === self || (isStored && by.machine === self.machine));
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
