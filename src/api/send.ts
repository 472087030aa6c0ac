import { setMaxListeners } from 'node:events';
import { longestRetryWait, maxRetries, waitBeforeRetry } from '../rate-limit/backoff.ts';
import { type Governor, OvertakenError } from '../rate-limit/governor.ts';
import { parseDate, parseRetryAfter } from '../rate-limit/headers.ts';
import {
  type ErrorDetails,
  FailureError,
  PetstockError,
  RateLimitedError,
  type ServiceError,
  UnavailableError,
} from '../shared/errors.ts';
import { errorOfAnswer, parseServiceError } from './error-answer.ts';
import { type Answer, type ExchangeOptions, exchange, NetworkFault } from './exchange.ts';
import type { HttpRequest } from './transport.ts';

export interface Outgoing extends Omit<HttpRequest, 'signal'> {
  /** Sending it twice does the same as sending it once: a GET, or a PATCH that sets an absolute quantity. */
  readonly repeatable: boolean;
  /** Ends only the wait for its turn, in the place of `interrupted`: once on its way, only its time-out ends it. */
  readonly turn?: AbortSignal | undefined;
}

export interface SendOptions extends ExchangeOptions {
  readonly governor: Governor;
  random(): number;
  /** Told why before a request is sent again. */
  onRetry?(line: string): void;
}

/** Gateways answer these when the service itself did not. */
const retriedStatuses = new Set([502, 503, 504]);
const redirectStatuses = new Set([301, 302, 303, 307, 308]);
const maxRedirects = 5;

/** Is never aborted. */
const never = new AbortController().signal;
setMaxListeners(0, never);

/** What became of one try. */
type Outcome<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'refused'; readonly service: ServiceError | undefined }
  | { readonly kind: 'overtaken' }
  | { readonly kind: 'moved'; readonly url: string }
  | { readonly kind: 'failed'; readonly error: Error; readonly retryAfter: number | undefined };

/**
 * Sends a request through the governor until it has an answer: a 429 is waited for, a network fault, 502, 503 and 504
 * are tried again where the request is repeatable, a redirect to the same origin is followed.
 *
 * @param use reads any other answer; what it throws is thrown, unless the network failed while it read
 * @throws RateLimitedError, UnavailableError, FailureError (a redirect that can't be followed)
 */
export async function send<T>(
  request: Outgoing,
  options: SendOptions,
  use: (answer: Answer) => Promise<T>,
): Promise<T> {
  const exposure: Exposure = { exposed: false };
  try {
    return await sendUntilAnswered(request, options, exposure, use);
  } catch (error) {
    throw error instanceof PetstockError && !exposure.exposed ? unsent(error) : error;
  }
}

/** Whether some try may have been carried out, though no answer says so. */
interface Exposure {
  exposed: boolean;
}

async function sendUntilAnswered<T>(
  request: Outgoing,
  options: SendOptions,
  exposure: Exposure,
  use: (answer: Answer) => Promise<T>,
): Promise<T> {
  let current = request;
  let refusal: ServiceError | undefined;
  let retries = 0;
  let redirects = 0;
  for (;;) {
    const outcome = await attempt(current, options, exposure, use).catch((error) => {
      throw error instanceof RateLimitedError ? withRefusal(error, refusal) : error;
    });
    switch (outcome.kind) {
      case 'done':
        return outcome.value;
      case 'refused':
        refusal = outcome.service;
        break;
      case 'overtaken':
        break;
      case 'moved':
        redirects += 1;
        if (redirects > maxRedirects)
          throw new FailureError(`The service redirects in a circle, last to ${outcome.url}`);
        current = { ...current, url: outcome.url };
        break;
      case 'failed': {
        retries += 1;
        const wait = waitBeforeRetry(retries, outcome.retryAfter, options.random());
        if (!request.repeatable || retries > maxRetries || wait > longestRetryWait) throw outcome.error;
        options.onRetry?.(`${outcome.error.message}; trying again (${retries} of ${maxRetries})`);
        await options.clock.sleep(wait, options.interrupted);
      }
    }
  }
}

