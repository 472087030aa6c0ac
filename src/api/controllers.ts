import { getEventListeners } from 'node:events';

/** Controllers that are kept: as many as requests are in flight at once, at most. */
const mostKept = 64;

/**
 * What aborts requests, used again: a controller and its signal are a good part of what a small request costs. One is kept only
 * where it was not aborted and nothing listens to it any more, so that no request is ended by the end of another one.
 */
export class Controllers {
  readonly #free: AbortController[] = [];

  take(): AbortController {
    return this.#free.pop() ?? new AbortController();
  }

  giveBack(controller: AbortController): void {
    const { signal } = controller;
    const isClean = !signal.aborted && signal.onabort === null && getEventListeners(signal, 'abort').length === 0;
    if (isClean && this.#free.length < mostKept) this.#free.push(controller);
  }
}
