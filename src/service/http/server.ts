import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { clearTimeout, setTimeout } from 'node:timers';
import { loggablePath, targetOf } from '../routes.ts';
import type { Exchange, Service } from './exchange.ts';
import { handle } from './handle.ts';

/** How long an idle connection is kept for the next request. */
const KEEP_ALIVE_MS = 75_000;

/** How long a stopping server waits for pending requests, so that a client that stops reading can't block it. */
const IN_FLIGHT_MS = 5_000;

/** The HTTP server of the service. Node itself answers what is not HTTP. */
export class ApiServer {
  readonly #server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) =>
    this.#take(request, response),
  );
  readonly #sockets = new Set<Socket>();
  readonly #pending = new Set<Exchange>();
  #isStopping = false;

  constructor(private readonly service: Service) {
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  /**
   * Starts listening. Resolves with the port number.
   * @throws the system's error, such as EADDRINUSE
   */
  listen(port: number, host: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        resolve((this.#server.address() as AddressInfo).port);
      });
    });
  }

  /** Stops listening. Ends idle connections now, and busy ones after their responses, or after 5 s. */
  stop(): Promise<void> {
    this.#isStopping = true;
    return new Promise((resolve) => {
      const deadline = setTimeout(() => {
        for (const socket of this.#sockets) socket.destroy();
      }, IN_FLIGHT_MS);
      this.#server.close(() => {
        clearTimeout(deadline);
        resolve();
      });
      const answering = [...this.#pending].filter(({ isAbandoned }) => !isAbandoned);
      const busy = new Set(answering.map(({ request }) => request.socket));
      for (const socket of this.#sockets) if (!busy.has(socket)) socket.destroy();
    });
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const { clock, journal } = this.service;
    const { method = 'GET', url = '/' } = request;
    const target = targetOf(url);
    const exchange: Exchange = {
      request,
      response,
      method,
      target,
      entry: journal.open(() => ({ time: clock.now(), method, path: loggablePath(target) })),
      shown: undefined,
      isAbandoned: false,
    };
    this.#pending.add(exchange);
    response.sendDate = false;
    response.on('error', () => {}); // A client that disconnects is not an error.
    if (this.#isStopping) response.shouldKeepAlive = false;
    response.once('close', () => {
      this.#pending.delete(exchange);
      // With the headers sent before the stop, the client may expect to keep the connection.
      if (this.#isStopping) request.socket.end();
    });
    handle(exchange, this.service).catch(() => response.destroy());
  }
}
