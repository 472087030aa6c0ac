import type { Dispatcher } from 'undici';
import { createBodyQueue } from './body-queue.ts';
import type { HttpRequest, HttpResponse } from './transport.ts';

export interface AnswerHandler {
  /** For `dispatcher.dispatch`. */
  readonly handler: Dispatcher.DispatchHandler;
  /** The head of the answer, as soon as it has come. */
  readonly answer: Promise<HttpResponse>;
}

/**
 * Makes an answer of what undici gives a handler. `undici.request` would do the same with a stream of Node for each body, which
 * takes as long as the rest of a small request.
 */
export function createAnswerHandler({ signal, leaving }: Pick<HttpRequest, 'signal' | 'leaving'>): AnswerHandler {
  let resolve: (answer: HttpResponse) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const answer = new Promise<HttpResponse>((...settle) => {
    [resolve, reject] = settle;
  });
  let controller: Dispatcher.DispatchController | undefined;
  let body: ReturnType<typeof createBodyQueue> | undefined;

  const onAbort = (): void => {
    controller?.abort(signal.reason);
    reject(signal.reason);
  };
  const over = (): void => signal.removeEventListener('abort', onAbort);
  signal.addEventListener('abort', onAbort);

  const handler: Dispatcher.DispatchHandler = {
    // Right before it is written on an open connection; a request that waits for that leaves later than it was handed over.
    onRequestStart: (started) => {
      controller = started;
      if (signal.aborted) throw signal.reason;
      leaving?.();
    },
    onResponseStart: (started, status, headers) => {
      // 100 to 199 only announce the answer.
      if (status < 200) return;
      const queue = createBodyQueue(started);
      body = queue;
      const discard = () => {
        over();
        if (body !== undefined) started.abort(new Error('The answer is not read to its end'));
      };
      resolve({ status, headers, body: queue, discard });
    },
    onResponseData: (_controller, chunk) => body?.push(chunk),
    onResponseEnd: () => {
      over();
      body?.end();
      body = undefined;
    },
    onResponseError: (_controller, error) => {
      over();
      body?.fail(error);
      body = undefined;
      reject(error);
    },
  };
  return { handler, answer };
}
