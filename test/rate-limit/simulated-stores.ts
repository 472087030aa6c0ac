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

/** Runs a simulation with new, empty stores. Others may run at the same time. */
export type SimulatedStores = <Result>(simulation: (open: OpenStore) => Promise<Result>) => Promise<Result>;

/** Returns a function that creates the store of each machine on first use. */
function perMachine<Store>(make: () => Store): (machine: number) => Store {
  const stores = new Map<number, Store>();
  return (machine) => {
    const store = stores.get(machine) ?? make();
    stores.set(machine, store);
    return store;
  };
}

/** Stores in memory. The processes of a machine share one. */
export const inMemory: SimulatedStores = (simulation) => simulation(perMachine(() => new MemoryLimits()));

/**
 * Stores in SQLite. The processes of a machine share a connection to a database in memory, because files and their
 * locks would take most of the time; each caches the limits that it last read.
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

export interface DatabasePlan {
  /** Latency of a round trip in milliseconds, for each process in turn; default: 0. */
  readonly trips?: readonly number[];
  /** Milliseconds by which the database's clock is ahead of true time. */
  readonly ahead?: number;
  /** When the database crashes and restarts. If undefined, it never does, and other simulations use it, too. */
  readonly crashes?: readonly number[];
}

/** Returns stores in one PostgreSQL database. Each process has a connection, and each machine its name for the key. */
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

/** Returns limits that use this name for the one key of a simulation. */
function named(limits: KeyLimits, name: string): KeyLimits {
  return {
    fold: (_scope, records) => limits.fold(name, records),
    ...(limits.read && { read: async () => (await limits.read?.(name)) ?? limits.peek(name) }),
    peek: () => limits.peek(name),
    list: () => limits.list(),
    clear: () => limits.clear(name),
  };
}
