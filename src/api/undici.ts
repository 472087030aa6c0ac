import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { buildConnector, Dispatcher } from 'undici';
import { mostBytes } from './body.ts';
import { BodyQueue } from './body-queue.ts';
import type { HttpRequest, HttpResponse, Transport, TransportOptions } from './transport.ts';

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
    // The parts that send a request. The whole package would bring its fetch, its mocks, its caches and its WebSockets: by its
    // public interface `inventory list` takes 184 ms of CPU, with these parts 116 (Node 20.20, November 2026, median of 20 runs).
    const { default: buildConnector } = await import('undici/lib/core/connect.js');
    const { default: Agent } = await import('undici/lib/dispatcher/agent.js');
    return new Agent({ ...timeouts, connect: connector.over(buildConnector({ timeout: 0, ...tls })) });
  };
  const opening = openAgent();
  // The first request fails then.
  opening.catch(() => {});
  const splitUrl = createUrlSplitter();
  return async (request: HttpRequest): Promise<HttpResponse> => {
    const { method, headers, body = null, signal } = request;
    const agent = await opening;
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

/** Nothing in such a path is written in another way by a URL: no dot, no character that it would encode. */
const plainPath = /^(?:\/[\w-]+)+$/;

/** Splits URLs as `URL` does. Most are of one service, so that its origin has to be looked at once. */
export function createUrlSplitter(): (url: string) => { readonly origin: string; readonly path: string } {
  let start = '';
  return (url) => {
    const rest = start !== '' && url.startsWith(start) ? url.slice(start.length) : '';
    if (plainPath.test(rest)) return { origin: start, path: rest };
    const parsed = new URL(url);
    if (url.startsWith(`${parsed.origin}/`)) start = parsed.origin;
    return { origin: parsed.origin, path: parsed.pathname + parsed.search };
  };
}

type Controller = Dispatcher.DispatchController;

/**
 * Makes an answer of what undici gives a handler. `undici.request` would do the same with a stream of Node for each body, which
 * takes as long as the rest of a small request.
 */
class AnswerHandler implements Dispatcher.DispatchHandler {
  readonly #request: Pick<HttpRequest, 'signal' | 'leaving' | 'arriving'>;
  /** The head of the answer, as soon as it has come. */
  readonly answer: Promise<HttpResponse>;
  #resolve: (answer: HttpResponse) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #controller: Controller | undefined;
  #body: BodyQueue | undefined;

  constructor(request: Pick<HttpRequest, 'signal' | 'leaving' | 'arriving'>) {
    this.#request = request;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    request.signal.addEventListener('abort', this.#onAbort);
  }

  /** Right before it is written on an open connection; a request that waits for that leaves later than it was handed over. */
  onRequestStart(controller: Controller): void {
    const { signal } = this.#request;
    this.#controller = controller;
    if (signal.aborted) throw signal.reason;
    this.#request.leaving?.();
  }

  /** The first byte of a head. */
  onResponseStarted(): void {
    this.#request.arriving?.();
  }

  onResponseStart(controller: Controller, status: number, headers: HttpResponse['headers']): void {
    // 100 to 199 only announce the answer.
    if (status < 200) return;
    const body = new BodyQueue(controller);
    this.#body = body;
    this.#resolve(new UndiciResponse(status, headers, body, this));
  }

  onResponseData(_controller: Controller, chunk: Uint8Array): void {
    this.#body?.push(chunk);
  }

  onResponseEnd(): void {
    this.#isOver();
    this.#body?.end();
    this.#body = undefined;
  }

  onResponseError(_controller: Controller, error: unknown): void {
    this.#isOver();
    this.#body?.fail(error);
    this.#body = undefined;
    this.#reject(error);
  }

  discard(): void {
    this.#isOver();
    if (this.#body !== undefined) this.#controller?.abort(new Error('The answer is not read to its end'));
  }

  readonly #onAbort = (): void => {
    const { reason } = this.#request.signal;
    this.#controller?.abort(reason);
    this.#reject(reason);
  };

  #isOver(): void {
    this.#request.signal.removeEventListener('abort', this.#onAbort);
  }
}

class UndiciResponse implements HttpResponse {
  readonly status: number;
  readonly headers: HttpResponse['headers'];
  readonly body: BodyQueue;
  readonly #handler: AnswerHandler;

  constructor(status: number, headers: HttpResponse['headers'], body: BodyQueue, handler: AnswerHandler) {
    this.status = status;
    this.headers = headers;
    this.body = body;
    this.#handler = handler;
  }

  takeWhole(): Uint8Array | undefined {
    return this.body.takeWhole();
  }

  discard(): void {
    this.#handler.discard();
  }
}
