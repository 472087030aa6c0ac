import type { Limits } from '../rate-limit/limits.ts';
import { type Permit, PermitExpiredError, type RecordedResponse, type ResponseHead } from '../rate-limit/permits.ts';
import {
  answerKindOf,
  defaultRetries,
  nextStep,
  type RequestKind,
  standardWait,
  waitBeforeRetry,
} from '../rate-limit/waits.ts';
import { TimeBudget } from '../shared/clock.ts';
import {
  CertificateError,
  FailureError,
  failureText,
  NonRetryableError,
  PetstockError,
  RateLimitedError,
  UnavailableError,
} from '../shared/errors.ts';
import { errorOf, NetworkFailure, withServiceMessage } from './failures.ts';
import { type ExchangeOptions, exchange, type ReceivedResponse } from './response.ts';
import type { HttpRequest } from './transport.ts';

type AttemptResult<T> =
  | { readonly kind: 'done'; readonly value: T }
  /** The service or its proxy returned a 429. */
  | { readonly kind: 'refused'; readonly error: PetstockError }
  /** The permit had expired, so the request was not sent. */
  | { readonly kind: 'expired'; readonly error: PermitExpiredError }
  /** The response was a redirect to `url`, below the base URL. */
  | { readonly kind: 'moved'; readonly status: number; readonly url: string }
  /**
   * The network failed, or the response was one after which the request may be sent again. `retryAfter`: the wait that
   * was asked for, in milliseconds; a minute if the head of the response can't be read.
   */
  | { readonly kind: 'failed'; readonly error: PetstockError; readonly retryAfter: number | undefined };

export interface AttemptOptions extends ExchangeOptions {
  /** The base URL, which ends in `/v1`, without a trailing slash. Redirects are followed only below it. */
  readonly baseUrl: string;
}

/** A request, without what each attempt adds. */
interface AttemptedRequest extends Omit<HttpRequest, 'signal' | 'leaving' | 'arriving'> {
  readonly kind: RequestKind;
  /** Whether no other attempt follows, so that even a failure is passed to `use`. */
  readonly isLast?: boolean;
}

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
  const { limits, interrupted, clock, retries = defaultRetries } = options;
  const { time = new TimeBudget(clock, Number.POSITIVE_INFINITY) } = request;
  let { url, permit } = request;
  let [redirects, retry] = [0, 0];
  let last: PetstockError | undefined;
  const facts = new Facts();
  try {
    for (;;) {
      const isLast = request.once === true || retry >= retries;
      const admitted = permit ?? (await limits.admitOne(interrupted).catch((error) => throwWithReason(error, last)));
      permit = undefined;
      const limited = { ...options, timeout: time.limit(options.timeout) };
      const sent = { ...request, url, isLast };
      const end = await facts.watch(time.spend(() => attempt(sent, admitted, limited, use)));
      if (end.kind === 'done') return end.value;
      if (end.kind === 'moved') {
        url = end.url;
        redirects += 1;
        if (redirects > maxRedirects) {
          throw new FailureError(`The service redirected more than ${maxRedirects} times, last to ${shownUrl(url)}`);
        }
      } else if (end.kind !== 'expired') {
        if (request.once) throw end.error;
        last = end.error;
        if (end.kind === 'failed') {
          retry += 1;
          await waitForRetry({ ...request, time }, end, retry, options);
        }
      }
    }
  } catch (error) {
    throw facts.addTo(error);
  }
}

/** What is certain about all attempts of a request together. */
class Facts {
  #notCarriedOut = true;
  #mayBeInFlight = false;

  async watch<T>(attempting: Promise<AttemptResult<T>>): Promise<AttemptResult<T>> {
    try {
      const end = await attempting;
      if (end.kind === 'moved') this.#notCarriedOut = false;
      else if (end.kind === 'refused' || end.kind === 'failed') this.#note(end.error);
      return end;
    } catch (error) {
      this.#note(error);
      throw error;
    }
  }

