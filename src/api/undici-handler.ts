import type { Dispatcher } from 'undici';
import { BodyQueue } from './body-queue.ts';
import type { HttpRequest, HttpResponse } from './transport.ts';

type Controller = Dispatcher.DispatchController;

/**
 * Makes an answer of what undici gives a handler. `undici.request` would do the same with a stream of Node for each body, which
 * takes as long as the rest of a small request.
 */
export class AnswerHandler implements Dispatcher.DispatchHandler {
  readonly #request: Pick<HttpRequest, 'signal' | 'leaving'>;
  /** The head of the answer, as soon as it has come. */
  readonly answer: Promise<HttpResponse>;
  #resolve: (answer: HttpResponse) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #controller: Controller | undefined;
  #body: BodyQueue | undefined;

  constructor(request: Pick<HttpRequest, 'signal' | 'leaving'>) {
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
