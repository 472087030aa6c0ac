import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import { type AddressInfo, BlockList, isIP, type Server, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { parseSubnet } from '../../shared/subnet.ts';
import { matchedRoute, matchRoute } from '../routes/routes.ts';
import type { Service } from '../service.ts';
import { Refusal } from './answer.ts';
import { Connections } from './connections.ts';
import { createExchange, parseTarget } from './exchange.ts';
import { handle } from './handle.ts';
import { entryOf, throttled, unreadEntry } from './log.ts';
import { headersRefusal, type ParserError, parserRefusal, refuseConnection } from './refusals.ts';
import { readTls, renewTls, type TlsFiles } from './tls.ts';

/** Time limits for a client, in milliseconds. */
export interface ServerTimeouts {
  /** How long the headers of a request may take to arrive. */
  readonly headersMs: number;
  /** How long the whole request may take to arrive. */
  readonly requestMs: number;
  /** How long the client may pause while it reads a streamed response; default 60 s. */
  readonly readMs?: number;
}

export interface ApiOptions {
  readonly timeouts: ServerTimeouts;
  /** How long an idle connection stays open for the next request, in milliseconds. */
  readonly keepAliveMs: number;
  /** With these files, only HTTPS is served. */
  readonly tls?: TlsFiles | undefined;
  /** Networks of proxies whose `X-Forwarded-For` is trusted. */
  readonly trustProxy?: readonly string[] | undefined;
  /** Maximum number of connections. Any further connection is refused. */
  readonly maxConnections: number;
}

/** The HTTP server of the service. All input, valid or not, is handled here or in `handle`. */
export class ApiServer {
  readonly #refused = new WeakSet<Duplex>();
  readonly #server: ReturnType<typeof createServer> | TlsServer;
  readonly #connections: Connections;
  readonly #addressOf: ClientAddress;
  readonly #readMs: number;

  /** @throws TlsError, or RangeError for a proxy that is not a network */
  constructor(
    private readonly service: Service,
    private readonly options: ApiOptions,
  ) {
    const { timeouts, keepAliveMs, tls, trustProxy = [], maxConnections } = options;
    this.#readMs = timeouts.readMs ?? 60_000;
    this.#addressOf = clientAddress(trustProxy);
    const settings = {
      requireHostHeader: false,
      keepAliveTimeout: keepAliveMs,
      headersTimeout: timeouts.headersMs,
      requestTimeout: timeouts.requestMs,
      connectionsCheckingInterval: Math.min(1_000, timeouts.headersMs),
    };
    this.#server = tls === undefined ? createServer(settings) : createTlsServer({ ...settings, ...readTls(tls) });
    // The parser would drop headers beyond its limit. With 0 it keeps all, and a request with too many is refused.
    this.#server.maxHeadersCount = 0;
    this.#server.maxConnections = maxConnections;
    const tell = throttled(service.tell, service.clock);
    this.#server.on('drop', () =>
      tell('warning', `A connection was refused because ${maxConnections} connections are open`),
    );
    this.#connections = new Connections(this.#server, tls !== undefined);
    const take = (request: IncomingMessage, response: ServerResponse) => this.#take(request, response);
    this.#server
      .on('request', take)
      .on('checkContinue', take)
      .on('checkExpectation', take)
      .on('connect', (_request: IncomingMessage, socket: Duplex) =>
        this.#refuse(socket, new Refusal(405, 'method_not_allowed', 'CONNECT is not allowed.', { Allow: '' })),
      )
      .on('clientError', (error: ParserError, socket) => this.#misread(socket, parserRefusal(error)));
  }

  async listen(port: number, host: string): Promise<number> {
    return listen(this.#server, port, host);
  }

  reloadTls(): void {
    if (this.options.tls !== undefined) renewTls(this.#server, this.options.tls);
  }

  drain(): void {
    this.#connections.drain();
  }

  stop(): Promise<void> {
    return this.#connections.stop(this.#server);
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const refusal = headersRefusal(request.rawHeaders);
    if (refusal !== null) {
      this.#misread(request.socket, refusal);
      return;
    }
    const { clock, storage, journal, log, metrics } = this.service;
    response.sendDate = false;
    response.on('error', () => {}); // A client that disconnects is not an error.
    const target = parseTarget(request.url ?? '/');
    const match = target.segments === null ? null : matchRoute(target.segments);
    const route = match === null ? null : matchedRoute(match);
    const [time, address, readMs] = [storage.now(), this.#addressOf(request), this.#readMs];
    const exchange = createExchange({ request, response, target, route, time, address, readMs }, journal);
    this.#connections.begin(exchange);
    const began = clock.now();
    response.once('close', () => {
      const ms = clock.now() - began;
      log?.(entryOf(exchange, ms));
      metrics?.over(exchange, ms / 1000);
    });
    handle(exchange, this.service, match).catch((error: unknown) => {
      exchange.cause = error;
      response.destroy();
    });
  }

  /**
   * Refuses a request that the parser could not read, or whose headers are not valid. The parser fails again for each
   * further packet, but only the first failure gets a response; the rest is read and ignored.
   */
  #misread(socket: Duplex, refusal: Refusal | null): void {
    if (refusal !== null && this.#refused.has(socket)) return;
    this.#refused.add(socket);
    this.#refuse(socket, refusal);
  }

  /**
   * Sends a refusal after all pending responses to complete requests. Closes the connection instead if the refusal is
   * null, or if a response to the incomplete request has begun.
   */
  #refuse(socket: Duplex, refusal: Refusal | null): void {
    const exchange = this.#connections.latestOn(socket);
    if (refusal === null || !socket.writable) {
      socket.destroy();
    } else if (exchange === undefined) {
      const address = socket instanceof Socket ? (socket.remoteAddress ?? '') : '';
      this.#refuseUnread(socket, refusal, address);
    } else if (exchange.request.complete) {
      exchange.response.once('close', () => this.#refuse(socket, refusal));
    } else if (exchange.response.headersSent) {
      socket.destroy();
    } else {
      exchange.entry.status = refusal.status;
      refuseConnection(socket, refusal, this.service.headersOf(exchange));
    }
  }

  /** Refuses a request for which there is no exchange. */
  #refuseUnread(socket: Duplex, refusal: Refusal, address: string): void {
    const { storage, log, metrics } = this.service;
    const id = randomUUID();
    metrics?.refused(refusal.status);
    refuseConnection(socket, refusal, this.service.headersOfAddress(address, id));
    log?.(unreadEntry(storage.now(), id, address, refusal.status));
  }
}

/**
 * Starts listening. Resolves with the port number.
 * @throws the system's error, such as EADDRINUSE
 */
export function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    // bun's error has no port.
    const fail = (error: Error) => reject(Object.assign(error, { port }));
    server.once('error', fail);
    server.listen(port, host, () => {
      server.off('error', fail);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** Returns the client's address: that of the connection, or the address that trusted proxies report. */
export type ClientAddress = (request: IncomingMessage) => string;

/**
 * Returns a function that finds out the address of a client.
 * @param trusted networks of proxies, such as `10.0.0.0/8`, `192.0.2.7` or `fd00::/8`. `X-Forwarded-For` is read from
 * its end, as long as its addresses belong to these networks. The first other address is the client's; addresses before
 * it may be invented.
 * @throws RangeError for an invalid network
 */
function clientAddress(trusted: readonly string[]): ClientAddress {
  if (trusted.length === 0) return ofConnection;
  const proxies = new BlockList();
  for (const network of trusted) {
    const subnet = parseSubnet(network);
    if (subnet === undefined) throw new RangeError(`"${network}" is not a network such as 10.0.0.0/8`);
    proxies.addSubnet(subnet.address, subnet.bits, subnet.family);
  }
  const isProxy = (address: string) => proxies.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  return (request) => {
    let address = ofConnection(request);
    const forwarded = [request.headers['x-forwarded-for'] ?? []].flat().join(',').split(',');
    while (isIP(address) !== 0 && isProxy(address)) {
      const next = plain(forwarded.pop()?.trim() ?? '');
      if (isIP(next) === 0) return address;
      address = next;
    }
    return address;
  };
}

function ofConnection({ socket }: IncomingMessage): string {
  return plain(socket.remoteAddress ?? '');
}

/**
 * Returns an address without the port and brackets that some proxies add. An IPv4 address received over IPv6 becomes a
 * plain IPv4 address.
 */
function plain(address: string): string {
  const bare = /^\[(.*)\](?::\d+)?$/.exec(address)?.[1] ?? address.replace(/^([\d.]+):\d+$/, '$1');
  return bare.replace(/^::ffff:(?=[\d.]+$)/i, '');
}
