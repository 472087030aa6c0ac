import type { Governor } from '../rate-limit/admission.ts';
import { maxRetries, maxRetryWait, waitBeforeRetry } from '../rate-limit/backoff.ts';
import type { Permit } from '../rate-limit/governor.ts';
import { FailureError, failureText, PetstockError, RateLimitedError, UnavailableError } from '../shared/errors.ts';
import { type AttemptOptions, type AttemptResult, attempt } from './attempt.ts';
import { shownUrl } from './base-url.ts';
import type { ReceivedResponse } from './exchange.ts';
import { withServiceMessage } from './failures.ts';
import type { HttpRequest } from './transport.ts';

export interface Outgoing extends Omit<HttpRequest, 'signal' | 'leaving' | 'arriving'> {
  /** Sending it twice does the same as sending it once: it is sent again if it may have been carried out. */
  readonly repeatable: boolean;
  /** For the first try; each other one is admitted. */
  readonly permit?: Permit | undefined;
  /** Called before each other try: what was admitted together with this one is given back, or its admission might wait for that for ever. */
  readonly beforeRetry?: (() => Promise<void>) | undefined;
  /** It is not sent again after a 429, a gateway's error or a network fault: who asks does that in its own time. */
  readonly once?: boolean | undefined;
}

export interface SendOptions extends AttemptOptions {
  readonly governor: Pick<Governor, 'admit'>;
  readonly interrupted: AbortSignal;
  /** How many times a request is sent again after a network fault, 500, 502, 503 or 504. Default: 4. */
  readonly retries?: number | undefined;
  random(): number;
  /** Called before a request is sent again. @param reason a clause without a period; `attempt` counts from 1 */
  onRetry?(retry: { readonly reason: string; readonly attempt: number; readonly of: number }): void;
}

const maxRedirects = 5;

/**
 * Sends a request through the governor until it has an answer. A 429 is waited for, a redirect below the base URL is followed.
 * Tries again what certainly was not carried out; a network fault, 500, 502, 503 and 504 only if the request is repeatable.
 *
 * @param use reads any other answer; what it throws is thrown, unless the network failed while it read
 * @throws RateLimitedError, UnavailableError, FailureError (a redirect that can't be followed). `notCarriedOut` and `mayBeInFlight`
 *   speak of all tries together
 */
export async function send<T>(
  request: Outgoing,
  options: SendOptions,
  use: (answer: ReceivedResponse) => Promise<T>,
): Promise<T> {
  const tries = new Tries(request, options);
  try {
    for (;;) {
      const permit = await tries.nextPermit();
      const end = await tries
        .watch(() => attempt({ ...request, url: tries.url }, permit, options, use))
        .catch((error) => tries.failedBy(error));
      if (end.kind === 'done') return end.value;
      await tries.prepareNext(end);
    }
  } catch (error) {
    throw tries.withFacts(error);
  }
}

/**
 * Sends a request once, with a permit that was got before.
 * @throws PermitExpiredError if the permit holds no longer and nothing was sent; else as `send`
 */
export async function sendOnce<T>(
  request: Outgoing & { readonly permit: Permit },
  options: AttemptOptions,
  use: (answer: ReceivedResponse) => Promise<T>,
): Promise<T> {
  const end = await attempt(request, request.permit, options, use);
  if (end.kind === 'done') return end.value;
  if (end.kind !== 'moved') throw end.error;
  const message = `The service redirects a ${request.method} to ${shownUrl(end.url)}, which is not followed`;
  throw new FailureError(message, { status: end.status });
}

/** The tries of one request. */
class Tries {
  readonly #request: Outgoing;
  readonly #options: SendOptions;
  #permit: Permit | undefined;
  /** Why the last one that was answered is sent again: words for when there is no next one. */
  #last: PetstockError | undefined;
  #retries = 0;
  #redirects = 0;
  #isExposed = false;
  #mayBeInFlight = false;
  url: string;

  constructor(request: Outgoing, options: SendOptions) {
    this.#request = request;
    this.#options = options;
    this.#permit = request.permit;
    this.url = request.url;
  }