async function attempt<T>(
  request: Outgoing,
  options: SendOptions,
  exposure: Exposure,
  use: (answer: Answer) => Promise<T>,
): Promise<Outcome<T>> {
  const permit = await options.governor.admit(request.turn ?? options.interrupted);
  let answered = false;
  let sent = true;
  let carriedOut = true;
  const observe = (answer: Answer): Promise<Outcome<T>> => {
    answered = true;
    carriedOut = answer.status !== 429;
    permit.answered(answer);
    return judge(request, answer, options, use);
  };
  try {
    const exchangeOptions = request.turn === undefined ? options : { ...options, interrupted: never };
    return await exchange({ ...request, leaving: permit.leave }, exchangeOptions, observe);
  } catch (error) {
    sent = !(error instanceof OvertakenError);
    if (!sent) return { kind: 'overtaken' };
    if (!(error instanceof NetworkFault)) throw error;
    sent = !error.unconnected;
    const { origin } = new URL(request.url);
    const what = error.answered
      ? `The answer of the service at ${origin} can't be read to its end`
      : `Can't reach the service at ${origin}`;
    const failure = new UnavailableError(`${what}: ${error.message}`, { cause: error });
    return { kind: 'failed', error: failure, retryAfter: undefined };
  } finally {
    if (sent && carriedOut) exposure.exposed = true;
    if (!sent) permit.unsent();
    else if (!answered) permit.lost();
  }
}

async function judge<T>(
  request: Outgoing,
  answer: Answer,
  options: SendOptions,
  use: (answer: Answer) => Promise<T>,
): Promise<Outcome<T>> {
  const { status, headers } = answer;
  if (status === 429) return { kind: 'refused', service: parseServiceError(await answer.textOrNothing(), status) };
  if (retriedStatuses.has(status)) {
    const now = options.clock.now();
    const retryAfter = parseRetryAfter(headers, parseDate(headers, now) ?? now);
    return { kind: 'failed', error: errorOfAnswer(status, await answer.textOrNothing(), retryAfter), retryAfter };
  }
  if (redirectStatuses.has(status)) return { kind: 'moved', url: redirectTarget(request, answer) };
  return { kind: 'done', value: await use(answer) };
}

/** @throws FailureError for a redirect that would show the key to another origin, or turn a write into something else */
function redirectTarget(request: Outgoing, answer: Answer): string {
  const location = answer.headers.location;
  if (typeof location !== 'string' || !URL.canParse(location, request.url)) {
    throw new FailureError(`The service answered ${answer.status} without a usable Location`, {
      status: answer.status,
    });
  }
  const from = new URL(request.url);
  const to = new URL(location, request.url);
  if (to.origin !== from.origin) {
    throw new FailureError(
      `The service redirects to another address, ${to.origin === 'null' ? to.protocol : to.origin}. It was not followed, since that would show it the key`,
      { status: answer.status },
    );
  }
  const keepsMethod = answer.status === 307 || answer.status === 308 || ['GET', 'HEAD'].includes(request.method);
  if (!keepsMethod) {
    throw new FailureError(`The service redirects a ${request.method} with ${answer.status}, which can't be followed`, {
      status: answer.status,
    });
  }
  return to.href;
}

/** The service's own words about why it refuses, where it sent some. */
function withRefusal(error: RateLimitedError, service: ServiceError | undefined): RateLimitedError {
  if (service === undefined) return error;
  const { retryAfterSeconds } = error;
  return new RateLimitedError(service.message, { service, status: 429, retryAfterSeconds, cause: error });
}

/** The same failure, with the certainty that the service has carried nothing out. */
function unsent(error: PetstockError): PetstockError {
  const Kind = error.constructor as new (message: string, details: ErrorDetails) => PetstockError;
  return new Kind(error.message, { ...error, unsent: true, cause: error.cause ?? error });
}
