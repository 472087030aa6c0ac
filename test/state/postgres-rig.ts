import { onTestFinished } from 'vitest';
import type { Clock } from '../../src/shared/clock.ts';
import { selectNow } from '../../src/state/postgres/connection.ts';
import { type OpenPostgresOptions, openPostgres } from '../../src/state/postgres/open-postgres.ts';
import { type OpenWire, openWire, type Wire } from '../../src/state/postgres/wire.ts';
import type { State } from '../../src/state/state.ts';
import { statement } from '../../src/state/statements.ts';
import { runSql, temporaryDatabase } from '../support/postgres.ts';
import { createStateClock, FakeProcesses, steps } from './rig.ts';

/** A database whose clock is the test's. */
export interface SharedStore {
  readonly url: string;
  /** Opens a wire on which the database's time is that of the test's clock. */
  readonly openWire: OpenWire;
  /** Resolves when no statement is in flight. */
  idle(): Promise<void>;
  open(options: OpenOptions): Promise<State>;
}

export interface OpenOptions {
  readonly pid: number;
  readonly host?: string;
  readonly clock: Clock;
  readonly processes: FakeProcesses;
}

/** Opens the state of a database, by default on a machine of its own. It is closed when the test is finished. */
export async function stateAt(
  url: string,
  pid = 1,
  changes: Partial<OpenPostgresOptions> = {},
  open?: OpenWire,
): Promise<State> {
  const processes = new FakeProcesses().view(pid);
  const options = { url, clock: createStateClock(), processes, command: 'test', random: Math.random, ...changes };
  const state = await openPostgres(options, open);
  onTestFinished(() => state.close());
  return state;
}

/** Returns a wire that sends its queries through `query`. */
export function asking(wire: Wire, query: Wire['query']): Wire {
  return {
    query,
    get isOver() {
      return wire.isOver;
    },
    close: () => wire.close(),
    destroy: () => wire.destroy(),
  };
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
    return asking(wire, async (statements, within) => {
      underWay += 1;
      try {
        const owned = statements.map((asked) =>
          asked === selectNow ? statement(`SELECT ${now()}::double precision AS now`) : asked,
        );
        return await wire.query(owned, within);
      } finally {
        underWay -= 1;
      }
    });
  };
  const random = steps();
  return {
    url,
    openWire: own,
    idle: async () => {
      for (let quiet = 0; quiet < 3; quiet = underWay === 0 ? quiet + 1 : 0) {
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    open: ({ pid, host, clock, processes }) => {
      const view = processes.view(pid, { boot: clock.boot(), ...(host !== undefined && { host }) });
      return stateAt(url, pid, { clock, processes: view, user: `user-${pid}`, random }, own);
    },
  };
}

const emptied = `
  TRUNCATE petstock.limits, petstock.presence, petstock.services, petstock.line, petstock.leases, petstock.runs, petstock.rows,
    petstock.pruned RESTART IDENTITY;
  UPDATE petstock.sequence SET last = 0`;
