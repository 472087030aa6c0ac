import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { buildConnector, Dispatcher } from 'undici';
import { mostBytes } from './body.ts';
import type { HttpRequest, HttpResponse, Transport, TransportOptions } from './transport.ts';
import { createUrlSplitter } from './url-splitter.ts';

/** Without it undici would load `node:http` to ask for Node's own. */
const maxHeaderSize = mostBytes.headers;

/**
 * The transport over undici, which begins to load at once: a request that was admitted should not have to wait for it.
 * Its own time-outs are off: the signal of each request carries the one that the user chose.
 */
export function createUndiciTransport({ ca, proxy }: TransportOptions = {}): Transport {
  const connector = createConnector();
  const tls = ca === undefined ? {} : { ca: [...ca] };
  const timeouts = { headersTimeout: 0, bodyTimeout: 0, maxHeaderSize };
  const openAgent = async (): Promise<Dispatcher> => {
    if (proxy !== undefined) {
      const { createProxyAgent } = await import('./undici-proxy.ts');
      return createProxyAgent({ ...timeouts, proxy, tls, over: (connect) => connector.over(connect, true) });
    }
    const { Agent, buildConnector } = await import('./undici-parts.ts');
    return new Agent({ ...timeouts, connect: connector.over(buildConnector({ timeout: 0, ...tls })) });
  };
  const load = async () => {
    const [agent, { AnswerHandler }] = await Promise.all([openAgent(), import('./undici-handler.ts')]);
    return { agent, AnswerHandler };
  };
  const undici = load();
  // The first request fails then.
  undici.catch(() => {});
  const splitUrl = createUrlSplitter();
  return async (request: HttpRequest): Promise<HttpResponse> => {
    const { method, headers, body = null, signal } = request;
    const { agent, AnswerHandler } = await undici;
    // undici takes a connection for free one turn after its answer has ended: without this, a request that follows on
    // another one would open a second connection.
    await nextTurn();
    signal.throwIfAborted();
    const { origin, path } = splitUrl(request.url);
    const handler = new AnswerHandler(request);
    const options = { origin, path, method: method as 'GET', headers, body };
    connector.during(signal, () => agent.dispatch(options, handler));
    return handler.answer;
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
    /** @param isTunnel the connection is of use only once the proxy has answered: until its request ends, it can be given up */
    over: (connect: buildConnector.connector, isTunnel = false): buildConnector.connector => {
      // undici's own connector returns the socket, whatever its type says.
      const open = connect as Open;
      return (options, callback) => {
        const signal = current;
        const giveUp = () => socket.destroy(signal?.reason);
        const socket = open(options, (...result) => {
          if (!isTunnel) signal?.removeEventListener('abort', giveUp);
          callback(...result);
        });
        signal?.addEventListener('abort', giveUp);
      };
    },
  };
}
