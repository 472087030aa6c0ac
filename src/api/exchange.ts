import { getEventListeners } from 'node:events';
import type { Clock, Deadline } from '../shared/clock.ts';
import { memoryShortage, PetstockError } from '../shared/errors.ts';
import {
  type BodyBound,
  decodedChunks,
  decodeUtf8,
  isPlain,
  maxBodyBytes,
  requireWithin,
  tooLong,
  wholeBody,
} from './body.ts';
import { describe, NetworkFailure } from './failures.ts';
import type { HttpRequest, HttpResponse, Transport } from './transport.ts';

/** An answer whose body has been decoded from its content encoding. */
export interface ReceivedResponse {
  readonly status: number;
  readonly headers: HttpResponse['headers'];
  /** The body as it comes. Once only. @throws NetworkFailure, and the reason of `interrupted` */
  chunks(): AsyncIterable<Uint8Array>;
  /** Waits for something that is not the service: meanwhile the time-out stands still. */
  pauseTimeout<T>(work: () => Promise<T>): Promise<T>;
  /** The whole body. Once only. @throws FailureError if it is longer than the bound */
  bytes(bound: BodyBound): Promise<Uint8Array>;
  /** The whole body as UTF-8 text. Once only. @throws FailureError if it is longer than the bound, or no UTF-8 */
  text(bound: BodyBound): Promise<string>;
  /**
   * The body as text, or nothing if it can't be read: for what only words an error. Once only.
   * @throws the reason of `interrupted`
   */
  textOrNothing(): Promise<string>;
  /** Takes the key out of text that was made of the answer: a service may repeat what it refuses. */
  readonly redact: (text: string) => string;
}

export interface ExchangeOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** For one request, from its sending to the end of its body, in milliseconds. */
  readonly timeout: number;
  /** Undefined: only the time-out ends it. */
  readonly interrupted: AbortSignal | undefined;
  readonly controllers: Controllers;
  /** Takes the key out of text. */
  readonly redact: (text: string) => string;
}

/** A request that may be kept back to the last moment. */
type LeavingRequest = Omit<HttpRequest, 'signal'> & Required<Pick<HttpRequest, 'leaving'>>;

/**
 * Sends one request and lets `use` read the answer, all of it within the time-out.
 *
 * @throws NetworkFailure if the network or the time-out ended it
 * @throws the reason of `interrupted`, and whatever `leaving` and `use` throw
 */
export async function exchange<T>(
  request: LeavingRequest,
  options: ExchangeOptions,
  use: (answer: ReceivedResponse) => Promise<T>,
): Promise<T> {
  const current = new Exchange(options);
  try {
    await current.send(request);
    return await use(current);
  } finally {
    current.close();
  }
}

/** One request, and its answer once the head of that has come. */
class Exchange implements ReceivedResponse {
  readonly #options: ExchangeOptions;
  readonly #controller: AbortController;
  readonly #timeLimit: TimeLimit;
  #response: HttpResponse | undefined;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    // Not AbortSignal.any: on Node 20 that leaves a reference at `interrupted`, which outlives all requests, for each.
    this.#controller = options.controllers.take();
    this.#timeLimit = new TimeLimit(options.clock, options.timeout, this.#end);
    options.interrupted?.addEventListener('abort', this.#end);
  }

  async send(request: LeavingRequest): Promise<void> {
    const { signal } = this.#controller;
    try {
      this.#response = await this.#options.transport({ ...request, signal });
    } catch (error) {
      throw this.#fault(error);
    }
  }

