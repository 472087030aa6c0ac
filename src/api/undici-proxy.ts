import type { Socket } from 'node:net';
import { type buildConnector, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
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
 * Sends everything through one proxy, by a tunnel (CONNECT): the proxy sees the host and nothing of the request. Whether a proxy
 * is used at all is decided before, by `resolveProxy`, so that `status` says what is true; here the variables are not read.
 *
 * It takes undici by its public interface, which loads all of it: only who has a proxy pays for that.
 */
export function createProxyAgent({ proxy, tls, connecting, ...options }: ProxyAgentOptions): Dispatcher {
  return new EnvHttpProxyAgent({
    ...options,
    httpProxy: proxy.value,
    httpsProxy: proxy.value,
    noProxy: '',
    requestTls: tls,
    proxyTls: tls,
    clientFactory: (origin, given) => {
      const { connect } = given as { readonly connect: buildConnector.connector };
      return new Proxies(origin, { ...options, connect: connecting.over(connect, true) }, proxy.shown, connecting);
    },
  });
}

/** No tunnel was made, so nothing was sent. */
class TunnelError extends Error {
  /** `EPROXYAUTH`: it will be refused again until somebody changes the address of the proxy. */
  readonly code: string = 'EPROXY';
  /** The answer of the proxy, if it gave one. */
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
 * The connections to the proxy. What goes wrong with them gets a code of its own: undici takes a proxy that hangs up for a
 * service that does, and connects again at once, for as long as the request lasts.
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
    const answer = await super.connect(options).catch((cause: Error) => {
      throw new TunnelError(`the proxy ${this.#shown} can't be reached: ${cause.message}`, { cause });
    });
    const { statusCode, socket, headers } = answer;
    this.#connecting.connected(socket as Socket);
    if (statusCode === 200) return answer;
    socket.on('error', () => {}).destroy();
    const words = `the proxy ${this.#shown} refused with status ${statusCode}`;
    if (statusCode !== 407) throw new TunnelError(words, { refusal: { status: statusCode, headers } });
    throw new TunnelRefusal(`${words}, since it requires a name and a password`);
  }
}
