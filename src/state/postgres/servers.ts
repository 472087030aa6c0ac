import type { Clock } from '../../shared/clock.ts';
import { type DatabaseServer, serversOf } from '../../shared/database-driver.ts';
import type { DatabaseAddress } from '../../shared/database-url.ts';
import { isLost, isSilence, reasonOf } from './postgres-errors.ts';
import type { OpenWire, Wire } from './wire.ts';

/** How long a silent server is skipped if the database has other servers, in milliseconds. */
const skippedFor = 10_000;

/** The servers of one database. Only one of them accepts writes at a time; which one may change. */
export class Servers {
  readonly #servers: readonly DatabaseServer[];
  readonly #clock: Clock;
  readonly #openWire: OpenWire;
  #current: DatabaseServer | undefined;
  readonly #silent = new Map<DatabaseServer, { readonly error: unknown; readonly until: number }>();

  constructor(address: DatabaseAddress, clock: Clock, openWire: OpenWire) {
    this.#servers = serversOf(address);
    this.#clock = clock;
    this.#openWire = openWire;
  }

  /**
   * Whether the database has several servers, so that another one may have taken over from one that does not respond.
   */
  get areSeveral(): boolean {
    return this.#servers.length > 1;
  }

  /** Skips the current server for 10 s, because it has not responded in time. */
  noteSilence(error: unknown): void {
    if (this.#current !== undefined) this.#skip(this.#current, error);
  }

  /**
   * Connects to the first server that accepts writes.
   * @throws the error of `OpenWire`; if none of several servers can be reached, one error that lists the reason of
   * each, or the first error if all timed out. A server that can be reached but refuses the connection ends the search
   */
  async connect(onNotice: () => void): Promise<Wire> {
    const failures = new Map<DatabaseServer, unknown>();
    for (const server of this.#servers) {
      const silent = this.areSeveral ? this.#silent.get(server) : undefined;
      if (silent !== undefined && this.#clock.monotonic() < silent.until) {
        failures.set(server, silent.error);
        continue;
      }
      try {
        const wire = await this.#openWire(server, onNotice);
        this.#current = server;
        return wire;
      } catch (error) {
        if (!isLost(error) || !this.areSeveral) throw error;
        if (isSilence(error)) this.#skip(server, error);
        failures.set(server, error);
      }
    }
    throw noneOf(failures);
  }

  #skip(server: DatabaseServer, error: unknown): void {
    this.#silent.set(server, { error, until: this.#clock.monotonic() + skippedFor });
  }
}

function noneOf(failures: ReadonlyMap<DatabaseServer, unknown>): unknown {
  const errors = [...failures.values()];
  if (errors.every(isSilence)) return errors[0];
  const reasons = [...failures].map(([{ host, port }, error]) => `${host}:${port}: ${reasonOf(error as Error)}`);
  return new Error(reasons.join('; '), { cause: errors[0] });
}