  #note(error: unknown): void {
    const isKnown = error instanceof PetstockError;
    if (!isKnown || !error.notCarriedOut) this.#notCarriedOut = false;
    if (isKnown && error.mayBeInFlight) this.#mayBeInFlight = true;
  }

  addTo(error: unknown): unknown {
    const [notCarriedOut, mayBeInFlight] = [this.#notCarriedOut, this.#mayBeInFlight];
    if (!(error instanceof PetstockError)) return error;
    const isRight = error.notCarriedOut === notCarriedOut && error.mayBeInFlight === mayBeInFlight;
    return isRight ? error : error.with({ notCarriedOut, mayBeInFlight });
  }
}

/**
 * Waits before a retry. If the service has asked for a wait, the next admission waits instead, because of the gate.
 * @param retry counts from 1
 * @throws the error, if the request may not be sent again
 */
async function waitForRetry(
  { kind, method, url, time }: Outgoing & { readonly time: TimeBudget },
  { error, retryAfter = 0 }: Extract<AttemptResult<unknown>, { kind: 'failed' }>,
  retry: number,
  { clock, random, interrupted, onRetry, retries = defaultRetries }: SendOptions,
): Promise<void> {
  const isAllowed = nextStep(error.notCarriedOut ? 'unsent' : 'lost', kind) === 'again';
  const wait = retryAfter === 0 ? waitBeforeRetry(retry, random()) : 0;
  if (!isAllowed || retry > retries || wait >= time.left) throw error;
  const { origin, pathname } = new URL(url);
  // The service's own text is left out; it is quoted if the last attempt fails, too.
  const why = error.status === undefined ? failureText(error) : `the service returned ${error.status}`;
  const what = `${method} ${pathname.replace(/^.*\/v1(?=\/)/, '')}: ${why}`;
  onRetry?.({ reason: error.notCarriedOut ? `No connection to ${origin}` : what, attempt: retry, of: retries });
  if (wait > 0) await time.spend(() => clock.sleep(wait, interrupted));
}

/**
 * Merges the limits' refusal of another attempt with the error of the last one, if the service is unavailable or that
 * attempt got a 429. Any other error is unchanged.
 */
