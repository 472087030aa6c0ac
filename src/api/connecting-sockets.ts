import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';

/**
 * The sockets that are still connecting. undici keeps connecting for a request that was given up, and reconnects after
 * a failure. Both keep the process alive. undici does not tell which socket a request waits for, so all of them are
 * closed once no request waits.
 */
export class ConnectingSockets {
  readonly #sockets = new Set<Socket>();
  /** Number of requests that wait for a connection. */
  #waiting = 0;

  /** Counts a waiting request. Call the returned function once that request no longer waits. */
  wait(): () => void {
    this.#waiting += 1;
    return () => {
      this.#waiting -= 1;
      if (this.#waiting > 0) return;
      for (const socket of this.#sockets) giveUp(socket);
    };
  }

  /**
   * Wraps a connector.
   * @param isTunnel whether a socket is only usable once the proxy has responded; the caller then calls `connected`
   */
  wrap(connect: buildConnector.connector, isTunnel = false): buildConnector.connector {
    // undici's own connector returns the socket, although its type does not say so.
    const open = connect as (...args: Parameters<buildConnector.connector>) => Socket;
    return (options, callback) => {
      const socket = open(options, (...result) => {
        if (!isTunnel) this.connected(socket);
        callback(...result);
      });
      this.#sockets.add(socket);
      socket.once('close', () => this.connected(socket));
      if (this.#waiting === 0) giveUp(socket);
    };
  }

  connected(socket: Socket): void {
    this.#sockets.delete(socket);
  }
}

/** Destroys the socket with an error, because undici does not notice anything else. */
function giveUp(socket: Socket): void {
  socket.destroy(new Error('No request waits for this connection'));
}
