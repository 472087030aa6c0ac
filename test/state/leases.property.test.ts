import { expect, it } from 'vitest';
import type { ReadVersion } from '../../src/state/decide.ts';
import { openState } from '../../src/state/open-state.ts';
import type { PetLock } from '../../src/state/pet-locks.ts';
import type { RunLog } from '../../src/state/run-log.ts';
import type { State } from '../../src/state/state.ts';
import { newFolder } from '../support/new-folder.ts';
import { newDatabase } from '../support/postgres.ts';
import fc from '../support/seeded-fast-check.ts';
import { sharedStore } from './postgres-rig.ts';
import { createStateClock, FakeProcesses, headOf, readVersionOf, rowFor, type StateClock, serviceName } from './rig.ts';

const pet = 7n;
const timeout = 1000;

/** The service. `overwritten` counts the writes that relied on another stock than they found. */
class Stock {
  quantity = 0;
  overwritten = 0;

  carryOut(quantity: number, seen: number): void {
    if (this.quantity !== seen) this.overwritten += 1;
    this.quantity = quantity;
  }
}

interface Opened {
  readonly state: State;
  readonly clock: StateClock;
}

/** A process that reads a pet's stock and adds one, in steps that a test can put in any order. */
class Writer {
  readonly pid: number;
  readonly clock: StateClock;
  readonly state: State;
  stage: 'idle' | 'inLine' | 'entered' | 'read' | 'granted' | 'dead' = 'idle';
  seen = 0;
  /** The request that was sent, until the service has carried it out. */
  request: { readonly quantity: number; readonly expires: number } | undefined;
  #lock: PetLock | undefined;
  #readVersion: ReadVersion | undefined;
  #log: RunLog | undefined;

  constructor(pid: number, { state, clock }: Opened) {
    this.pid = pid;
    this.state = state;
    this.clock = clock;
  }

  async step(stock: Stock): Promise<void> {
    switch (this.stage) {
      case 'idle':
        // The third process is a bulk run, which reads without a pet lock.
        if (this.pid !== 3) this.#lock = this.state.pets.lock(serviceName, pet);
        this.stage = this.pid === 3 ? 'entered' : 'inLine';
        return;
      case 'inLine':
        if ((await this.#lock?.tryAcquire()) === undefined) this.stage = 'entered';
        return;
      case 'entered':
        this.#readVersion = await readVersionOf(this.state);
        this.seen = stock.quantity;
        this.stage = 'read';
        return;
      case 'read':
        return this.#intend();
      case 'granted':
        return this.#arrive(stock);
    }
  }

  async #intend(): Promise<void> {
    const quantity = this.seen + 1;
    this.#log = await this.state.history.begin(headOf(), [rowFor(pet, { before: this.seen, after: quantity })]);
    const inFlightUntil = this.clock.monotonic() + timeout;
    const [grant] = await this.#log.intend([{ row: 1, petId: pet, inFlightUntil }], this.#readVersion, this.#lock);
    if (grant?.kind !== 'granted') return this.#end();
    this.request = { quantity, expires: inFlightUntil };
    this.stage = 'granted';
  }

  /** Sends the request if the process may still rely on its lease; the request arrives at once. */
  async #arrive(stock: Stock): Promise<void> {
    const leaves = this.state.presence.holdsLease;
    if (leaves) stock.carryOut(this.request?.quantity ?? 0, this.seen);
    this.request = undefined;
    await this.#log?.settle([{ row: 1, petId: pet, result: leaves ? 'applied' : 'void', quantity: stock.quantity }]);
    await this.#end();
  }

  async #end(): Promise<void> {
    await this.#log?.end();
    await this.#lock?.release();
    this.stage = 'idle';
  }
}

/** An action: a process takes some steps, or dies after them; or time passes, perhaps with everything stopped. */
const action = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom('step' as const, 'step' as const, 'step' as const, 'kill' as const),
      who: fc.nat(2),
      times: fc.integer({ min: 1, max: 5 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(100, 999, 1000, 5000) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('stop' as const), ms: fc.constantFrom(14_999, 15_001) }) },
);
type Action = typeof action extends fc.Arbitrary<infer Value> ? Value : never;

