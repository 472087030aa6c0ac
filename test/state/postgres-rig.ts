import { onTestFinished } from 'vitest';
import type { Clock } from '../../src/shared/clock.ts';
import { openPostgres } from '../../src/state/postgres/open-postgres.ts';
import { type OpenWire, openWire, type Wire } from '../../src/state/postgres/wire.ts';
import type { State } from '../../src/state/state.ts';
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
  let isOwned = false;
  const [found] = await runSql(url, "SELECT to_regclass('petstock.meta')::text AS meta");
  if (found?.meta !== null) await runSql(url, emptied);
  const own: OpenWire = async (address, onNotice) => {
    const wire = await openWire(address, onNotice);
    const query: Wire['query'] = async (text, values, within) => {
      underWay += 1;
      try {
        if (isOwned) await wire.query("SELECT set_config('petstock_test.now', $1, false)", [String(now())], within);
        return await wire.query(text, values, within);
      } finally {
        underWay -= 1;
      }
    };
    return {
      query,
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
      if (!isOwned) await runSql(url, ownedClock);
      isOwned = true;
      onTestFinished(() => state.close());
      return state;
    },
  };
}

const ownedClock = `
  CREATE OR REPLACE FUNCTION petstock.now_ms() RETURNS double precision LANGUAGE sql VOLATILE AS
  $$ SELECT current_setting('petstock_test.now')::double precision $$`;

const emptied = `
  TRUNCATE petstock.limits, petstock.presence, petstock.services, petstock.line, petstock.leases, petstock.runs, petstock.rows
    RESTART IDENTITY;
  ALTER SEQUENCE petstock.writes RESTART`;
