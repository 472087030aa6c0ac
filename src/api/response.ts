import type { Clock, Deadline } from '../shared/clock.ts';
import { memoryShortage, PetstockError } from '../shared/errors.ts';
import { type BodyBound, decodedChunks, decodeUtf8, maxBodyBytes, tooLong, wholeBody } from './body.ts';
import { describe, NetworkFailure } from './failures.ts';
import type { HttpRequest, HttpResponse, Transport } from './transport.ts';

/** A response whose body is decoded from its content encoding. */
export interface ReceivedResponse {
  readonly status: number;
  readonly headers: HttpResponse['headers'];
  /**
   * Yields the body as it arrives; call this once.
   * @throws NetworkFailure, FailureError for an encoding that was not requested, and the reason of `interrupted`
   */
  chunks(): AsyncIterable<Uint8Array>;
  /** Runs `work` while the timeout is paused, because something other than the service is awaited. */
  pauseTimeout<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Yields the values of a reader of `chunks`, which continues when the next one is requested; the timeout is paused in
   * between. The response then outlasts `use`: it is closed once the values are at their end, or no more are requested.
   */
  readOn<T>(values: AsyncIterator<T>, first: IteratorResult<T>): AsyncGenerator<T>;
  /**
   * Returns the whole body; call this once.
   * @throws FailureError if the body is longer than the bound
   */
  bytes(bound: BodyBound): Promise<Uint8Array>;
  /**
   * Returns the whole body as UTF-8 text; call this once.
   * @throws FailureError if the body is longer than the bound, or not UTF-8
   */
  text(bound: BodyBound): Promise<string>;
  /**
   * Returns the body as text, or '' if it can't be read, for error messages. Call this once.
   * @throws the reason of `interrupted`
   */
  textOrNothing(): Promise<string>;
  /** Removes the key from text of the response, because a service may repeat a key that it refuses. */
  readonly redact: (text: string) => string;
}

export interface ExchangeOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** Time limit of a request in milliseconds, from connecting to the end of the response body, without pauses. */
  readonly timeout: number;
  /** Undefined if only the timeout aborts the request. */
  readonly interrupted: AbortSignal | undefined;
  readonly redact: (text: string) => string;
}

/** A request whose `leaving` callback may still keep it from being sent. */
type LeavingRequest = Omit<HttpRequest, 'signal'> & Required<Pick<HttpRequest, 'leaving'>>;

/**
 * Sends one request and lets `use` read the response, all within the timeout.
 * @throws NetworkFailure if the network fails or the timeout passes; FailureError for a head of more than 64 KiB, or if
 * there is no free memory
 * @throws the reason of `interrupted`, and whatever `leaving` and `use` throw
 */
export async function exchange<T>(
  request: LeavingRequest,
  options: ExchangeOptions,
  use: (response: ReceivedResponse) => Promise<T>,
): Promise<T> {
  const current = new Exchange(options);
  try {
    await current.send(request);
    return await use(current);
  } finally {
    if (!current.isReadOn) current.close();
  }
}

/** One request, and its response once the head has arrived. */
class Exchange implements ReceivedResponse {
  readonly #options: ExchangeOptions;
  readonly #controller = new AbortController();
  readonly #timeLimit: TimeLimit;
  #response: HttpResponse | undefined;
  isReadOn = false;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    // AbortSignal.any is not used: on Node 20 each call leaves a reference in `interrupted`, and that signal outlives
    // all requests.
    this.#timeLimit = new TimeLimit(options.clock, options.timeout, this.#end);
    options.interrupted?.addEventListener('abort', this.#end);
  }

  async send(request: LeavingRequest): Promise<void> {
    const { signal } = this.#controller;
    try {
      this.#response = await this.#options.transport({ ...request, signal });
    } catch (error) {
      throw this.#converted(error);
    }
  }

  close(): void {
    this.#timeLimit.stop();
    this.#options.interrupted?.removeEventListener('abort', this.#end);
    this.#response?.discard();
  }

  get status(): number {
    return this.#received.status;
  }

  get headers(): HttpResponse['headers'] {
    return this.#received.headers;
  }

  get redact(): ReceivedResponse['redact'] {
    return this.#options.redact;
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    const body = decodedChunks(this.#received);
    try {
      yield* body;
    } catch (error) {
      throw this.#converted(error);
    }
  }

  pauseTimeout<T>(work: () => Promise<T>): Promise<T> {
    return this.#timeLimit.pause(work);
  }

  readOn<T>(values: AsyncIterator<T>, first: IteratorResult<T>): AsyncGenerator<T> {
    this.isReadOn = true;
    this.#timeLimit.stop();
    return this.#rest(values, first);
  }

  async *#rest<T>(values: AsyncIterator<T>, first: IteratorResult<T>): AsyncGenerator<T> {
    try {
      for (let next = first; !next.done; ) {
        yield next.value;
        this.#timeLimit.start();
        next = await values.next();
        this.#timeLimit.stop();
      }
    } finally {
      await values.return?.();
      this.close();
    }
  }

  async bytes(bound: BodyBound): Promise<Uint8Array> {
    return wholeBody(this.chunks(), bound);
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

  get #received(): HttpResponse {
    if (this.#response === undefined) throw new Error('the request has no response yet');
    return this.#response;
  }

  readonly #end = (): void => this.#controller.abort();

  /** Converts errors of the network, the timeout, an interruption or a lack of memory; returns any other unchanged. */
  #converted(error: unknown): unknown {
    const { interrupted, timeout } = this.#options;
    const hasHead = this.#response !== undefined;
    if (interrupted?.aborted) return interrupted.reason;
    if (this.#timeLimit.hasPassed) {
      const what = hasHead ? 'it took longer than' : 'no response within';
      return new NetworkFailure(`${what} ${Math.round(timeout / 10) / 100} s`, { cause: error, hasHead });
    }
    if (error instanceof PetstockError) return error;
    // Errors of the network, undici and zlib have a code, except that of the HTTP parser. An error without a code is a
    // bug in the program, or a lack of memory.
    const { code, name } = error as NodeJS.ErrnoException;
    if (code === 'UND_ERR_HEADERS_OVERFLOW') return tooLong('The response header', maxBodyBytes.headers);
    if (typeof code !== 'string' && name !== 'HTTPParserError') return memoryShortage(error) ?? error;
    return new NetworkFailure(describe(error), { cause: error, hasHead });
  }
}

class TimeLimit {
  readonly #clock: Clock;
  readonly #onPassed: () => void;
  #left: number;
  #since = 0;
  #deadline: Deadline | undefined;
  hasPassed = false;

  /** Starts the timeout at once; `timeout` is in milliseconds. */
  constructor(clock: Clock, timeout: number, onPassed: () => void) {
    this.#clock = clock;
    this.#left = timeout;
    this.#onPassed = onPassed;
    this.start();
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
      this.start();
    }
  }

  start(): void {
    this.#since = this.#clock.monotonic();
    this.#deadline = this.#clock.deadline(this.#left, () => {
      this.hasPassed = true;
      this.#onPassed();
    });
  }
}
