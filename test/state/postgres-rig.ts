import { onTestFinished } from 'vitest';
import type { Clock } from '../../src/shared/clock.ts';
import { selectNow } from '../../src/state/postgres/connection.ts';
import { openPostgres } from '../../src/state/postgres/open-postgres.ts';
import { type OpenWire, openWire, type Wire } from '../../src/state/postgres/wire.ts';
import type { State } from '../../src/state/state.ts';
import { statement } from '../../src/state/statements.ts';
import { runSql, temporaryDatabase } from '../support/postgres.ts';
import type { FakeProcesses } from './rig.ts';

/** A database whose clock a test owns: it says before each statement what time it is. */
export interface SharedStore {
  readonly url: string;
  /** A wire that says the time, by the clock of the database. */
  readonly openWire: OpenWire;
  /** Resolves when no statement is on its way any more. */
  idle(): Promise<void>;
  open(options: OpenOptions): Promise<State>;
}

export interface OpenOptions {
  readonly pid: number;
  readonly host?: string;
  readonly clock: Clock;
  readonly processes: FakeProcesses;
  readonly command?: string;
}

/**
 * @param now milliseconds since the Unix epoch, by the clock of the database
 * @param given a database; the state in it is emptied
 */
export async function sharedStore(now: () => number, given?: string): Promise<SharedStore> {
  const url = given ?? (await temporaryDatabase());
  let underWay = 0;
  const [found] = await runSql(url, "SELECT to_regclass('petstock.meta')::text AS meta");
  if (found?.meta !== null) await runSql(url, emptied);
  const own: OpenWire = async (address, onNotice) => {
    const wire = await openWire(address, onNotice);
    const ask: Wire['ask'] = async (statements, within) => {
      underWay += 1;
      try {
        const owned = statements.map((asked) =>
          asked === selectNow ? statement(`SELECT ${now()}::double precision AS now`) : asked,
        );
        return await wire.ask(owned, within);
      } finally {
        underWay -= 1;
      }
    };
    return {
      ask,
      get isOver() {
        return wire.isOver;
      },
      close: () => wire.close(),
      destroy: () => wire.destroy(),
    };
  };
  let seed = 0;
  const random = () => {
    seed = (seed + 0.377) % 1;
    return seed;
  };
  return {
    url,
    openWire: own,
    idle: async () => {
      for (let quiet = 0; quiet < 3; quiet = underWay === 0 ? quiet + 1 : 0) {
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    open: async ({ pid, host, clock, processes, command = 'test' }) => {
      const identity = { boot: clock.boot(), ...(host !== undefined && { host }) };
      const view = processes.view(pid, identity);
      const state = await openPostgres({ url, clock, processes: view, command, user: `user-${pid}`, random }, own);
      onTestFinished(() => state.close());
      return state;
    },
  };
}

const emptied = `
  TRUNCATE petstock.limits, petstock.presence, petstock.services, petstock.line, petstock.leases, petstock.runs, petstock.rows,
    petstock.pruned RESTART IDENTITY;
  UPDATE petstock.sequence SET last = 0`;
