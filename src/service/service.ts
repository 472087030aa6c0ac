import { randomUUID } from 'node:crypto';
import { FaultSet } from './faults.ts';
import { Cors } from './http/cors.ts';
import { addressOf, Journal, type Service } from './http/exchange.ts';
import { ApiServer } from './http/server.ts';
import type { Stock } from './item.ts';
import { digestOf, generateKey, keyChecker } from './key.ts';
import { addressBuckets, type BanRule, PLANS, type Plan } from './limits/admission.ts';
import { Quota } from './limits/quota.ts';
import { type Seed, seededStock } from './seed.ts';
import { IN_MEMORY, openStockFile, type StockFile } from './stock-file.ts';

export type RunningService = Awaited<ReturnType<typeof startService>>;

/**
 * Starts the service. Several processes may serve one file.
 * @throws FaultSpecError if a fault can't be parsed; StorageError, or the error of SQLite or of the system, if the file
 * can't be used or the service can't listen, for example EADDRINUSE
 */
export async function startService(options: ServiceOptions) {
  const { host = '127.0.0.1', port = 0, file = IN_MEMORY, key = generateKey() } = options;
  const faults = new FaultSet(options.faults ?? []);
  const store = await openStockFile(file, options.stock ?? seededStock(options));
  try {
    const service = createService(options, key, store, faults);
    const server = new ApiServer(service);
    const listening = await server.listen(port, host);
    let closing: Promise<void> | null = null;
    return {
      /** Base address, for example http://127.0.0.1:4010/v1 */
      url: `http://${host.includes(':') ? `[${host}]` : host}:${listening}/v1`,
      /** The key of this service, such as `psk_…`. */
      key,
      /** The stock, for changes that the API does not offer. */
      store,
      /** The last requests, oldest first; empty without `recordsRequests`. */
      journal: () => service.journal.entries(),
      /** @throws FaultSpecError if a fault can't be parsed; then nothing is replaced */
      setFaults: (specs: readonly string[]) => faults.replace(specs),
      /** Stops listening, waits at most 5 s for pending requests, and closes the file. */
      close: () => {
        closing ??= server.stop().then(() => store.close());
        return closing;
      },
    };
  } catch (error) {
    store.close();
    throw error;
  }
}

function createService(options: ServiceOptions, key: string, store: StockFile, faults: FaultSet): Service {
  const { clock, windowSeconds = 60, ban = { strikes: 10, seconds: 300 }, plan = 'business' } = options;
  const { minute, day } = options.limits ?? PLANS[plan];
  const minuteMs = windowSeconds * 1000;
  const addresses = addressBuckets(minuteMs);
  const cors = new Cors(options.cors ?? []);
  const { min = null, max = null } = options.quantityBounds ?? {};
  return {
    isKey: keyChecker(key),
    clock,
    faults,
    cors,
    shop: { store, bounds: { min, max } },
    journal: new Journal(options.recordsRequests === true),
    quota: new Quota({
      store,
      key: digestOf(key),
      limits: { minute: BigInt(minute), day: BigInt(day) },
      rules: { minuteMs, ban: ban === false ? null : ban },
    }),
    addresses,
    headersOf: (exchange) => {
      const { target, request, shown = addresses.peek(addressOf(request), clock.now()) } = exchange;
      return {
        Date: new Date(clock.now()).toUTCString(),
        'Cache-Control': 'no-store',
        'X-Request-Id': randomUUID(),
        'X-RateLimit-Limit': String(shown.limit),
        'X-RateLimit-Remaining': String(shown.remaining),
        'X-RateLimit-Reset': String(Math.ceil(shown.resetAt / 1000)),
        ...target.route?.headers,
        ...cors.headers(request.headers),
      };
    },
  };
}

/** A clock, in milliseconds since the Unix epoch. */
interface Clock {
  now(): number;
}

/** `pets`, `seed` and `ids` describe the stock of a new database, unless `stock` is given. */
export interface ServiceOptions extends Seed {
  /** The clock for windows, bans and `Date`. */
  readonly clock: Clock;
  /** Path of a SQLite file, or ':memory:' (the default). A new file is created and filled. */
  readonly file?: string | undefined;
  /** The stock of a new database. */
  readonly stock?: Stock | undefined;
  /** Address to listen on; default 127.0.0.1. */
  readonly host?: string | undefined;
  /** Port to listen on; 0, the default, uses a free one. */
  readonly port?: number | undefined;
  /** The only key that is accepted. Default: a generated one. */
  readonly key?: string | undefined;
  /** Plan of the key; default: business. */
  readonly plan?: Plan | undefined;
  /** Limits of an enterprise key; they override `plan`. */
  readonly limits?: { readonly minute: bigint | number; readonly day: bigint | number } | undefined;
  /** Length of the minute window in seconds; default 60. */
  readonly windowSeconds?: number | undefined;
  /** The rule by which refused requests ban the key; false for no bans. Default: the 11th strike bans it for 300 s. */
  readonly ban?: BanRule | false | undefined;
  /** Origins of web pages that may call the service from a browser; `*` for all. Default: none. */
  readonly cors?: readonly string[] | undefined;
  /** Bounds of the quantities that may be set. Default: none. */
  readonly quantityBounds?: { readonly min?: bigint | undefined; readonly max?: bigint | undefined } | undefined;
  /** Faults to inject; for the grammar see `parseFault`. */
  readonly faults?: readonly string[] | undefined;
  /** Whether requests are recorded for `journal()`, for tests. */
  readonly recordsRequests?: boolean | undefined;
}

/** Reports whether no other machine can reach this address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
