import { isIP, type Socket } from 'node:net';
import { type buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici';
import type { ConnectingSockets } from './connecting-sockets.ts';
import type { ProxyRefusal } from './failures.ts';
import type { TransportOptions } from './transport.ts';

export interface ProxyAgentOptions {
  readonly proxy: NonNullable<TransportOptions['proxy']>;
  readonly tls: { readonly ca?: string[] };
  readonly connecting: ConnectingSockets;
  readonly headersTimeout: number;
  readonly bodyTimeout: number;
  readonly maxHeaderSize: number;
}

/**
 * Creates an agent that sends everything through a tunnel (CONNECT) of one proxy, so the proxy sees the host, but not
 * the request. `resolveProxy` has already decided whether a proxy is used, so that `status` can report it.
 *
 * This file imports undici's public entry, which loads all of undici; only users of a proxy pay for that.
 */
export function createProxyAgent({ proxy, tls, connecting, ...options }: ProxyAgentOptions): Dispatcher {
  return new ProxyAgent({
    ...options,
    uri: proxy.value,
    ...(proxy.authorization !== undefined && { token: proxy.authorization }),
    // The TLS handshake in the tunnel keeps undici's limit of 10 s, because an abort does not close its socket.
    requestTls: tls,
    proxyTls: { ...tls, timeout: 0 },
    clientFactory: (origin, given) => {
      const { connect } = given as { readonly connect: buildConnector.connector };
      const open = connecting.wrap(withoutAddressAsName(connect), true);
      return new Proxies(origin, { ...options, connect: open }, proxy.shown, connecting);
    },
  });
}

/** undici gives the host of the proxy as the name for TLS, which must not be an address: Node warns, and Node 26 fails. */
function withoutAddressAsName(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) => {
    // undici gives null to a proxy without TLS, although its type does not say so.
    const name = (options.servername ?? '').replace(/^\[(.*)\]$/, '$1');
    return connect(isIP(name) === 0 ? options : { ...options, servername: '' }, callback);
  };
}

/** Thrown if there was no tunnel, so nothing was sent. */
class TunnelError extends Error {
  /** `EPROXYAUTH` if the proxy requires a name and a password. */
  readonly code: string = 'EPROXY';
  /** The response of the proxy, if it sent one other than a 407. */
  readonly refusal: ProxyRefusal | undefined;

  constructor(message: string, { cause, refusal }: { readonly cause?: unknown; readonly refusal?: ProxyRefusal } = {}) {
    super(message, { cause });
    this.refusal = refusal;
  }
}

class TunnelRefusal extends TunnelError {
  override readonly code = 'EPROXYAUTH';
}

/**
 * The connections to the proxy. Their errors get codes of their own: undici can't distinguish a proxy that hangs up
 * from a service that does, and would reconnect for as long as the request lasts.
 */
class Proxies extends Pool {
  readonly #shown: string;
  readonly #connecting: ConnectingSockets;

  constructor(origin: URL, options: Pool.Options, shown: string, connecting: ConnectingSockets) {
    super(origin, options);
    this.#shown = shown;
    this.#connecting = connecting;
  }

  override connect(options: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData>;
  override connect(
    options: Dispatcher.ConnectOptions,
    callback: (error: Error | null, data: Dispatcher.ConnectData) => void,
  ): void;
  override async connect(options: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData> {
    const response = await super.connect(options).catch((cause: Error) => {
      throw new TunnelError(`the proxy ${this.#shown} can't be reached: ${cause.message}`, { cause });
    });
    const { statusCode, socket, headers } = response;
    this.#connecting.connected(socket as Socket);
    if (statusCode === 200) return response;
    socket.on('error', () => {}).destroy();
    const words = `the proxy ${this.#shown} refused to connect, with status ${statusCode}`;
    if (statusCode !== 407) throw new TunnelError(words, { refusal: { status: statusCode, headers } });
    throw new TunnelRefusal(`${words}, because it requires a name and a password`);
  }
}
