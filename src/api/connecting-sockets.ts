import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';

/**
 * The sockets that are not connected yet. undici goes on connecting for a request that was given up, and connects anew after one, which keeps
 * the process alive; and it does not tell which socket a request waits for. So all of them go once no request waits.
 */
export class ConnectingSockets {
  readonly #sockets = new Set<Socket>();
  /** How many requests wait for a connection. */
  #waiting = 0;

  /** A request waits from now on. @returns what to call when it does not wait any more: once */
  wait(): () => void {
    this.#waiting += 1;
    return () => {
      this.#waiting -= 1;
      if (this.#waiting > 0) return;
      for (const socket of this.#sockets) giveUp(socket);
    };
  }

  /**
   * Wraps what connects.
   * @param isTunnel the socket is of use only once the proxy has answered, and then has to be `connected`
   */
  over(connect: buildConnector.connector, isTunnel = false): buildConnector.connector {
    // undici's own connector returns the socket, whatever its type says.
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

/** undici learns of it by an error alone. */
function giveUp(socket: Socket): void {
  socket.destroy(new Error('No request waits for this connection'));
}