interface Store {
  open(pid: number): Promise<Opened>;
  /** The clock by which late requests arrive. */
  readonly clock: StateClock;
  /** Tells the processes of one machine at once that another of them has died. */
  readonly processes: FakeProcesses;
  idle(): Promise<void>;
}

/** Three processes, the service, and requests of dead processes that have not arrived yet. */
class World {
  readonly stock = new Stock();
  readonly #store: Store;
  readonly #writers: Writer[] = [];
  #late: { readonly at: number; readonly quantity: number; readonly seen: number }[] = [];

  constructor(database: Store) {
    this.#store = database;
  }

  async open(pid: number): Promise<void> {
    this.#writers.push(new Writer(pid, await this.#store.open(pid)));
  }

  async act(act: Action): Promise<void> {
    if (act.kind === 'wait') for (const clock of this.#clocks()) clock.advance(act.ms);
    else if (act.kind === 'stop') for (const clock of this.#clocks()) clock.stop(act.ms);
    else await this.#actOf(act, this.#writers[act.who]);
    await this.#store.idle();
    this.#letArrive();
  }

  async close(): Promise<void> {
    for (const { state } of this.#writers) await state.close();
  }

  /** Returns the clocks that run. Those of dead processes stand still, so no lease is renewed. */
  #clocks(): Set<StateClock> {
    const alive = this.#writers.filter(({ stage }) => stage !== 'dead');
    return new Set([this.#store.clock, ...alive.map(({ clock }) => clock)]);
  }

  async #actOf(act: Extract<Action, { readonly who: number }>, writer: Writer | undefined): Promise<void> {
    if (writer === undefined || writer.stage === 'dead') return;
    for (let time = 0; time < act.times; time += 1) await writer.step(this.stock);
    if (act.kind === 'step') return;
    // A request of a killed process may still arrive until it times out.
    const { request, seen, pid, clock } = writer;
    const rest = (request?.expires ?? 0) - clock.monotonic();
    const at = this.#store.clock.monotonic() + rest - 1;
    if (request !== undefined) this.#late.push({ at, quantity: request.quantity, seen });
    this.#store.processes.kill(pid);
    writer.stage = 'dead';
  }

  #letArrive(): void {
    const now = this.#store.clock.monotonic();
    for (const { at, quantity, seen } of this.#late) if (at <= now) this.stock.carryOut(quantity, seen);
    this.#late = this.#late.filter(({ at }) => at > now);
  }
}

const check = (numRuns: number, newStore: () => Promise<Store>) =>
  fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 10, maxLength: 25 }), async (actions) => {
      const world = new World(await newStore());
      for (const pid of [1, 2, 3]) await world.open(pid);
      for (const act of actions) await world.act(act);
      await world.close();
      expect(world.stock.overwritten).toBe(0);
    }),
    { numRuns, endOnFailure: true },
  );

async function storeOnFile(): Promise<Store> {
  const [folder, clock, processes] = [newFolder(), createStateClock(), new FakeProcesses()];
  const open = async (pid: number) => {
    const view = processes.view(pid);
    const options = { folder, need: 'history', clock, processes: view, random: Math.random, command: 'test' } as const;
    return { state: await openState({ ...options, warn: () => {} }), clock };
  };
  return { open, clock, processes, idle: async () => {} };
}

/** Returns a shared store. Each process is on its own machine; the clocks of machines and database are unrelated. */
async function storeOfMachines(database: string): Promise<Store> {
  const clock = createStateClock();
  const shared = await sharedStore(() => clock.now(), database);
  const open = async (pid: number) => {
    const own = createStateClock(`boot-${pid}`);
    own.stop(pid * 123_456);
    return {
      state: await shared.open({ pid, host: `till-${pid}`, clock: own, processes: new FakeProcesses() }),
      clock: own,
    };
  };
  // No machine can tell that a process of another one has died.
  return { open, clock, processes: new FakeProcesses(), idle: shared.idle };
}

it('never overwrites a stock that it has not read, whichever process dies or is suspended', async () => {
  await check(Number(process.env.PETSTOCK_RUNS ?? 30), storeOnFile);
}, 300_000);

it('never overwrites a stock that it has not read, even if the clocks of the machines are unrelated', async () => {
  const database = await newDatabase();
  await check(Number(process.env.PETSTOCK_RUNS ?? 6), () => storeOfMachines(database));
}, 300_000);
