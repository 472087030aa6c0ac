import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { buildConnector } from 'undici';
import type { HttpRequest, HttpResponse, Transport } from './transport.ts';

/** Of an answer, in bytes: Node's own default. Without it undici would load `node:http` to ask. */
const maxHeaderSize = 16 * 1024;

/**
 * The transport over undici, which begins to load at once: a request that was admitted should not have to wait for it.
 * Its own time-outs are off: the signal of each request carries the one that the user chose.
 */
export function createUndiciTransport(): Transport {
  const connector = createConnector();
  const load = async () => {
    const parts = [import('./undici-parts.ts'), import('./undici-handler.ts')] as const;
    const [{ Agent, buildConnector }, { createAnswerHandler }] = await Promise.all(parts);
    const connect = connector.over(buildConnector({ timeout: 0 }));
    const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0, maxHeaderSize, connect });
    return { agent, createAnswerHandler };
  };
  const undici = load();
  // The first request fails then.
  undici.catch(() => {});
  return async (request: HttpRequest): Promise<HttpResponse> => {
    const { method, headers, body = null, signal } = request;
    const { agent, createAnswerHandler } = await undici;
    // undici takes a connection for free one turn after its answer has ended: without this, a request that follows on
    // another one would open a second connection.
    await nextTurn();
    signal.throwIfAborted();
    const { origin, pathname, search } = new URL(request.url);
    const options = { origin, path: pathname + search, method: method as 'GET', headers, body };
    const { handler, answer } = createAnswerHandler(request);
    connector.during(signal, () => agent.dispatch(options, handler));
    return answer;
  };
}

/**
 * undici looks at the signal of a request only once it is connected, and a socket that goes on connecting keeps the
 * process alive. It opens connections within the call that needs them, so each is given the signal of that call.
 */
function createConnector() {
  type Open = (...args: Parameters<buildConnector.connector>) => Socket;
  let current: AbortSignal | undefined;
  return {
    during: <T>(signal: AbortSignal, request: () => T): T => {
      current = signal;
      try {
        return request();
      } finally {
        current = undefined;
      }
    },
    over: (connect: buildConnector.connector): buildConnector.connector => {
      // undici's own connector returns the socket, whatever its type says.
      const open = connect as Open;
      return (options, callback) => {
        const signal = current;
        const giveUp = () => socket.destroy(signal?.reason);
        const socket = open(options, (...result) => {
          signal?.removeEventListener('abort', giveUp);
          callback(...result);
        });
        signal?.addEventListener('abort', giveUp);
      };
    },
  };
}
