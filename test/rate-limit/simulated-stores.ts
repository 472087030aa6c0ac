import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LimitsStore } from '../../src/rate-limit/limits-store.ts';
import { MemoryLimits } from '../../src/rate-limit/memory-limits.ts';
import type { Clock } from '../../src/shared/clock.ts';
import { openState } from '../../src/state/open-state.ts';
import type { State } from '../../src/state/state.ts';
import { createTestClock } from '../support/clock.ts';
import { processWith } from './rig.ts';
import { SharedTable } from './shared-table.ts';
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

/** The processes of a machine share a store in memory. */
export function inMemory(): SimulatedStores {
  return { next: async () => perMachine(() => new MemoryLimits()), close: async () => {} };
}

/** Each process has a connection of its own to the one file; what a simulation knows has a name of its own there. */
export function onFile(): SimulatedStores {
  const folder = mkdtempSync(join(tmpdir(), 'petstock-simulation-'));
  const states: State[] = [];
  let scopes = 0;
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
      const nameOf = perMachine(() => `${++scopes}`.padStart(32, '0'));
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

function named(limits: LimitsStore, name: string): LimitsStore {
  return {
    fold: (_scope, records) => limits.fold(name, records),
    ...(limits.look && { look: async () => (await limits.look?.(name)) ?? limits.peek(name) }),
    peek: () => limits.peek(name),
    list: () => limits.list(),
    clear: () => limits.clear(name),
  };
}

/** Each process is a client of the database that the processes of its machine share. */
export function inDatabase(): SimulatedStores {
  return {
    next: async () => {
      let clock: Clock | undefined;
      const table = perMachine(() => new SharedTable(() => clock?.monotonic() ?? 0));
      return (machine, own) => {
        clock ??= own;
        return table(machine).limits(own, 0);
      };
    },
    close: async () => {},
  };
}
