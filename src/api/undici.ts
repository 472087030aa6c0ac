import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { buildConnector, Dispatcher } from 'undici';
import { mostBytes } from './body.ts';
import { BodyQueue, handOverDirectly, intoOneBuffer } from './body-queue.ts';
import type { HttpRequest, HttpResponse, Transport, TransportOptions } from './transport.ts';

/** Without it undici would load `node:http` to ask for Node's own. */
const maxHeaderSize = mostBytes.headers;

/**
 * The transport over undici, which begins to load at once: a request that was admitted should not have to wait for it.
 * Its own time-outs are off: the signal of each request carries the one that the user chose.
 */
export function createUndiciTransport({ ca, proxy }: TransportOptions = {}): Transport {
  const tls = ca === undefined ? {} : { ca: [...ca] };
  /** By origin; the one that was used last is the last. */
  const free = new Map<string, Connection[]>();
  const timeouts = { headersTimeout: 0, bodyTimeout: 0, maxHeaderSize };
  const openService = async (): Promise<Dispatch> => {
    if (proxy !== undefined) {
      const { createProxyAgent } = await import('./undici-proxy.ts');
      const connector = new Connector();
      const agent = createProxyAgent({ ...timeouts, proxy, tls, over: (connect) => connector.over(connect, true) });
      return (signal, options, handler) => {
        connector.signal = signal;
        try {
          agent.dispatch(options, handler);
        } finally {
          connector.signal = undefined;
        }
      };
    }
    // The parts that send a request. The whole package would bring its fetch, its mocks, its caches and its WebSockets: by its
    // public interface `inventory list` takes 184 ms of CPU, with these parts 116 (Node 20.20, November 2026, median of 20 runs).
    const { default: buildConnector } = await import('undici/lib/core/connect.js');
    const { default: Client } = await import('undici/lib/dispatcher/client.js');
    const connect = buildConnector({ timeout: 0, ...tls, ...intoOneBuffer() });
    return dispatchOver(free, (origin) => {
      const connector = new Connector();
      return { connector, client: new Client(origin, { ...timeouts, connect: connector.over(connect) }) };
    });
  };
  const opening = openService();
  // The first request fails then.
  opening.catch(() => {});
  const splitUrl = createUrlSplitter();
  const send = async (request: HttpRequest): Promise<HttpResponse> => {
    const { method, headers, body = null, signal } = request;
    const dispatch = await opening;
    // A proxy's agent takes a connection for free one turn after its answer has ended: without this, a request that follows on
    // another one would open a second connection.
    if (proxy !== undefined) await nextTurn();
    signal.throwIfAborted();
    const { origin, path } = splitUrl(request.url);
    const handler = new AnswerHandler(request);
    const options = { origin, path, method: method as 'GET', headers, body };
    dispatch(signal, options, handler);
    // Without `await` it would take two turns of the microtask queue more.
    return await handler.answer;
  };
  const close = () => {
    for (const { client } of [...free.values()].flat()) void client.destroy();
  };
  return Object.assign(send, { close });
}

type Dispatch = (
  signal: AbortSignal,
  options: Dispatcher.DispatchOptions & { readonly origin: string },
  handler: AnswerHandler,
) => void;

/** A connection, opened anew if it was closed. */
interface Connection {
  readonly client: Dispatcher;
  readonly connector: Connector;
}

/**
 * Gives each request a connection of its own, the one that was used last if any is free. undici's Pool and Agent would do the same, but they take
 * a connection for free, and set its timer for being idle, before the next request comes: some 20 us of CPU for each of many.
 */
function dispatchOver(free: Map<string, Connection[]>, open: (origin: string) => Connection): Dispatch {
  return (signal, options, handler) => {
    const { origin } = options;
    const ofOrigin = free.get(origin) ?? [];
    free.set(origin, ofOrigin);
    const connection = ofOrigin.pop() ?? open(origin);
    handler.onOver = () => ofOrigin.push(connection);
    connection.connector.signal = signal;
    connection.connector.bodyNow = () => handler.body;
    connection.client.dispatch(options, handler);
  };
}

/**
 * undici looks at the signal of a request only once it is connected, and a socket that goes on connecting keeps the process alive: each is given
 * the signal of the request that needs it.
 */
class Connector {
  /** That of the request that may open a connection now. */
  signal: AbortSignal | undefined;
  /** Returns the body that what comes now is part of; undefined: none. */
  bodyNow = (): BodyQueue | undefined => undefined;

  /** @param isTunnel the connection is of use only once the proxy has answered: until its request ends, it can be given up */
  over(connect: buildConnector.connector, isTunnel = false): buildConnector.connector {
    // undici's own connector returns the socket, whatever its type says.
    const open = connect as (...args: Parameters<buildConnector.connector>) => Socket;
    return (options, callback) => {
      const { signal } = this;
      const giveUp = () => socket.destroy(signal?.reason);
      const socket = open(options, (...result) => {
        if (!isTunnel) signal?.removeEventListener('abort', giveUp);
        callback(...result);
      });
      if (!isTunnel) handOverDirectly(socket, () => this.bodyNow());
      signal?.addEventListener('abort', giveUp);
      if (signal?.aborted) giveUp();
    };
  }
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
  /** Called once the connection has nothing to do with the request any more. */
  onOver: (() => void) | undefined;
  /** From the head to the end of the answer. */
  body: BodyQueue | undefined;

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
    this.body = body;
    this.#resolve(new UndiciResponse(status, headers, body, this));
  }

  onResponseData(_controller: Controller, chunk: Uint8Array): void {
    this.body?.push(chunk);
  }

  onResponseEnd(): void {
    this.#end();
    this.body?.end();
    this.body = undefined;
  }

  onResponseError(_controller: Controller, error: unknown): void {
    this.#end();
    this.body?.fail(error);
    this.body = undefined;
    this.#reject(error);
  }

  discard(): void {
    if (this.body === undefined) return;
    this.#isOver();
    this.#controller?.abort(new Error('The answer is not read to its end'));
  }

  readonly #onAbort = (): void => {
    const { reason } = this.#request.signal;
    this.#controller?.abort(reason);
    this.#reject(reason);
  };

  #end(): void {
    this.#isOver();
    this.onOver?.();
  }

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
