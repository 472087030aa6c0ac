import { setMaxListeners } from 'node:events';
import { UsageError } from '../shared/errors.ts';

/** One call under way. */
interface RunningCall {
  readonly signal: AbortSignal;
  end(): void;
}

/** The calls of one client: each ends by its own signal or by that of the client, and closing waits for all. */
export class Calls {
  readonly #signal: AbortSignal | undefined;
  #running = 0;
  #closing: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    if (signal !== undefined) setMaxListeners(0, signal);
  }

  /** @throws UsageError once the client is closed, and the reason of a signal that is aborted */
  begin(own: AbortSignal | undefined): RunningCall {
    if (this.#closing !== undefined) throw new UsageError('The client is closed; nothing was sent');
    // Not AbortSignal.any: on Node 20 that leaves a reference at the client's signal, which outlives all calls, for each.
    own?.throwIfAborted();
    this.#signal?.throwIfAborted();
    const ended = new AbortController();
    const sources = [own, this.#signal].flatMap((signal) => {
      if (signal === undefined) return [];
      const abort = () => ended.abort(signal.reason);
      signal.addEventListener('abort', abort, { once: true });
      return [{ signal, abort }];
    });
    this.#running += 1;
    const end = () => {
      for (const { signal, abort } of sources) signal.removeEventListener('abort', abort);
      this.#running -= 1;
      if (this.#running === 0) this.#onIdle?.();
    };
    return { signal: ended.signal, end };
  }

  async run<T>(own: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal, end } = this.begin(own);
    try {
      return await work(signal);
    } finally {
      end();
    }
  }

  /** May be called again. */
  close(release: () => Promise<void>): Promise<void> {
    this.#closing ??= this.#idle().then(release);
    return this.#closing;
  }

  #idle(): Promise<void> {
    if (this.#running === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onIdle = resolve;
    });
  }
}
