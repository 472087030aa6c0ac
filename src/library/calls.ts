import { setMaxListeners } from 'node:events';
import { InterruptedError, PetstockError, UsageError } from '../shared/errors.ts';
import { orInterrupted } from '../shared/or-interrupted.ts';
import { forProgram } from './runs.ts';

/** The calls of one client. The signal of a call and the client's signal abort it, and closing waits for all calls. */
export class Calls {
  readonly #signal: AbortSignal | undefined;
  #running = 0;
  #closing: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal;
    if (signal !== undefined) setMaxListeners(0, signal);
  }

  /**
   * Begins a call. The caller must call `end` afterwards.
   * @throws UsageError after `close`; the reason of a signal that is already aborted
   */
  begin(own: AbortSignal | undefined): { readonly signal: AbortSignal; end(): void } {
    if (this.#closing !== undefined) throw new UsageError('The client is closed. Nothing was sent');
    // AbortSignal.any is not used: on Node 20 each call leaves a reference in the client's signal, and that signal
    // outlives all calls.
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
    } catch (error) {
      // If a run has begun, its InterruptedError is kept, because it identifies the run.
      if (error instanceof InterruptedError && error.run === undefined) signal.throwIfAborted();
      throw error instanceof PetstockError ? forProgram(error) : error;
    } finally {
      end();
    }
  }

  /** Waits for all calls, then runs `release`. A second call returns the same promise. */
  close(release: () => Promise<void>): Promise<void> {
    this.#closing ??= new Promise<void>((resolve) => {
      this.#onIdle = resolve;
      if (this.#running === 0) resolve();
    }).then(release);
    return this.#closing;
  }
}

/**
 * Serializes the writes of a client that change a single pet, for each pet in the order of the calls. The state also
 * serializes them, but by polling.
 */
export class PetQueue {
  readonly #last = new Map<bigint, Promise<unknown>>();

  /**
   * Runs `work` after the earlier writes to the pet.
   * @throws the signal's reason if it aborts during the wait; `work` then never runs
   */
  async take<T>(petId: bigint, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(petId);
    const turn = orInterrupted(Promise.resolve(before), signal).then(work);
    const over = Promise.allSettled([before, turn]);
    this.#last.set(petId, over);
    void over.then(() => {
      if (this.#last.get(petId) === over) this.#last.delete(petId);
    });
    return turn;
  }
}