  /** An error with what is certain of all of them. */
  withFacts(error: unknown): unknown {
    const [notCarriedOut, mayBeInFlight] = [!this.#isExposed, this.#mayBeInFlight];
    const isRight =
      !(error instanceof PetstockError) ||
      (error.notCarriedOut === notCarriedOut && error.mayBeInFlight === mayBeInFlight);
    return isRight ? error : error.with({ notCarriedOut, mayBeInFlight });
  }

  async nextPermit(): Promise<Permit> {
    const permit = this.#permit;
    this.#permit = undefined;
    try {
      return permit ?? (await this.#options.governor.admit(this.#options.interrupted));
    } catch (error) {
      throw this.#withLastWords(error);
    }
  }

  /** The service's own words about why it is not to be called, if it sent some. */
  #withLastWords(error: unknown): unknown {
    const isGate = error instanceof RateLimitedError || error instanceof UnavailableError;
    if (!isGate || error.retryAfterSeconds === undefined || this.#last === undefined) return error;
    const { retryAfterSeconds } = error;
    if (error instanceof UnavailableError) return this.#last.with({ retryAfterSeconds, cause: error });
    return this.#last instanceof RateLimitedError ? withServiceMessage(this.#last, error) : error;
  }

  async watch<T>(run: () => Promise<AttemptResult<T>>): Promise<AttemptResult<T>> {
    try {
      const end = await run();
      if (end.kind === 'done' || end.kind === 'moved') this.#isExposed = true;
      else if (end.kind !== 'superseded') this.#note(end.error);
      return end;
    } catch (error) {
      this.#note(error);
      throw error;
    }
  }

  /** A 500 that `use` takes for a failure is one like those of gateways if the request can be repeated. @throws any other error */
  failedBy(error: unknown): AttemptResult<never> {
    if (!(this.#request.repeatable && error instanceof UnavailableError && error.status === 500)) throw error;
    return { kind: 'failed', error, retryAfter: undefined };
  }

  #note(error: unknown): void {
    const isKnown = error instanceof PetstockError;
    if (!isKnown || !error.notCarriedOut) this.#isExposed = true;
    if (isKnown && error.mayBeInFlight) this.#mayBeInFlight = true;
  }

  /** @throws the error of the last try, if there is no other */
  async prepareNext(end: Exclude<AttemptResult<unknown>, { kind: 'done' }>): Promise<void> {
    if (this.#request.once && (end.kind === 'refused' || end.kind === 'failed')) throw end.error;
    await this.#request.beforeRetry?.();
    if (end.kind === 'moved') this.#follow(end.url);
    if (end.kind === 'refused') this.#last = end.error;
    if (end.kind === 'failed') await this.#waitForRetry(end.error, end.retryAfter);
  }

  #follow(url: string): void {
    this.#redirects += 1;
    if (this.#redirects > maxRedirects)
      throw new FailureError(`The service redirects in a circle, last to ${shownUrl(url)}`);
    this.url = url;
  }

  /** A wait that a gateway asks for is left to the gate, and the next admission. */
  async #waitForRetry(error: PetstockError, retryAfter = 0): Promise<void> {
    const { clock, random, interrupted, onRetry, retries = maxRetries } = this.#options;
    const isAllowed = this.#request.repeatable || error.notCarriedOut;
    this.#retries += 1;
    if (!isAllowed || this.#retries > retries || retryAfter > maxRetryWait) throw error;
    this.#last = error;
    const { method, url } = this.#request;
    const { origin, pathname } = new URL(url);
    const what = `${method} ${pathname.replace(/^.*\/v1(?=\/)/, '')}`;
    const isConnected = error.status !== undefined || error.mayBeInFlight || !error.notCarriedOut;
    // Without the words of the service: they are quoted if the last try fails, too.
    const why = error.status === undefined ? failureText(error) : `the service answered ${error.status}`;
    const reason = isConnected ? `${what}: ${why}` : `No connection to ${origin}`;
    onRetry?.({ reason, attempt: this.#retries, of: retries });
    if (retryAfter === 0) await clock.sleep(waitBeforeRetry(this.#retries, random()), interrupted);
  }
}
