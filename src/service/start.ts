import { isLoopback } from './admin/server.ts';
import type { Clock } from './clock.ts';
import { parseFault } from './faults/grammar.ts';
import { Cors } from './http/cors.ts';
import type { Log } from './http/log.ts';
import { ApiServer, type Patience } from './http/server.ts';
import type { TlsFiles } from './http/tls.ts';
import type { JournalEntry } from './journal.ts';
import { generateAdminToken, generateKey } from './keys/key.ts';
import { type Grant, KeyRing } from './keys/key-ring.ts';
import { AddressBuckets } from './limits/addresses.ts';
import type { BanRule, Plan } from './limits/admission.ts';
import { openStore } from './open-store.ts';
import { type Ids, type Stock, seededStock } from './seed/stock.ts';
import { Service } from './service.ts';
import type { Store } from './store/store.ts';

export interface ServiceOptions {
  /** Path of the database file, or ':memory:', which is the default. Created and seeded when new. */
  readonly file?: string;
  /**
   * Address of a PostgreSQL in place of a file: `postgres://…`. Its tables are made and filled when they are new. Any number of
   * services on any machines may share it; windows, bans and dates then go by its clock. Several are servers of one database,
   * of which the one that takes writes is used.
   */
  readonly database?: string | readonly string[];
  /** Milliseconds since the Unix epoch: windows, bans, `Date` and everything else go by it, where there is no `database`. */
  readonly clock: Clock;
  /** Address to listen at: 127.0.0.1. */
  readonly host?: string;
  /** Port to listen at; 0, the default, takes a free one. */
  readonly port?: number;
  /** What a new database is filled with, in place of what `pets`, `seed` and `ids` make. */
  readonly stock?: Stock;
  /** Pets in a new database: 24. */
  readonly pets?: number;
  /** Seed of the stock in a new database: 1. */
  readonly seed?: number;
  /** Whether some ids of a new database are beyond 2^53: large, they are. */
  readonly ids?: Ids;
  /** Plan of the key: business, unless the key is known and has one. */
  readonly plan?: Plan;
  /** Limits of the key's own, as an enterprise key has them; they go before `plan`. */
  readonly limits?: { readonly minute: bigint | number; readonly day: bigint | number };
  /** A key to register. Without it, one is issued. */
  readonly key?: string;
  /** Length of the minute window: 60. */
  readonly windowSeconds?: number;
  /** When going on after a 429 bans the key: after 10 strikes for 300 s. False: never. */
  readonly ban?: BanRule | false;
  /** Requests without a valid key that an address may make in a minute before they get 429 in place of 401: 600. False: any number. */
  readonly addressLimit?: number | false;
  /** Origins of web pages that may call the service from a browser, `*` for all. None by default. */
  readonly cors?: readonly string[];
  /** Bounds of the quantities that may be set. None by default. */
  readonly quantityBounds?: { readonly min?: bigint; readonly max?: bigint };
  /** Faults to inject; the grammar is at `parseFault`. */
  readonly faults?: readonly string[];
  /** Port of the administration server, 0 for a free one. Undefined: none. */
  readonly adminPort?: number;
  /** Address of the administration server: loopback. On another one it speaks HTTPS where the service does. */
  readonly adminHost?: string;
  /** What a request to the administration server must bring as its bearer token. Without it, one is made. */
  readonly adminToken?: string;
  /** Files of a certificate and its key: then HTTPS is served, and nothing else. */
  readonly tls?: TlsFiles;
  /** Networks of proxies whose `X-Forwarded-For` is believed: `10.0.0.0/8`. None by default. */
  readonly trustProxy?: readonly string[];
  /** How long an idle connection is kept for the next request: 75. Longer than a proxy in front of it keeps its own. */
  readonly keepAliveSeconds?: number;
  /** Called for each request when it is over. */
  readonly log?: Log;
  /** How long a client may take: 60 s for its headers, 300 s for all of its request, 60 s to go on reading. */
  readonly patience?: Patience;
}

export interface RunningService {
  /** Base address, for example http://127.0.0.1:4010/v1 */
  readonly url: string;
  /** Address of the administration server. */
  readonly adminUrl: string | null;
  /** The bearer token of the administration server; null without one. */
  readonly adminToken: string | null;
  /** A key that is valid here: psk_… */
  readonly key: string;
  /** The last requests seen, oldest first. */
  journal(): readonly JournalEntry[];
  /** Puts these faults in the place of all others. @throws FaultSpecError at once */
  setFaults(specs: readonly string[]): Promise<void>;
  /** Moves the clock of this service ahead. */
  advanceClock(seconds: number): Promise<void>;
  /** Reads certificate and key again. @throws TlsError; then the previous ones stay in use */
  reloadTls(): void;
  /** Has `/readyz` fail, and connections end with their next answer. Requests are still answered. */
  drain(): void;
  /** Stops listening, answers what is in flight, closes the database. */
  close(): Promise<void>;
}

