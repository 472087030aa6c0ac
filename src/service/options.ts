import { isIP } from 'node:net';
import type { Log, Tell } from './http/log.ts';
import type { ServerTimeouts } from './http/server.ts';
import type { TlsFiles } from './http/tls.ts';
import type { BanRule, Plan } from './limits/admission.ts';
import type { Seed } from './seed/stock.ts';
import type { StorageOptions } from './storage/open-storage.ts';

/** `pets`, `seed` and `ids` describe the stock of a new storage, unless `stock` is given. */
export interface ServiceOptions extends Seed, Omit<StorageOptions, 'readOnly'> {
  /** Address to listen on; default 127.0.0.1. */
  readonly host?: string | undefined;
  /** Port to listen on; 0, the default, uses a free one. */
  readonly port?: number | undefined;
  /** Plan of the key; default: the plan of a known key, otherwise business. */
  readonly plan?: Plan | undefined;
  /** Limits of an enterprise key; they override `plan`. */
  readonly limits?: { readonly minute: bigint | number; readonly day: bigint | number } | undefined;
  /** A key to register. Default: a generated one. */
  readonly key?: string | undefined;
  /** Whether that key comes from a file. The file may have contained another key before. */
  readonly isKeyOfFile?: boolean | undefined;
  /** Length of the minute window in seconds; default 60. */
  readonly windowSeconds?: number | undefined;
  /** The rule by which refused requests ban the key; false for no bans. Default: the 11th strike bans it for 300 s. */
  readonly ban?: BanRule | false | undefined;
  /**
   * The number of requests without a valid key that an address may send per minute before it gets 429 instead of 401;
   * default 600. If false, it may send any number.
   */
  readonly addressLimit?: number | false | undefined;
  /** Origins of web pages that may call the service from a browser; `*` for all. Default: none. */
  readonly cors?: readonly string[] | undefined;
  /** Bounds of the quantities that may be set. Default: none. */
  readonly quantityBounds?: { readonly min?: bigint | undefined; readonly max?: bigint | undefined } | undefined;
  /** Faults to inject; for the grammar see `parseFault`. */
  readonly faults?: readonly string[] | undefined;
  /** The port of the administration server; 0 uses a free port. Undefined if there is no such server. */
  readonly adminPort?: number | undefined;
  /**
   * Address of the administration server; default: `host` if that is loopback, otherwise 127.0.0.1. On any address
   * other than loopback it uses HTTPS if the service does.
   */
  readonly adminHost?: string | undefined;
  /** The bearer token for the administration server. Default: a generated one. */
  readonly adminToken?: string | undefined;
  /** A bearer token for metrics only, in addition to `adminToken`. Without it, metrics need no token on loopback. */
  readonly metricsToken?: string | undefined;
  /** Whether requests are recorded, and the administration server offers the clock, the faults and the journal. */
  readonly testControls?: boolean | undefined;
  /** Files of a certificate and its key; then only HTTPS is served. */
  readonly tls?: TlsFiles | undefined;
  /** Networks of proxies whose `X-Forwarded-For` is trusted, such as `10.0.0.0/8`. Default: none. */
  readonly trustProxy?: readonly string[] | undefined;
  /**
   * How long an idle connection stays open for the next request, in seconds; default 75. A proxy in front of the
   * service should close idle connections earlier.
   */
  readonly keepAliveSeconds?: number | undefined;
  /** Called for each request when it has ended. */
  readonly log?: Log | undefined;
  /** Called for other events, such as a failure of the storage, an administrative action or a refused token. */
  readonly tell?: Tell | undefined;
  /**
   * Maximum number of connections to the API; default: half of the files that the process may open, so that some are
   * left for the administration server.
   */
  readonly maxConnections?: number | undefined;
  /**
   * Time limits for a client; default: 60 s for its headers, 300 s for its whole request, 60 s for a pause in reading.
   */
  readonly timeouts?: ServerTimeouts | undefined;
}

/** Reports whether no other machine can reach this address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
