import type { Server } from 'node:net';
import type { Duplex } from 'node:stream';
import { clearTimeout, setTimeout } from 'node:timers';
import type { Exchange } from './exchange.ts';

/**
 * How long a stopping server waits for pending requests, in milliseconds, so that a client that stops reading can't
 * block it.
 */
const IN_FLIGHT_MS = 5_000;

/**
 * The open connections of a server and their pending exchanges, so that it can be stopped without waiting for idle
 * ones.
 */
export class Connections {
  readonly #open = new Map<Duplex, Set<Exchange>>();
  /**
   * The raw sockets below TLS, even before a handshake; empty without TLS. An idle one would keep the server from
   * stopping.
   */
  readonly #rawSockets = new Set<Duplex>();
  #draining = false;
  #stopping = false;

  /** @param isTls whether requests arrive on TLS sockets on top of the raw ones */
  constructor(server: Server, isTls: boolean) {
    const open = (socket: Duplex) => {
      this.#open.set(socket, new Set());
      socket.once('close', () => this.#open.delete(socket));
    };
    server.on(isTls ? 'secureConnection' : 'connection', open);
    if (!isTls) return;
    server.on('connection', (socket) => {
      this.#rawSockets.add(socket);
      socket.once('close', () => this.#rawSockets.delete(socket));
    });
  }

  /**
   * Ends each connection with its next response. A connection whose last response promised to stay open may send one
   * more request.
   */
  drain(): void {
    this.#draining = true;
    for (const exchanges of this.#open.values()) endWith([...exchanges].at(-1));
  }

  /**
   * Returns the latest pending exchange on a connection; undefined if there is none. With pipelining, other exchanges
   * may precede it.
   */
  latestOn(socket: Duplex): Exchange | undefined {
    return [...(this.#open.get(socket) ?? [])].at(-1);
  }

  begin(exchange: Exchange): void {
    const { socket } = exchange.request;
    const before = this.latestOn(socket);
    this.#open.get(socket)?.add(exchange);
    if (this.#draining) {
      // With pipelining, the exchange before this one must keep the connection open.
      if (before?.response.headersSent === false) before.response.shouldKeepAlive = true;
      endWith(exchange);
    }
    exchange.response.once('close', () => {
      const exchanges = this.#open.get(socket);
      exchanges?.delete(exchange);
      if (this.#stopping && exchanges?.size === 0) socket.end();
    });
  }

  /** Stops listening. Ends idle connections now, and busy ones after their responses, or after 5 s. */
  stop(server: Server, patienceMs = IN_FLIGHT_MS): Promise<void> {
    this.drain();
    this.#stopping = true;
    return new Promise((resolve) => {
      const deadline = setTimeout(() => this.#destroy(), patienceMs);
      server.close(() => {
        clearTimeout(deadline);
        resolve();
      });
      for (const [socket, exchanges] of this.#open) {
        const answerable = [...exchanges].filter(({ abandoned }) => !abandoned);
        if (answerable.length === 0) socket.destroy();
      }
    });
  }

  #destroy(): void {
    for (const socket of [...this.#open.keys(), ...this.#rawSockets]) socket.destroy();
  }
}

function endWith(exchange: Exchange | undefined): void {
  if (exchange?.response.headersSent === false) exchange.response.shouldKeepAlive = false;
}
