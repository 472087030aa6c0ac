import type { Stock } from './item.ts';
import type { BanRule, Plan } from './limits/admission.ts';
import type { Seed } from './seed.ts';

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