const DEFAULTS = {
  host: '127.0.0.1',
  port: 0,
  plan: 'business',
  windowSeconds: 60,
  addressLimit: 600,
  keepAliveSeconds: 75,
  ban: { strikes: 10, seconds: 300 },
  patience: { headersMs: 60_000, requestMs: 300_000 },
} as const;

/**
 * Starts the service. Any number of them, in any number of processes, may serve one file.
 *
 * @throws FaultSpecError when a fault cannot be read
 * @throws StorageError when the file or the database cannot be used
 * @throws TlsError, RangeError for a certificate or a trusted proxy that cannot be used
 * @throws what the system says when it cannot listen, for example EADDRINUSE
 */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  for (const spec of options.faults ?? []) parseFault(spec);
  const key = options.key ?? generateKey();
  const stock = options.stock ?? seededStock(options);
  const store = await openStore({ ...options, stock, keepsJournal: options.adminPort !== undefined });
  try {
    const grant = grantOf(options);
    await store.faults.add(options.faults ?? []);
    await new KeyRing(store).adopt(key, grant ?? DEFAULTS.plan, { keepsKnown: grant === undefined });
    return await serve(await assemble(options, store), options, key);
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function assemble(options: ServiceOptions, store: Store): Promise<Service> {
  const minuteMs = (options.windowSeconds ?? DEFAULTS.windowSeconds) * 1000;
  const ban = options.ban ?? DEFAULTS.ban;
  return new Service({
    store,
    clock: options.clock,
    rules: { minuteMs, ban: ban === false ? null : ban },
    addresses: new AddressBuckets(minuteMs, addressLimitOf(options)),
    cors: new Cors(options.cors ?? []),
    bounds: { min: options.quantityBounds?.min ?? null, max: options.quantityBounds?.max ?? null },
    log: options.log,
    metrics: options.adminPort === undefined ? null : (await import('./metrics.ts')).createMetrics(store, minuteMs),
  });
}

async function serve(service: Service, options: ServiceOptions, key: string): Promise<RunningService> {
  const { host = DEFAULTS.host, tls, trustProxy, patience = DEFAULTS.patience } = options;
  const keepAliveMs = (options.keepAliveSeconds ?? DEFAULTS.keepAliveSeconds) * 1000;
  const api = new ApiServer(service, { patience, keepAliveMs, tls, trustProxy });
  const url = `${origin(host, await api.listen(options.port ?? DEFAULTS.port, host), tls)}/v1`;
  const admin = await startAdmin(service, options, url).catch(async (error: unknown) => {
    await api.stop();
    throw error;
  });
  let closing: Promise<void> | null = null;
  return {
    url,
    adminToken: admin?.token ?? null,
    adminUrl: admin?.url ?? null,
    key,
    journal: () => service.store.journal.entries(),
    setFaults: (specs) => service.store.faults.replace(specs),
    advanceClock: (seconds) => service.store.advance(seconds * 1000),
    reloadTls: () => {
      api.reloadTls();
      admin?.server.reloadTls();
    },
    drain: () => {
      service.draining = true;
      api.drain();
    },
    close: () => {
      service.draining = true;
      closing ??= api
        .stop()
        .then(() => admin?.server.stop())
        .then(() => service.store.close());
      return closing;
    },
  };
}

/** Null where it is not asked for. Over TLS only where others reach it: on loopback those who look after the service need none. */
async function startAdmin(service: Service, options: ServiceOptions, serviceUrl: string) {
  const { host = DEFAULTS.host, adminPort, adminToken: token = generateAdminToken() } = options;
  if (adminPort === undefined) return null;
  const adminHost = options.adminHost ?? (isLoopback(host) ? host : DEFAULTS.host);
  const tls = isLoopback(adminHost) ? undefined : options.tls;
  const { AdminServer } = await import('./admin/server.ts');
  const server = new AdminServer(service, { serviceUrl, token, tls, isLocal: isLoopback(adminHost) });
  return { server, token, url: origin(adminHost, await server.listen(adminPort, adminHost), tls) };
}

function origin(host: string, port: number, tls: TlsFiles | undefined): string {
  return `${tls === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function addressLimitOf({ addressLimit = DEFAULTS.addressLimit }: ServiceOptions): bigint | null {
  return addressLimit === false ? null : BigInt(addressLimit);
}

/** What the options say about the key; undefined when they say nothing. */
function grantOf({ limits, plan }: ServiceOptions): Grant | undefined {
  return limits === undefined ? plan : { minute: BigInt(limits.minute), day: BigInt(limits.day) };
}
