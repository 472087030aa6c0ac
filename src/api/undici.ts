import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { maxBodyBytes } from './body.ts';
import { BodyQueue } from './body-queue.ts';
import { ConnectingSockets } from './connecting-sockets.ts';
import { upgradeCode } from './failures.ts';
import type { HttpRequest, HttpResponse, Transport, TransportOptions } from './transport.ts';

/**
 * Creates a transport with undici. undici starts to load at once, so that an admitted request need not wait for it.
 * undici's own timeouts are off (except for TLS in a tunnel), because each request's signal enforces the timeout.
 */
export function createUndiciTransport({ ca, proxy }: TransportOptions = {}): Transport {
  const tls = ca === undefined ? {} : { ca: [...ca] };
  const connecting = new ConnectingSockets();
  // Without `maxHeaderSize`, Node's limit for headers would apply.
  const options = { headersTimeout: 0, bodyTimeout: 0, maxHeaderSize: maxBodyBytes.headers };
  const open = async (): Promise<Dispatcher> => {
    if (proxy === undefined) {
      const { Agent, buildConnector } = await import('./undici-files.ts');
      return new Agent({ ...options, connect: connecting.wrap(buildConnector({ timeout: 0, ...tls })) });
    }
    const { createProxyAgent } = await import('./undici-proxy.ts');
    return createProxyAgent({ ...options, proxy, tls, connecting });
  };
  const opening = open();
  // Every request rejects with the same error.
  opening.catch(() => {});
  let hasLostConnection = false;
  return async (request) => {
    const dispatcher = await opening;
    // undici considers a connection free one turn after its response has ended: a request sent at once would open a
    // second connection.
    await nextTurn();
    const { method, headers, body = null, signal } = request;
    signal.throwIfAborted();
    const { origin, pathname, search } = new URL(request.url);
    const handler = new ResponseHandler(request, connecting.wait());
    // Once a connection was lost, each request gets one of its own: something on the way may close those that are reused.
    const fresh = hasLostConnection && { reset: true };
    dispatcher.dispatch({ origin, path: pathname + search, method: method as 'GET', headers, body, ...fresh }, handler);
    try {
      // Without `await`, returning would take two more turns of the microtask queue.
      return await handler.response;
    } catch (error) {
      hasLostConnection ||= !signal.aborted;
      throw error;
    }
  };
}

type Controller = Dispatcher.DispatchController;

/**
 * Builds a response from undici's handler callbacks. `undici.request` would do the same with a Node stream for each
 * body, but such a stream takes as long as the rest of a small request.
 */
class ResponseHandler implements Dispatcher.DispatchHandler {
  readonly #request: Pick<HttpRequest, 'signal' | 'leaving' | 'arriving'>;
  /** Resolves with the head of the response. */
  readonly response: Promise<HttpResponse>;
  #resolve: (response: HttpResponse) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #onStarted: (() => void) | undefined;
  #controller: Controller | undefined;
  /** The body, from the head to the end of the response. */
  #body: BodyQueue | undefined;

  /** @param onStarted called once when the request no longer waits for a connection */
  constructor(request: Pick<HttpRequest, 'signal' | 'leaving' | 'arriving'>, onStarted: () => void) {
    this.#request = request;
    this.#onStarted = onStarted;
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    request.signal.addEventListener('abort', this.#onAbort);
  }

  /** Called right before the request is written to an open connection. That may be later than its dispatch. */
  onRequestStart(controller: Controller): void {
    const { signal } = this.#request;
    this.#controller = controller;
    this.#start();
    if (signal.aborted) throw signal.reason;
    this.#request.leaving?.();
  }

  /** Called at the first byte of a head. */
  onResponseStarted(): void {
    this.#request.arriving?.();
  }

  onResponseStart(controller: Controller, status: number, headers: HttpResponse['headers']): void {
    // A status from 100 to 199 precedes the response.
    if (status < 200) return;
    const body = new BodyQueue(controller);
    this.#body = body;
    this.#resolve({ status, headers, body, discard: () => this.#discard() });
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
    const reason = explainError(error);
    this.#body?.fail(reason);
    this.#body = undefined;
    this.#reject(reason);
  }

  #discard(): void {
    if (this.#body === undefined) return;
    this.#isOver();
    this.#controller?.abort(new Error('The response was not read to its end'));
  }

  readonly #onAbort = (): void => {
    const { reason } = this.#request.signal;
    this.#controller?.abort(reason);
    this.#isOver();
    this.#reject(reason);
  };

  #isOver(): void {
    this.#start();
    this.#request.signal.removeEventListener('abort', this.#onAbort);
  }

  #start(): void {
    const onStarted = this.#onStarted;
    this.#onStarted = undefined;
    onStarted?.();
  }
}

const unrequestedResponses: Readonly<Record<string, string>> = {
  'bad response': 'the response began with a "100 Continue" that was not requested',
  'bad upgrade': 'the response was a "101 Switching Protocols" that was not requested',
};

/**
 * Explains two errors of undici: it closes a connection on a `101`, and on an unrequested `100 Continue`, although
 * RFC 9110 (15.2.1) lets clients discard the latter.
 */
function explainError(error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  const words = code === 'UND_ERR_SOCKET' ? unrequestedResponses[message] : undefined;
  if (words === undefined) return error;
  return Object.assign(new Error(words, { cause: error }), { code: message === 'bad upgrade' ? upgradeCode : code });
}