function throwWithReason(error: unknown, last: PetstockError | undefined): never {
  const isRefusal = error instanceof RateLimitedError || error instanceof UnavailableError;
  if (!isRefusal || error.retryAfterSeconds === undefined || last === undefined) throw error;
  const { retryAfterSeconds } = error;
  if (error instanceof UnavailableError) throw last.with({ retryAfterSeconds, cause: error });
  throw last instanceof RateLimitedError ? withServiceMessage(last, error) : error;
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

/** Recorded instead of a response whose head can't be read, because that response may have asked for a wait. */
const garbledResponse = { status: 503, headers: { 'retry-after': `${standardWait / 1000}` } };

/**
 * Sends one request and uses up its permit.
 * @param use reads any response except a redirect, a 429, and one after which the request is sent again
 * @throws what `use` throws (except a NetworkFailure), CertificateError, NonRetryableError for a proxy that requires a
 * password, FailureError for a redirect that can't be followed or a head of more than 64 KiB, and the reason of
 * `interrupted`. Errors tell whether the request was certainly not carried out (`notCarriedOut`) and whether it still
 * may be (`mayBeInFlight`)
 */
async function attempt<T>(
  request: AttemptedRequest,
  permit: Permit,
  options: AttemptOptions,
  use: (response: ReceivedResponse) => Promise<T>,
): Promise<AttemptResult<T>> {
  let hasLeft = false;
  let hasArrived = false;
  let noted: RecordedResponse | undefined;
  const isWrite = request.kind === 'write';
  const observe = (response: ReceivedResponse): Promise<AttemptResult<T>> => {
    noted = permit.recordResponse(response, isWrite);
    return resultOfResponse(request, response, { baseUrl: options.baseUrl, retryAfter: noted.retryAfter }, use);
  };
  try {
    const { method, url, headers, body } = request;
    options.interrupted?.throwIfAborted();
    const leaving = () => {
      permit.beginSend();
      hasLeft = true;
    };
    const arriving = () => {
      hasArrived = true;
    };
    return await exchange({ method, url, headers, body, leaving, arriving }, options, observe);
  } catch (error) {
    if (error instanceof PermitExpiredError) return { kind: 'expired', error };
    const isUpgrade = error instanceof NetworkFailure && error.isUpgrade;
    const facts = noted ? undefined : { notCarriedOut: !hasLeft, mayBeInFlight: hasLeft && !isUpgrade };
    const isOtherProtocol = isUpgrade || (error instanceof NetworkFailure && error.isNotHttp);
    const isGarbled = hasArrived && noted === undefined && !isOtherProtocol;
    const asked = isGarbled ? garbledResponse : proxyRefusal(error);
    if (asked !== undefined) noted = permit.recordResponse(asked, isWrite);
    const withFacts = (failure: PetstockError) => (facts ? failure.with(facts) : failure);
    return resultOfFailure(error, request.url, { hasLeft, isGarbled, retryAfter: noted?.retryAfter, withFacts });
  } finally {
    await (noted?.persisted ?? (hasLeft ? permit.forfeit() : permit.release()));
  }
}

/**
 * Returns a proxy's refusal as a response to record if it asks for a wait. All headers except `Retry-After` are left out,
 * because they are not about the key. Undefined for any other error.
 */
function proxyRefusal(error: unknown): ResponseHead | undefined {
  const refusal = error instanceof NetworkFailure ? error.refusal : undefined;
  if (refusal === undefined || (refusal.status !== 429 && refusal.headers['retry-after'] === undefined))
    return undefined;
  return { status: refusal.status, headers: { 'retry-after': refusal.headers['retry-after'] } };
}

interface FailedAttempt {
  /** Whether some of the request may have left this machine. */
  readonly hasLeft: boolean;
  /**
   * Whether a response began to arrive, but its head is incomplete or not valid. False for a response that is not HTTP
   * at all, or that switches to another protocol.
   */
  readonly isGarbled: boolean;
  readonly retryAfter: number | undefined;
  /** Adds to an error what is certain about the request. */
  withFacts(failure: PetstockError): PetstockError;
}

/**
 * Converts a network error to a result.
 * @throws any other error; CertificateError; NonRetryableError for a proxy that requires a password
 */
function resultOfFailure(
  error: unknown,
  url: string,
  { hasLeft, isGarbled, retryAfter, withFacts }: FailedAttempt,
): AttemptResult<never> {
  if (!(error instanceof NetworkFailure)) throw error instanceof PetstockError ? withFacts(error) : error;
  if (error.isUntrusted) throw withFacts(certificateFailure(url, error));
  const failure = withFacts(networkFailure(url, error, { hasLeft, isGarbled }));
  if (error.needsProxyPassword) throw failure;
  if (error.refusal?.status === 429) {
    const retryAfterSeconds = retryAfter === undefined ? undefined : Math.ceil(retryAfter / 1000);
    return {
      kind: 'refused',
      error: withFacts(new RateLimitedError(error.message, { retryAfterSeconds, cause: error })),
    };
  }
  return { kind: 'failed', error: failure, retryAfter };
}

async function resultOfResponse<T>(
  request: AttemptedRequest,
  response: ReceivedResponse,
  { baseUrl, retryAfter }: Pick<AttemptOptions, 'baseUrl'> & Pick<RecordedResponse, 'retryAfter'>,
  use: (response: ReceivedResponse) => Promise<T>,
): Promise<AttemptResult<T>> {
  const { status } = response;
  const step = nextStep(answerKindOf(status), request.kind);
  if (step === 'follow' && redirectStatuses.has(status)) {
    return { kind: 'moved', status, url: redirectTarget(request, response, baseUrl) };
  }
  if (step === 'afterGate') {
    const error = await errorOf(response, retryAfter);
    return { kind: 'refused', error: error.with({ notCarriedOut: true, cause: undefined }) };
  }
  if (step === 'again' && !request.isLast) {
    return { kind: 'failed', error: await errorOf(response, retryAfter), retryAfter };
  }
  try {
    return { kind: 'done', value: await use(response) };
  } catch (error) {
    const isAboutStatus = error instanceof PetstockError && error.status === status && retryAfter !== undefined;
    throw isAboutStatus ? error.with({ retryAfterSeconds: Math.ceil(retryAfter / 1000) }) : error;
  }
}

function networkFailure(
  url: string,
  failure: NetworkFailure,
  { hasLeft, isGarbled }: Pick<FailedAttempt, 'hasLeft' | 'isGarbled'>,
): UnavailableError {
  const Failure = failure.needsProxyPassword ? NonRetryableError : UnavailableError;
  const { origin } = new URL(url);
  const what = failure.hasHead
    ? `The response from the service at ${origin} can't be read completely`
    : isGarbled
      ? `The response header of the service at ${origin} can't be read`
      : hasLeft
        ? `The request to the service at ${origin} failed`
        : `Can't reach the service at ${origin}`;
  return new Failure(`${what}: ${failure.message}`, { cause: failure });
}

/** Certificate errors that trusting another authority would not fix. */
const noAuthorityHelps: ReadonlySet<string> = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'HOSTNAME_MISMATCH',
]);

