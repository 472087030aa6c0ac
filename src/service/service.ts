import type { Clock } from './clock.ts';
import type { Cors } from './http/cors.ts';
import type { Exchange } from './http/exchange.ts';
import type { Log } from './http/log.ts';
import type { AddressBuckets } from './limits/addresses.ts';
import type { LimitRules, ShownLimit } from './limits/admission.ts';
import type { Metrics } from './metrics.ts';
import type { QuantityBounds } from './routes/values.ts';
import type { Store } from './store/store.ts';

interface Parts {
  readonly store: Store;
  /** For durations alone: the time of the service is the store's. */
  readonly clock: Clock;
  readonly rules: LimitRules;
  readonly addresses: AddressBuckets;
  readonly cors: Cors;
  readonly bounds: QuantityBounds;
  readonly log: Log | undefined;
  readonly metrics: Metrics | null;
}

/** All that the work on a request needs. */
export class Service implements Parts {
  readonly store: Store;
  /** For durations alone: the time of the service is the store's. */
  readonly clock: Clock;
  readonly rules: LimitRules;
  readonly addresses: AddressBuckets;
  readonly cors: Cors;
  readonly bounds: QuantityBounds;
  readonly log: Log | undefined;
  readonly metrics: Metrics | null;
  /** True once the service is about to stop: it is not to be sent new clients. */
  draining = false;
  readonly #dates = new HttpDates();

  constructor(parts: Parts) {
    this.store = parts.store;
    this.clock = parts.clock;
    this.rules = parts.rules;
    this.addresses = parts.addresses;
    this.cors = parts.cors;
    this.bounds = parts.bounds;
    this.log = parts.log;
    this.metrics = parts.metrics;
  }

  /** The headers that every answer to this exchange carries, as of now. */
  headersOf(exchange: Exchange): Record<string, string> {
    const shown = exchange.shown ?? this.addresses.peek(exchange.address, this.store.now());
    return {
      ...this.headers(exchange.id, shown),
      ...exchange.pathHeaders,
      ...this.cors.headers(exchange.request.headers),
    };
  }

  /** The same for what never became an exchange: it is charged to the address. */
  headersOfAddress(address: string, requestId: string): Record<string, string> {
    return this.headers(requestId, this.addresses.admit(address, this.store.now()).shown);
  }

  private headers(requestId: string, shown: ShownLimit): Record<string, string> {
    return commonHeaders(this.#dates.at(this.store.now()), requestId, shown);
  }
}

/**
 * The headers that every answer carries, whatever its status.
 * @param date as `HttpDates` gave it
 */
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

/** The same text for a whole second: it takes longer to make than it looks. */
class HttpDates {
  #second = Number.NaN;
  #text = '';

  /** @param now milliseconds since the Unix epoch */
  at(now: number): string {
    const second = Math.floor(now / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#text = new Date(now).toUTCString();
    }
    return this.#text;
  }
}

/** Whole seconds from `now` to `moment`: at least 1, and never short of it. */
export function retryAfter(moment: number, now: number): string {
  return String(Math.max(1, Math.ceil((moment - now) / 1000)));
}

export const JSON_TYPE = 'application/json';
