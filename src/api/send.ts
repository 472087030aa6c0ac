import type { Limits } from '../rate-limit/limits.ts';
import type { Permit } from '../rate-limit/permits.ts';
import { defaultRetries, nextStep, waitBeforeRetry } from '../rate-limit/waits.ts';
import { TimeBudget } from '../shared/clock.ts';
import { FailureError, failureText, PetstockError, RateLimitedError, UnavailableError } from '../shared/errors.ts';
import { type AttemptedRequest, type AttemptOptions, type AttemptResult, attempt, shownUrl } from './attempt.ts';
import type { ReceivedResponse } from './exchange.ts';
import { withServiceMessage } from './failures.ts';

export interface Outgoing extends Omit<AttemptedRequest, 'isLast'> {
  /** The permit of the first attempt; further attempts are admitted separately. */
  readonly permit?: Permit | undefined;
  /** Whether to leave retries after a 429, a 5xx or a network error to the caller. */
  readonly once?: boolean | undefined;
  /** Limits all attempts and the pauses between them; a wait for the rate limit does not count. */
  readonly time?: TimeBudget | undefined;
}

export interface SendOptions extends AttemptOptions {
  readonly limits: Pick<Limits, 'admitOne'>;
  readonly interrupted: AbortSignal;
  /** Maximum number of retries, see `nextStep`; default 4. */
  readonly retries?: number | undefined;
  random(): number;
  /**
   * Called before a retry.
   * @param retry `reason` is a text without a final period; `attempt` counts from 1, up to `of`
   */
  onRetry?(retry: { readonly reason: string; readonly attempt: number; readonly of: number }): void;
}

const maxRedirects = 5;

/**
 * Sends a request under the limits of its key until there is a response. Waits after a 429, follows redirects below the
 * base URL, and tries again as `nextStep` decides.
 * @param use reads any other response, and the last one; its errors are rethrown, except a network error
 * @throws RateLimitedError, UnavailableError, FailureError (a redirect that can't be followed), and the reason of
 * `interrupted`. `notCarriedOut` and `mayBeInFlight` cover all attempts together
 */
export async function send<T>(
  request: Outgoing,
  options: SendOptions,
  use: (response: ReceivedResponse) => Promise<T>,
): Promise<T> {
  const tries = new Tries(request, options);
  try {
    for (;;) {
      const permit = await tries.nextPermit();
      const { url, isLast } = tries;
      const limited = { ...options, timeout: tries.time.limit(options.timeout) };
      const end = await tries.watch(() => attempt({ ...request, url, isLast }, permit, limited, use));
      if (end.kind === 'done') return end.value;
      await tries.prepareNext(end);
    }
  } catch (error) {
    throw tries.withFacts(error);
  }
}

/**
 * Sends a request once, with a permit acquired before. Retries nothing, and follows no redirect.
 * @throws PermitExpiredError if the permit has expired and nothing was sent; otherwise the errors of `send`
 */
export async function sendOnce<T>(
  request: Outgoing & { readonly permit: Permit },
  options: AttemptOptions,
  use: (response: ReceivedResponse) => Promise<T>,
): Promise<T> {
  const end = await attempt({ ...request, isLast: true }, request.permit, options, use);
  if (end.kind === 'done') return end.value;
  if (end.kind !== 'moved') throw end.error;
  const message = `The service redirects a ${request.method} to ${shownUrl(end.url)}. petstock did not follow that redirect`;
  throw new FailureError(message, { status: end.status });
}

/** The attempts of one request. */
class Tries {
  readonly #request: Outgoing;
  readonly #options: SendOptions;
  readonly time: TimeBudget;
  #permit: Permit | undefined;
  /** The error of the last attempt that failed; undefined if none has. */
  #last: PetstockError | undefined;
  #retries = 0;
  #redirects = 0;
  #mayBeCarriedOut = false;
  #mayBeInFlight = false;
  url: string;

  constructor(request: Outgoing, options: SendOptions) {
    this.#request = request;
    this.#options = options;
    this.time = request.time ?? new TimeBudget(options.clock, Number.POSITIVE_INFINITY);
    this.#permit = request.permit;
    this.url = request.url;
  }

