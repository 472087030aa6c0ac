import { isIP } from 'node:net';
import type { Log, Tell } from './http/log.ts';
import type { ServerTimeouts } from './http/server.ts';
import type { TlsFiles } from './http/tls.ts';
import type { BanRule, Plan } from './limits/admission.ts';
import type { Seed } from './seed/stock.ts';
import type { StorageOptions } from './storage/open-storage.ts';

/** `pets`, `seed` and `ids` make the stock of a new store, if no `stock` is given. */
export interface ServiceOptions extends Seed, Omit<StorageOptions, 'readOnly'> {
  /** Address to listen at: 127.0.0.1. */
  readonly host?: string | undefined;
  /** Port to listen at; 0, the default, takes a free one. */
  readonly port?: number | undefined;
  /** Plan of the key: business, unless the key is known and has one. */
  readonly plan?: Plan | undefined;
  /** The key's own limits, as for an enterprise key; they override `plan`. */
  readonly limits?: { readonly minute: bigint | number; readonly day: bigint | number } | undefined;
  /** A key to register. Without it, one is generated. */
  readonly key?: string | undefined;
  /** Whether that key is the content of a file, which may have had another one before. */
  readonly isKeyOfFile?: boolean | undefined;
  /** Length of the minute window: 60. */
  readonly windowSeconds?: number | undefined;
  /** When ignoring 429s bans the key: after 10 strikes for 300 s. False: never. */
  readonly ban?: BanRule | false | undefined;
  /**
   * Requests without a valid key that an address may send per minute before it gets 429 instead of 401: 600. False: any
   * number.
   */
  readonly addressLimit?: number | false | undefined;
  /** Origins of web pages that may call the service from a browser, `*` for all. None by default. */
  readonly cors?: readonly string[] | undefined;
  /** Bounds of the quantities that may be set. None by default. */
  readonly quantityBounds?: { readonly min?: bigint | undefined; readonly max?: bigint | undefined } | undefined;
  /** Faults to inject; for the grammar see `parseFault`. */
  readonly faults?: readonly string[] | undefined;
  /** Port of the administration server, 0 for a free one. Undefined: none. */
  readonly adminPort?: number | undefined;
  /** Address of the administration server: loopback. On another one it speaks HTTPS if the service does. */
  readonly adminHost?: string | undefined;
  /** The bearer token of requests to the administration server. Without it, one is made. */
  readonly adminToken?: string | undefined;
  /** The bearer token of requests for its metrics, if not the token above. Without it, loopback takes them without a token. */
  readonly metricsToken?: string | undefined;
  /** Whether requests are recorded, and the administration server has the clock, faults and journal. */
  readonly testControls?: boolean | undefined;
  /** Files of a certificate and its key: then only HTTPS is served. */
  readonly tls?: TlsFiles | undefined;
  /** Networks of proxies whose `X-Forwarded-For` is trusted: `10.0.0.0/8`. None by default. */
  readonly trustProxy?: readonly string[] | undefined;
  /** How long an idle connection is kept for the next request: 75. Longer than a proxy in front of it keeps its own. */
  readonly keepAliveSeconds?: number | undefined;
  /** Called for each request when it has ended. */
  readonly log?: Log | undefined;
  /** Called for other events: the store is lost or back, an administrative action, a refused token. */
  readonly tell?: Tell | undefined;
  /** Connections that the API takes at once: half of the files that the process may open, so that the other port has some left. */
  readonly maxConnections?: number | undefined;
  /** How long a client may take: 60 s for its headers, 300 s for all of its request, 60 s to go on reading. */
  readonly timeouts?: ServerTimeouts | undefined;
}

/** Reports whether no other machine can reach this address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
