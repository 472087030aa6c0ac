import { randomUUID } from 'node:crypto';
import { FaultSet } from './faults/fault-set.ts';
import { Cors } from './http/cors.ts';
import { addressOf, type Service } from './http/exchange.ts';
import { ApiServer } from './http/server.ts';
import { Journal } from './journal.ts';
import { digestOf, generateKey, keyChecker } from './key.ts';
import { addressBuckets, PLANS } from './limits/admission.ts';
import { Quota } from './limits/quota.ts';
import type { ServiceOptions } from './options.ts';
import { seededStock } from './seed.ts';
import { IN_MEMORY, openStore, type Store } from './store.ts';

export type RunningService = Awaited<ReturnType<typeof startService>>;

/**
 * Starts the service. Several processes may serve one file.
 * @throws FaultSpecError if a fault can't be parsed; StorageError, or the error of SQLite or of the system, if the file
 * can't be used or the service can't listen, for example EADDRINUSE
 */
export async function startService(options: ServiceOptions) {
  const { host = '127.0.0.1', port = 0, file = IN_MEMORY, key = generateKey() } = options;
  const faults = new FaultSet(options.faults ?? []);
  const store = await openStore(file, options.stock ?? seededStock(options));
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

function createService(options: ServiceOptions, key: string, store: Store, faults: FaultSet): Service {
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
