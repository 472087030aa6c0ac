import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryLimits } from '../../src/rate-limit/memory-limits.ts';
import { openState } from '../../src/state/open-state.ts';
import type { State } from '../../src/state/state.ts';
import { createTestClock } from '../support/clock.ts';
import { named, processWith } from './rig.ts';
import { SimulatedDatabase } from './simulated-database.ts';
import type { OpenStore } from './simulation.ts';

/** Where the processes of one simulation after the other keep what they know of limits. */
export interface SimulatedStores {
  /** For the next simulation, in which nothing is known yet. */
  next(): Promise<OpenStore>;
  close(): Promise<void>;
}

/** More than any simulation has. */
const mostProcesses = 8;

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
  return { next: async () => perMachine(() => new MemoryLimits()), close: async () => {} };
}

/** Each process has a connection of its own to the one file; what a simulation knows has a name of its own there. */
export function onFile(): SimulatedStores {
  const folder = mkdtempSync(join(tmpdir(), 'petstock-simulation-'));
  const states: State[] = [];
  const newName = names();
  const open = () =>
    openState({
      ...{ folder, need: 'limits', clock: createTestClock(), command: 'inventory apply', random: Math.random },
      processes: { self: processWith(), isGone: () => false, isStopped: () => false },
      warn: (line) => {
        throw new Error(line);
      },
    });
  return {
    next: async () => {
      while (states.length < mostProcesses) states.push(await open());
      const unused = [...states];
      const nameOf = perMachine(newName);
      return (machine) => {
        const state = unused.pop();
        if (state === undefined) throw new Error('there are more processes than states');
        return named(state.limits, nameOf(machine));
      };
    },
    close: async () => {
      for (const state of states) await state.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Each process is a client of the one database; what the machines know has names of their own there. */
export function inDatabase(): SimulatedStores {
  let opened: Promise<SimulatedDatabase> | undefined;
  const newName = names();
  return {
    next: async () => {
      opened ??= SimulatedDatabase.open();
      const database = await opened;
      let passed = () => 0;
      await database.begin(() => passed());
      const nameOf = perMachine(newName);
      return async (machine, clock, timeline) => {
        passed = () => timeline.passed;
        return named(await database.limits({ clock, timeline, trip: 0 }), nameOf(machine));
      };
    },
    close: async () => (await opened)?.close(),
  };
}
