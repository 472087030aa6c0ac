import type { PlannedRow, RunHead } from '../../src/inventory/run-records.ts';
import type { Clock, Deadline } from '../../src/shared/clock.ts';
import type { Processes, ProcessIdentity } from '../../src/shared/processes.ts';
import type { ReadVersion } from '../../src/state/decide.ts';
import type { Intent } from '../../src/state/intents-and-outcomes.ts';
import type { State } from '../../src/state/state.ts';

/** A clock that a sleep or a test moves. Deadlines expire only in `advance`. */
export interface StateClock extends Clock {
  advance(ms: number): void;
  /** Moves the clock without letting deadlines expire, as if the process had been stopped. */
  stop(ms: number): void;
}

export function createStateClock(boot = 'boot-1'): StateClock {
  let passed = 1000;
  const deadlines = new Map<Deadline, { readonly at: number; readonly run: () => void }>();
  return {
    now: () => Date.UTC(2026, 0, 15, 12, 0, 20) + passed,
    monotonic: () => passed,
    boot: () => boot,
    sleep: async (ms) => {
      passed += ms;
    },
    deadline: (ms, run) => {
      const deadline = { clear: () => void deadlines.delete(deadline) };
      deadlines.set(deadline, { at: passed + ms, run });
      return deadline;
    },
    advance: (ms) => {
      passed += ms;
      for (const [deadline, { at, run }] of [...deadlines]) {
        if (at > passed) continue;
        deadlines.delete(deadline);
        run();
      }
    },
    stop: (ms) => {
      passed += ms;
    },
  };
}

/** Returns a source of numbers in [0, 1), each of which differs from the one before. */
export function steps(): () => number {
  let last = 0;
  return () => {
    last = (last + 0.377) % 1;
    return last;
  };
}

/** The processes of a test, which can kill and stop them. */
export class FakeProcesses {
  readonly #gone = new Set<number>();
  readonly #stopped = new Set<number>();

  view(pid: number, identity: Partial<ProcessIdentity> = {}): Processes {
    const self = { host: 'till', namespace: 'pid:[1]', boot: 'boot-1', pid, startedAt: `${pid}00`, ...identity };
    return {
      self,
      isGone: (other) => this.#gone.has(other.pid),
      isStopped: (other) => this.#stopped.has(other.pid),
    };
  }

  kill(pid: number): void {
    this.#gone.add(pid);
  }

  stop(pid: number): void {
    this.#stopped.add(pid);
  }
}

/** Returns the current read version, which has to be taken before a stock is read. */
export async function readVersionOf({ pets }: Pick<State, 'pets'>): Promise<ReadVersion> {
  return (await pets.beginRead(serviceName, [])).readVersion;
}

export const serviceName = 'https://pets.example/v1';

export function headOf(fields: Partial<RunHead> = {}): RunHead {
  return {
    command: 'inventory apply',
    env: 'staging',
    store: undefined,
    baseUrl: serviceName,
    serviceName,
    scope: 'abc',
    user: 'ann',
    unchanged: 0,
    ...fields,
  };
}

/** Returns one row for each pet, in this order. */
export function rowsFor(...petIds: readonly bigint[]): PlannedRow[] {
  return petIds.map((petId, index) => rowFor(petId, { row: index + 1, line: index + 1 }));
}

export function rowFor(petId: bigint, fields: Partial<PlannedRow> = {}): PlannedRow {
  return { row: 1, line: 1, petId, before: 5, after: 8, reason: undefined, ref: undefined, ...fields };
}

export function intentOf({ row, petId }: Pick<PlannedRow, 'row' | 'petId'>, inFlightUntil: number): Intent {
  return { row, petId, inFlightUntil };
}

export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
