import { type Clock, shared, within } from './clock.ts';
import type { Controls } from './controls.ts';
import type { FaultSet } from './faults/fault-set.ts';
import type { Cors } from './http/cors.ts';
import type { Exchange } from './http/exchange.ts';
import type { Log, Tell } from './http/log.ts';
import type { Journal } from './journal.ts';
import type { addressBuckets, LimitRules, ShownLimit } from './limits/admission.ts';
import type { Metrics } from './metrics.ts';
import type { QuantityBounds } from './routes/values.ts';
import { type ServiceStorage, StorageError } from './storage/storage.ts';

interface Parts {
  readonly storage: ServiceStorage;
  readonly controls: Controls;
  readonly faults: FaultSet;
  readonly journal: Journal;
  /** Measures durations only. The service's time is that of its storage. */
  readonly clock: Clock;
  readonly rules: LimitRules;
  readonly addresses: ReturnType<typeof addressBuckets>;
  readonly cors: Cors;
  readonly bounds: QuantityBounds;
  readonly log: Log | undefined;
  readonly tell: Tell;
  readonly metrics: Metrics | null;
  /** Whether the storage can be used; see `usabilityOf`. */
  isUsable(): Promise<boolean>;
}

export type Service = ReturnType<typeof createService>;

export function createService(parts: Parts) {
  const { storage, addresses, cors, metrics, isUsable } = parts;
  let mayBeDown = false;
  /** Runs `work`. After a StorageError, checks the storage, and again after each later success until it can be used. */
  const watched = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      const result = await work();
      if (mayBeDown) void check();
      return result;
    } catch (error) {
      if (error instanceof StorageError) void check();
      throw error;
    }
  };
  const check = async () => {
    mayBeDown = true;
    mayBeDown = !(await isUsable());
  };
  const headers = (requestId: string, shown: ShownLimit) => commonHeaders(storage.now(), requestId, shown);
  return {
    ...parts,
    /** Whether the service is about to stop and should get no new clients. */
    draining: false,
    /**
     * Runs `work` on the storage. Measures how long that takes, if there are metrics, and checks the storage if it
     * fails.
     */
    timed: <Result>(operation: string, work: () => Promise<Result>) =>
      watched(() => metrics?.timed(operation, work) ?? work()),
    /** Returns the headers of every response to this exchange, with their current values. */
    headersOf: (exchange: Exchange): Record<string, string> => ({
      ...headers(exchange.id, exchange.shown ?? addresses.peek(exchange.address, storage.now())),
      ...exchange.route?.headers,
      ...cors.headers(exchange.request.headers),
    }),
    /** Returns the common headers for a request without an exchange. Charges the request to the address. */
    headersOfAddress: (address: string, requestId: string) =>
      headers(requestId, addresses.admit(address, storage.now()).shown),
  };
}

/**
 * Returns a function that checks whether the storage can be used, and logs each change. Callers share a pending check,
 * so that they can't take the connections away from clients.
 */
export function usabilityOf(storage: ServiceStorage, tell: Tell): () => Promise<boolean> {
  const check = shared(() =>
    storage.check().then(
      () => null,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    ),
  );
  let isUp = true;
  return async () => {
    const reason = await within(check(), 'the storage does not respond');
    if (isUp && reason !== null) tell('error', `Stock changes can't be committed: ${reason}`);
    if (!isUp && reason === null) tell('info', 'Stock changes can be committed again');
    isUp = reason === null;
    return isUp;
  };
}

/** Returns the headers that every response has, whatever its status. */
function commonHeaders(now: number, requestId: string, shown: ShownLimit): Record<string, string> {
  return {
    Date: new Date(now).toUTCString(),
    'Cache-Control': 'no-store',
    'X-Request-Id': requestId,
    'X-RateLimit-Limit': String(shown.limit),
    'X-RateLimit-Remaining': String(shown.remaining),
    'X-RateLimit-Reset': String(Math.ceil(shown.resetAt / 1000)),
  };
}

/** Returns whole seconds from `now` to `moment`: at least 1, rounded up. */
export function retryAfter(moment: number, now: number): string {
  return String(Math.max(1, Math.ceil((moment - now) / 1000)));
}