  /** Adds to an error what is certain about all attempts. */
  withFacts(error: unknown): unknown {
    const [notCarriedOut, mayBeInFlight] = [!this.#mayBeCarriedOut, this.#mayBeInFlight];
    const isRight =
      !(error instanceof PetstockError) ||
      (error.notCarriedOut === notCarriedOut && error.mayBeInFlight === mayBeInFlight);
    return isRight ? error : error.with({ notCarriedOut, mayBeInFlight });
  }

  async nextPermit(): Promise<Permit> {
    const permit = this.#permit;
    this.#permit = undefined;
    try {
      return permit ?? (await this.#options.limits.admitOne(this.#options.interrupted));
    } catch (error) {
      throw this.#withReason(error);
    }
  }

  /**
   * Merges the limits' refusal of another attempt with the error of the last attempt, if the service is unavailable
   * or that attempt got a 429. Returns any other error unchanged.
   */
  #withReason(error: unknown): unknown {
    const isRefusal = error instanceof RateLimitedError || error instanceof UnavailableError;
    if (!isRefusal || error.retryAfterSeconds === undefined || this.#last === undefined) return error;
    const { retryAfterSeconds } = error;
    if (error instanceof UnavailableError) return this.#last.with({ retryAfterSeconds, cause: error });
    return this.#last instanceof RateLimitedError ? withServiceMessage(this.#last, error) : error;
  }

  async watch<T>(run: () => Promise<AttemptResult<T>>): Promise<AttemptResult<T>> {
    try {
      const end = await this.time.spend(run);
      if (end.kind === 'moved') this.#mayBeCarriedOut = true;
      else if (end.kind === 'refused' || end.kind === 'failed') this.#note(end.error);
      return end;
    } catch (error) {
      this.#note(error);
      throw error;
    }
  }

  /** Whether no retry is left. */
  get isLast(): boolean {
    const { retries = defaultRetries } = this.#options;
    return this.#request.once === true || this.#retries >= retries;
  }

  #note(error: unknown): void {
    const isKnown = error instanceof PetstockError;
    if (!isKnown || !error.notCarriedOut) this.#mayBeCarriedOut = true;
    if (isKnown && error.mayBeInFlight) this.#mayBeInFlight = true;
  }

  /** @throws the error of the last attempt, if there is no further one; FailureError after too many redirects */
  async prepareNext(end: Exclude<AttemptResult<unknown>, { kind: 'done' }>): Promise<void> {
    if (this.#request.once && (end.kind === 'refused' || end.kind === 'failed')) throw end.error;
    if (end.kind === 'moved') this.#follow(end.url);
    if (end.kind === 'refused') this.#last = end.error;
    if (end.kind === 'failed') await this.#waitForRetry(end.error, end.retryAfter);
  }

  #follow(url: string): void {
    this.#redirects += 1;
    if (this.#redirects > maxRedirects)
      throw new FailureError(`The service redirected more than ${maxRedirects} times, last to ${shownUrl(url)}`);
    this.url = url;
  }

  /**
   * Waits before a retry. If the service has asked for a wait, the next admission waits instead, because of the gate.
   * @throws the error, if the request may not be retried
   */
  async #waitForRetry(error: PetstockError, retryAfter = 0): Promise<void> {
    const { clock, random, interrupted, onRetry, retries = defaultRetries } = this.#options;
    const isAllowed = nextStep(error.notCarriedOut ? 'unsent' : 'lost', this.#request.kind) === 'again';
    const wait = retryAfter === 0 ? waitBeforeRetry(this.#retries + 1, random()) : 0;
    if (!isAllowed || this.#retries >= retries || wait >= this.time.left) throw error;
    this.#retries += 1;
    this.#last = error;
    const { method, url } = this.#request;
    const { origin, pathname } = new URL(url);
    const what = `${method} ${pathname.replace(/^.*\/v1(?=\/)/, '')}`;
    // The service's own text is left out; it is quoted if the last attempt fails, too.
    const why = error.status === undefined ? failureText(error) : `the service returned ${error.status}`;
    const reason = error.notCarriedOut ? `No connection to ${origin}` : `${what}: ${why}`;
    onRetry?.({ reason, attempt: this.#retries, of: retries });
    if (wait > 0) await this.time.spend(() => clock.sleep(wait, interrupted));
  }
}
