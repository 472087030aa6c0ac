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
  /** For durations alone: the time of the service is the store's. */
  readonly clock: Clock;
  readonly rules: LimitRules;
  readonly addresses: ReturnType<typeof addressBuckets>;
  readonly cors: Cors;
  readonly bounds: QuantityBounds;
  readonly log: Log | undefined;
  readonly tell: Tell;
  readonly metrics: Metrics | null;
  /** Whether the store can be used, as `usabilityOf` says. */
  isUsable(): Promise<boolean>;
}

export type Service = ReturnType<typeof createService>;

export function createService(parts: Parts) {
  const { storage, addresses, cors, metrics, isUsable } = parts;
  let mayBeDown = false;
  /** Looks again when work of the store fails, and with each that does not until it is up: whoever reads the log is told of both. */
  const watched = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      const result = await work();
      if (mayBeDown) void look();
      return result;
    } catch (error) {
      if (error instanceof StorageError) void look();
      throw error;
    }
  };
  const look = async () => {
    mayBeDown = true;
    mayBeDown = !(await isUsable());
  };
  const dateAt = httpDates();
  const headers = (requestId: string, shown: ShownLimit) => commonHeaders(dateAt(storage.now()), requestId, shown);
  return {
    ...parts,
    /** Whether the service is about to stop: it is not to be sent new clients. */
    draining: false,
    /** Measures how long the store takes for `work`, if there are metrics. */
    timed: <Result>(operation: string, work: () => Promise<Result>) =>
      watched(() => metrics?.timed(operation, work) ?? work()),
    /** Returns the headers that every response to this exchange carries, as of now. */
    headersOf: (exchange: Exchange): Record<string, string> => ({
      ...headers(exchange.id, exchange.shown ?? addresses.peek(exchange.address, storage.now())),
      ...exchange.route?.headers,
      ...cors.headers(exchange.request.headers),
    }),
    /** The same for what never became an exchange: it is charged to the address. */
    headersOfAddress: (address: string, requestId: string) =>
      headers(requestId, addresses.admit(address, storage.now()).shown),
  };
}

/** Returns a check whether a store can be used: one for all who ask meanwhile, so that no number of them takes the connections from clients. */
export function usabilityOf(storage: ServiceStorage, tell: Tell): () => Promise<boolean> {
  const look = shared(() =>
    storage.check().then(
      () => null,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    ),
  );
  let isUp = true;
  return async () => {
    const reason = await within(look(), 'the store does not answer');
    if (isUp && reason !== null) tell('error', `No change of the stock can be committed: ${reason}`);
    if (!isUp && reason === null) tell('info', 'Changes of the stock are committed again');
    isUp = reason === null;
    return isUp;
  };
}

/** The headers that every answer carries, whatever its status. @param date as `httpDates` wrote it */
function commonHeaders(date: string, requestId: string, shown: ShownLimit): Record<string, string> {
  return {
    Date: date,
    'Cache-Control': 'no-store',
    'X-Request-Id': requestId,
    'X-RateLimit-Limit': String(shown.limit),
    'X-RateLimit-Remaining': String(shown.remaining),
    'X-RateLimit-Reset': String(Math.ceil(shown.resetAt / 1000)),
  };
}

/** Returns how a moment is written in HTTP. The text is kept for a whole second: it takes longer to make than it looks. */
function httpDates(): (now: number) => string {
  let [second, text] = [Number.NaN, ''];
  return (now) => {
    if (Math.floor(now / 1000) === second) return text;
    second = Math.floor(now / 1000);
    text = new Date(now).toUTCString();
    return text;
  };
}

/** Whole seconds from `now` to `moment`: at least 1, and never short of it. */
export function retryAfter(moment: number, now: number): string {
  return String(Math.max(1, Math.ceil((moment - now) / 1000)));
}
