import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LimitsStore } from '../../src/rate-limit/limits-row.ts';
import type { Clock } from '../../src/shared/clock.ts';
import { openSqlite } from '../../src/state/sqlite.ts';
import type { Answer } from '../../src/state/statements.ts';
import { noon } from './scenario.ts';
import type { Timeline } from './virtual-clock.ts';

/** The state of each machine, and the folder of its gate file. */
export interface SimulatedMachines {
  /** Opens the state for one process. */
  open(machine: number, clock: Clock, timeline: Timeline): Promise<LimitsStore & { close?(): Promise<void> }>;
  folder(machine: number): string;
  /** Whether all machines share one state. */
  readonly isShared?: boolean;
}

/** Runs a simulation on new machines. */
export type SimulatedStores = <Result>(simulation: (machines: SimulatedMachines) => Promise<Result>) => Promise<Result>;

/** A row that several processes share, each with its own clock. */
class SharedRow {
  #row: Answer | undefined;

  store(moment: () => { readonly now: number; readonly at: number }, isFreshFor = 0): LimitsStore {
    const answers = () => [this.#row === undefined ? [] : [this.#row]];
    return {
      isFreshFor,
      ask: async () => ({ answers: answers(), moment: moment() }),
      transact: async (_questions, decide) => {
        const { writes, result } = decide(answers(), moment());
        for (const { values } of writes) {
          const [, version = null, at = null, state = null] = values;
          this.#row = { version, at, state };
        }
        return result;
      },
    };
  }
}

async function withFolders<Result>(run: (folder: (machine: number) => string) => Promise<Result>): Promise<Result> {
  const root = mkdtempSync(join(tmpdir(), 'petstock-'));
  try {
    return await run((machine) => {
      const folder = join(root, `${machine}`);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      return folder;
    });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** States in memory. The processes of a machine share one. */
export const inMemory: SimulatedStores = (simulation) =>
  withFolders((folder) => {
    const rows = new Map<number, SharedRow>();
    return simulation({
      folder,
      open: async (machine, clock) => {
        const row = rows.get(machine) ?? new SharedRow();
        rows.set(machine, row);
        return row.store(() => ({ now: clock.now(), at: clock.monotonic() }));
      },
    });
  });

/** SQLite files. The processes of a machine have connections of their own to one file. */
export const inSqlite: SimulatedStores = (simulation) =>
  withFolders(async (folder) => {
    const stores: { close(): Promise<void> }[] = [];
    const open: SimulatedMachines['open'] = async (machine, clock) => {
      const store = await openSqlite({ folder: folder(machine), clock });
      stores.push(store);
      return store;
    };
    return simulation({ folder, open }).finally(async () => {
      for (const store of stores) await store.close();
    });
  });

/** One state that all machines share, as PostgreSQL is one: it has its own clock, and asking it takes a while. */
export const shared: SimulatedStores = (simulation) =>
  withFolders((folder) => {
    const row = new SharedRow();
    return simulation({
      folder,
      isShared: true,
      open: async (_machine, clock, timeline) => {
        const store = row.store(() => ({ now: noon + timeline.passed, at: clock.monotonic() }), 250);
        return slowed(store, clock, 10);
      },
    });
  });

/** Returns the store with a latency of `ms` for each question and transaction, which take effect halfway. */
export function slowed(store: LimitsStore, clock: Clock, ms: number): LimitsStore {
  if (ms === 0) return store;
  const trip = async <Result>(work: (at: number) => Promise<Result>): Promise<Result> => {
    const at = clock.monotonic();
    await clock.sleep(ms / 2);
    const result = await work(at);
    await clock.sleep(ms / 2);
    return result;
  };
  return {
    isFreshFor: store.isFreshFor,
    ask: (questions) =>
      trip(async (at) => {
        const { answers, moment } = await store.ask(questions);
        return { answers, moment: { now: moment.now, at } };
      }),
    transact: (questions, decide, isDurable) =>
      trip((at) => store.transact(questions, (answers, { now }) => decide(answers, { now, at }), isDurable)),
  };
}
