import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import type { KeyLimits } from '../../src/rate-limit/key-limits.ts';
import { MemoryLimits } from '../../src/rate-limit/memory-limits.ts';
import { SqliteConnection } from '../../src/state/sqlite/connection.ts';
import { loadEngine } from '../../src/state/sqlite/engine.ts';
import { makeTables } from '../../src/state/sqlite/schema.ts';
import { SqliteLimits, SqliteStateDatabase } from '../../src/state/sqlite/sqlite-state.ts';
import { noon } from './scenario.ts';
import { SimulatedDatabase } from './simulated-database.ts';
import type { OpenStore } from './simulation.ts';

/** Runs a simulation with new, empty stores, perhaps beside other simulations. */
export type SimulatedStores = <Result>(simulation: (open: OpenStore) => Promise<Result>) => Promise<Result>;

/** Returns a function that makes the store of each machine on first use. */
function perMachine<Store>(make: () => Store): (machine: number) => Store {
  const stores = new Map<number, Store>();
  return (machine) => {
    const store = stores.get(machine) ?? make();
    stores.set(machine, store);
    return store;
  };
}

/** The processes of a machine share a store in memory. */
export const inMemory: SimulatedStores = (simulation) => simulation(perMachine(() => new MemoryLimits()));

/**
 * Each process has its own limits in the SQLite of its machine, with what was known of them when it last looked. That lies in
 * memory and has one connection: what a file and its locks cost would be most of the time.
 */
export const inSqlite: SimulatedStores = async (simulation) => {
  const { DatabaseSync } = await loadEngine();
  const inMemory = class extends DatabaseSync {
    constructor() {
      super(':memory:');
    }
  };
  const connections: SqliteConnection[] = [];
  const clock = { boot: () => 'boot', monotonic: () => 0 };
  const connectionOf = perMachine(() => {
    const connection = new SqliteConnection({ DatabaseSync: inMemory }, fileURLToPath(import.meta.url));
    connections.push(connection);
    makeTables(connection, clock);
    return connection;
  });
  const open: OpenStore = (machine, ofMachine) =>
    new SqliteLimits(new SqliteStateDatabase(connectionOf(machine), ofMachine, () => false));
  return simulation(open).finally(() => {
    for (const connection of connections) connection.close();
  });
};

/** A database and the way to it. */
export interface DatabasePlan {
  /** There and back, in milliseconds, for each process in turn; default: none. */
  readonly trips?: readonly number[];
  /** How far its clock is ahead of true time. */
  readonly ahead?: number;
  /** When it crashes and restarts. Undefined: it never does, and other simulations use it as well. */
  readonly crashes?: readonly number[];
}

/** Each process is a client of the one database; what the machines know has names of their own there. */
export function inDatabase(): (plan?: DatabasePlan) => SimulatedStores {
  let opened: Promise<SimulatedDatabase> | undefined;
  let count = 0;
  afterAll(async () => (await opened)?.close());
  return ({ trips = [0], ahead = 0, crashes } = {}) =>
    async (simulation) => {
      opened ??= SimulatedDatabase.open();
      const database = await opened;
      let passed = () => 0;
      let clients = 0;
      const seen = await database.begin(() => noon + ahead + passed(), crashes !== undefined);
      const nameOf = perMachine(() => `${++count}`.padStart(32, '0'));
      const open: OpenStore = async (machine, clock, timeline) => {
        if (clients === 0) for (const at of crashes ?? []) timeline.schedule(at, () => void seen.crash(timeline));
        passed = () => timeline.passed;
        const trip = trips[clients++ % trips.length] ?? 0;
        return named(await database.limits(seen, { clock, timeline, trip }), nameOf(machine));
      };
      return simulation(open).finally(() => seen.end());
    };
}

/** Returns a store that calls the one key by a name of its own, which no other simulation has. */
function named(limits: KeyLimits, name: string): KeyLimits {
  return {
    fold: (_scope, records) => limits.fold(name, records),
    ...(limits.read && { read: async () => (await limits.read?.(name)) ?? limits.peek(name) }),
    peek: () => limits.peek(name),
    list: () => limits.list(),
    clear: () => limits.clear(name),
  };
}
