import type { Clock } from '../clock.ts';
import { idOfKey } from '../keys/key.ts';
import type { Exchange } from './exchange.ts';

/** One request, logged when its answer has been sent or its connection has ended. */
export interface LogEntry {
  /** When it came, by the service's clock: ISO 8601. */
  readonly time: string;
  /** X-Request-Id of the answer. */
  readonly id: string;
  readonly address: string;
  /** The id of the key, as lists of keys show it; null without a valid one. Never the key. */
  readonly key: string | null;
  /** Null, as `path`, when the request could not be read. */
  readonly method: string | null;
  /** Without the query. */
  readonly path: string | null;
  /** Null when no answer was sent. */
  readonly status: number | null;
  /** Whole milliseconds from its headers to the end of its answer. */
  readonly ms: number;
}

/** What to do with each entry. */
export type Log = (entry: LogEntry) => void;

/** Arranges for the exchange to be logged when it is over. @param time when it came @param clock for the duration */
export function logWhenOver(log: Log, exchange: Exchange, time: number, clock: Clock): void {
  const began = clock.now();
  exchange.response.once('close', () => {
    const { id, address, validKey, method, target } = exchange;
    log({
      time: new Date(time).toISOString(),
      id,
      address,
      key: validKey === null ? null : idOfKey(validKey),
      method,
      path: loggedPath(target),
      status: exchange.entry.status,
      ms: Math.floor(clock.now() - began),
    });
  });
}

/** A request target for logs and journals: without its query, and without a key that is where it does not belong. */
export function loggedPath(target: string): string {
  return target.replace(/[?#].*$/s, '').replace(/psk_[^/]*/g, 'psk_…');
}
