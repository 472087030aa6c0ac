import { fileURLToPath } from 'node:url';
import { MemoryLimits } from '../../src/rate-limit/memory-limits.ts';
import { Connection } from '../../src/state/sqlite/connection.ts';
import { loadEngine } from '../../src/state/sqlite/engine.ts';
import { makeTables } from '../../src/state/sqlite/schema.ts';
import { SqliteLimits } from '../../src/state/sqlite/sqlite-limits.ts';
import { SqliteStore } from '../../src/state/sqlite/sqlite-store.ts';
import { named } from './rig.ts';
import { SimulatedDatabase } from './simulated-database.ts';
import type { OpenStore } from './simulation.ts';

/** Where the processes of one simulation after the other keep what they know of limits. */
export interface SimulatedStores {
  /** Hands stores in which nothing is known yet to one simulation, which may go on beside others. */
  with<Result>(simulation: (open: OpenStore) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** Returns the one of each machine, made when it is first asked for. */
function perMachine<Store>(make: () => Store): (machine: number) => Store {
  const stores = new Map<number, Store>();
  return (machine) => {
    const store = stores.get(machine) ?? make();
    stores.set(machine, store);
    return store;
  };
}

/** Returns names of 32 digits, each another one. */
export function names(): () => string {
  let count = 0;
  return () => `${++count}`.padStart(32, '0');
}

/** The processes of a machine share a store in memory. */
export function inMemory(): SimulatedStores {
  return { with: (simulation) => simulation(perMachine(() => new MemoryLimits())), close: async () => {} };
}

/**
 * Each process has its own limits in the one SQLite, with what was known of them when it last looked; what a simulation knows has a
 * name of its own there. It lies in memory and has one connection: what a file and its locks cost would be most of the time.
 */
export function inSqlite(): SimulatedStores {
  let opened: Promise<Connection> | undefined;
  const newName = names();
  return {
    with: async (simulation) => {
      opened ??= openInMemory();
      const connection = await opened;
      const nameOf = perMachine(newName);
      return simulation((machine, clock) =>
        named(new SqliteLimits(new SqliteStore(connection, clock, () => false)), nameOf(machine)),
      );
    },
    close: async () => (await opened)?.close(),
  };
}

async function openInMemory(): Promise<Connection> {
  const { DatabaseSync } = await loadEngine();
  const inMemory = class extends DatabaseSync {
    constructor() {
      super(':memory:');
    }
  };
  const connection = new Connection({ DatabaseSync: inMemory }, fileURLToPath(import.meta.url));
  makeTables(connection);
  return connection;
}

/** What the clock of the database says when a simulation begins: a version of limits is made of it, and none is 0. */
const noon = Date.UTC(2026, 0, 15, 12);

/** Each process is a client of the one database; what the machines know has names of their own there. */
export function inDatabase(): SimulatedStores {
  let opened: Promise<SimulatedDatabase> | undefined;
  const newName = names();
  return {
    with: async (simulation) => {
      opened ??= SimulatedDatabase.open();
      const database = await opened;
      let passed = () => 0;
      const seen = database.begin(() => noon + passed());
      const nameOf = perMachine(newName);
      const open: OpenStore = async (machine, clock, timeline) => {
        passed = () => timeline.passed;
        return named(await database.limits(seen, { clock, timeline, trip: 0 }), nameOf(machine));
      };
      return simulation(open).finally(() => seen.end());
    },
    close: async () => (await opened)?.close(),
  };
}
