import type { Clock } from '../clock.ts';
import { idOfKey } from '../keys/key.ts';
import { StorageError } from '../storage/storage.ts';
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
  /** How the key begins: `psk_Ab3d`; null as `key`. */
  readonly keyPrefix: string | null;
  /** Null if the request could not be read. */
  readonly method: string | null;
  /** `/v1/inventory/{petId}`; null if it is none of the API. */
  readonly route: string | null;
  /** The id of the pet in the path, if it is one. */
  readonly petId: string | null;
  /** Null when no answer was sent. */
  readonly status: number | null;
  /** The failure behind a 5xx: its message and those behind it. Null of any other answer. */
  readonly cause: string | null;
  /** Whole milliseconds from its headers to the end of its answer. */
  readonly ms: number;
}

export type Log = (entry: LogEntry) => void;

/** Tells what else happens, for the log: with fields of its own, never a key or a token. */
export type Tell = (
  level: 'info' | 'warning' | 'error',
  message: string,
  fields?: Readonly<Record<string, string | number | null>>,
) => void;

/** Milliseconds in which one line says how often something has happened. */
const QUIET_MS = 10_000;

/** Returns how something is told that strangers can make happen as often as they like: at once, and then with its count. */
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

/** Returns the entry of what could not be read. @param now milliseconds since the Unix epoch */
export function unreadEntry(now: number, id: string, address: string, status: number): LogEntry {
  const unknown = { key: null, keyPrefix: null, method: null, route: null, petId: null, cause: null };
  return { time: new Date(now).toISOString(), id, address, ...unknown, status, ms: 0 };
}

/** As much of a key as may be shown: 8 characters, and never more than a quarter. */
function prefixOf(key: string): string {
  return key.slice(0, Math.min(8, Math.floor(key.length / 4)));
}

/** `StorageError: disk I/O error: …`, in one line; of a defect the place in the code, too. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const text = error instanceof StorageError ? `${error.name}: ${error.message}` : (error.stack ?? String(error));
  const cause = error.cause instanceof Error && error.cause.message !== error.message ? `: ${error.cause.message}` : '';
  return `${text}${cause}`.replace(/\s*\n\s*/g, ' | ').slice(0, 2_000);
}