  close(): void {
    const { interrupted, controllers } = this.#options;
    this.#timeLimit.stop();
    interrupted?.removeEventListener('abort', this.#end);
    this.#response?.discard();
    controllers.giveBack(this.#controller);
  }

  get status(): number {
    return this.#answer.status;
  }

  get headers(): HttpResponse['headers'] {
    return this.#answer.headers;
  }

  get redact(): ReceivedResponse['redact'] {
    return this.#options.redact;
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    const body = decodedChunks(this.#answer);
    try {
      yield* body;
    } catch (error) {
      throw this.#fault(error);
    }
  }

  pauseTimeout<T>(work: () => Promise<T>): Promise<T> {
    return this.#timeLimit.pause(work);
  }

  async bytes(bound: BodyBound): Promise<Uint8Array> {
    // Not through `chunks`: for a small answer each generator is a part of its cost.
    try {
      const whole = isPlain(this.#answer) ? this.#answer.takeWhole?.() : undefined;
      if (whole === undefined) return await wholeBody(decodedChunks(this.#answer), bound);
      requireWithin(whole.length, bound);
      return whole;
    } catch (error) {
      throw this.#fault(error);
    }
  }

  async text(bound: BodyBound): Promise<string> {
    return decodeUtf8(await this.bytes(bound));
  }

  async textOrNothing(): Promise<string> {
    try {
      return await this.text({ most: maxBodyBytes.item, of: 'a request' });
    } catch {
      this.#options.interrupted?.throwIfAborted();
      return '';
    }
  }

  get #answer(): HttpResponse {
    if (this.#response === undefined) throw new Error('the request has no answer yet');
    return this.#response;
  }

  readonly #end = (): void => this.#controller.abort();

  /** Returns the outcome that an error of the network means. */
  #fault(error: unknown): unknown {
    const { interrupted, timeout } = this.#options;
    const answered = this.#response !== undefined;
    if (interrupted?.aborted) return interrupted.reason;
    if (this.#timeLimit.hasPassed) {
      return new NetworkFailure(`no answer within ${timeout / 1000} s`, { cause: error, answered });
    }
    // Whatever the network, undici and zlib fail with bears a code, except for an answer that is no HTTP; anything else is
    // a mistake in the program.
    if (error instanceof PetstockError) return error;
    const { code, name } = error as NodeJS.ErrnoException;
    if (code === 'UND_ERR_HEADERS_OVERFLOW') return tooLong('The head of the answer', maxBodyBytes.headers);
    if (typeof code !== 'string' && name !== 'HTTPParserError') return memoryShortage(error) ?? error;
    return new NetworkFailure(describe(error), { cause: error, answered });
  }
}

/** Controllers that are kept: as many as requests are in flight at once, at most. */
const maxKept = 64;

/**
 * Abort signals that are used again: a controller and its signal are a good part of what a small request costs. One is kept only
 * if it was not aborted and nothing listens to it any more, so that no request is ended by the end of another one.
 */
export class Controllers {
  readonly #free: AbortController[] = [];

  take(): AbortController {
    return this.#free.pop() ?? new AbortController();
  }

  giveBack(controller: AbortController): void {
    const { signal } = controller;
    const isClean = !signal.aborted && signal.onabort === null && getEventListeners(signal, 'abort').length === 0;
    if (isClean && this.#free.length < maxKept) this.#free.push(controller);
  }
}

/** The time-out of one request. It does not run while something else than the service is waited for. */
class TimeLimit {
  readonly #clock: Clock;
  readonly #onPassed: () => void;
  #left: number;
  #since = 0;
  #deadline: Deadline | undefined;
  hasPassed = false;

  /** Begins at once. @param timeout in milliseconds */
  constructor(clock: Clock, timeout: number, onPassed: () => void) {
    this.#clock = clock;
    this.#left = timeout;
    this.#onPassed = onPassed;
    this.#start();
  }

  stop(): void {
    this.#left = Math.max(0, this.#left - (this.#clock.monotonic() - this.#since));
    this.#deadline?.clear();
  }

  async pause<T>(work: () => Promise<T>): Promise<T> {
    this.stop();
    try {
      return await work();
    } finally {
      this.#start();
    }
  }

  #start(): void {
    this.#since = this.#clock.monotonic();
    this.#deadline = this.#clock.deadline(this.#left, () => {
      this.hasPassed = true;
      this.#onPassed();
    });
  }
}