function certificateFailure(url: string, failure: NetworkFailure): CertificateError {
  const { host, origin } = new URL(url);
  const hint = noAuthorityHelps.has(failure.code)
    ? `openssl s_client -connect ${host.includes(':') ? host : `${host}:443`}`
    : "petstock config set ca-file '<file with the certificate of its authority>'";
  const message = `The certificate of the service at ${origin} is not trusted: ${failure.message}. The request was not sent`;
  return new CertificateError(message, { hint, cause: failure });
}

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Returns the target of a redirect, an absolute URL below the base URL.
 * @throws FailureError if there is no valid Location; if the target is not below the base URL, because the key would be
 * revealed; for a 301, 302 or 303 unless the method is GET or HEAD, because a client may then change the method
 */
function redirectTarget(
  request: Pick<HttpRequest, 'method' | 'url'>,
  response: ReceivedResponse,
  baseUrl: string,
): string {
  const { status, headers } = response;
  const { location } = headers;
  if (typeof location !== 'string' || !URL.canParse(location, request.url)) {
    throw new FailureError(`The service returned a redirect (${status}) without a valid address`, { status });
  }
  const to = new URL(location, request.url);
  if (!isBelow(baseUrl, to)) {
    const { origin } = new URL(baseUrl);
    const other = to.origin === 'null' ? to.protocol : to.origin;
    const where = other === origin ? `a URL outside ${baseUrl}` : `another address, ${shownUrl(other)}`;
    const message = `The service redirects to ${where}. The redirect was not followed, because following it would reveal the key`;
    throw new FailureError(message, { status });
  }
  const keepsMethod = status === 307 || status === 308 || ['GET', 'HEAD'].includes(request.method);
  if (!keepsMethod) {
    const message = `The service redirected a ${request.method} with status ${status}. petstock does not follow such a redirect`;
    throw new FailureError(message, { status });
  }
  return to.href;
}

/**
 * Reports whether a URL is below a base URL, the only place that the key may be sent to.
 * @param baseUrl ends in `/v1`, without a trailing slash
 */
export function isBelow(baseUrl: string, { origin, pathname }: URL): boolean {
  const base = new URL(baseUrl);
  if (origin !== base.origin || !pathname.startsWith(`${base.pathname}/`)) return false;
  try {
    // A server may decode `%2f` before it resolves `..`.
    return !/[/\\]\.\.(?:[/\\]|$)/.test(decodeURIComponent(pathname));
  } catch {
    return false;
  }
}

/** Maximum length of a URL in a message, in characters. */
const maxUrl = 100;

/** Shortens a URL chosen by the service, for use in a message. */
function shownUrl(url: string): string {
  return url.length > maxUrl ? `${url.slice(0, maxUrl)}…` : url;
}
