import type { Clock } from '../clock.ts';
import { idOfKey } from '../keys/key.ts';
import { StorageError } from '../storage/storage.ts';
import type { Exchange } from './exchange.ts';

/** One request. It is logged once its response was sent or its connection has ended. */
export interface LogEntry {
  /** When the request arrived, by the service's clock: ISO 8601. */
  readonly time: string;
  /** The X-Request-Id of the response. */
  readonly id: string;
  readonly address: string;
  /** The id of the key, as in lists of keys, never the key itself; null without a valid key. */
  readonly key: string | null;
  /** The beginning of the key: `psk_Ab3d`; null if `key` is null. */
  readonly keyPrefix: string | null;
  /** Null if the request could not be parsed. */
  readonly method: string | null;
  /** `/v1/inventory/{petId}`; null if the path is not in the API. */
  readonly route: string | null;
  /** The pet id in the path; null if there is none or it is not valid. */
  readonly petId: string | null;
  /** Null if no response was sent. */
  readonly status: number | null;
  /**
   * The failure of the service: its message (for a bug, its stack) and that of its cause. Null if it has not failed.
   */
  readonly cause: string | null;
  /** Whole milliseconds from the request's headers to the end of the response; 0 if the request could not be parsed. */
  readonly ms: number;
}

export type Log = (entry: LogEntry) => void;

/** Logs any other event, with its own fields. The fields never contain a key or a token. */
export type Tell = (
  level: 'info' | 'warning' | 'error',
  message: string,
  fields?: Readonly<Record<string, string | number | null>>,
) => void;

/** How long after a logged event further events are only counted, in milliseconds. */
const QUIET_MS = 10_000;

/**
 * Returns a logger for events that strangers can cause as often as they like. It logs the first event at once. Further
 * events are only counted for `QUIET_MS`; the next logged event has the count.
 */
export function throttled(tell: Tell, clock: Clock): Tell {
  let [toldAt, count] = [Number.NEGATIVE_INFINITY, 0];
  return (level, message, fields) => {
    count++;
    if (Math.abs(clock.now() - toldAt) < QUIET_MS) return;
    tell(level, message, { ...fields, count });
    [toldAt, count] = [clock.now(), 0];
  };
}

export function entryOf(exchange: Exchange, ms: number): LogEntry {
  const { time, id, address, validKey, method, route, entry, cause } = exchange;
  return {
    time: new Date(time).toISOString(),
    id,
    address,
    key: validKey === null ? null : idOfKey(validKey),
    keyPrefix: validKey === null ? null : prefixOf(validKey),
    method,
    route: route === null ? null : `/v1${route.path}`,
    petId: route?.petId ?? null,
    status: entry.status,
    cause: cause === undefined ? null : causeOf(cause),
    ms: Math.floor(ms),
  };
}

/** Returns the log entry of a request that could not be parsed. @param now milliseconds since the Unix epoch */
export function unreadEntry(now: number, id: string, address: string, status: number): LogEntry {
  const unknown = { key: null, keyPrefix: null, method: null, route: null, petId: null, cause: null };
  return { time: new Date(now).toISOString(), id, address, ...unknown, status, ms: 0 };
}

/** Returns the part of a key that may be shown: 8 characters, but at most a quarter of the key. */
function prefixOf(key: string): string {
  return key.slice(0, Math.min(8, Math.floor(key.length / 4)));
}

/** Returns an error in one line of at most 2,000 characters: `StorageError: disk I/O error`, or the stack of a bug. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const text = error instanceof StorageError ? `${error.name}: ${error.message}` : (error.stack ?? String(error));
  const cause = error.cause instanceof Error && error.cause.message !== error.message ? `: ${error.cause.message}` : '';
  return `${text}${cause}`.replace(/\s*\n\s*/g, ' | ').slice(0, 2_000);
}
