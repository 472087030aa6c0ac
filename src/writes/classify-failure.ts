import type { RowError } from '../inventory/change.ts';
import {
  AuthError,
  InterruptedError,
  NonRetryableError,
  PetstockError,
  RateLimitedError,
  UnavailableError,
} from '../shared/errors.ts';
import { statusMeaning } from '../shared/http-status.ts';
import { isBlank } from '../shared/sanitize.ts';

/**
 * Returns what a failed request means for its row:
 *
 * - `refused`: the service has judged it; it was not carried out and will not be
 * - `notSent`: for certain it was not carried out, and it may be sent again
 * - `unknown`: it may have been carried out; the stock has to be read before it is sent again
 */
export interface Failure {
  readonly kind: 'refused' | 'notSent' | 'unknown';
  /** No other row would fare better now: the run ends. */
  readonly stop: boolean;
  /** The run ends, but the service may well answer a read: rows of unknown outcome are looked at first. */
  readonly isReadable: boolean;
  /** The request may still be on its way to the service. */
  readonly mayBeInFlight: boolean;
}

/**
 * The only place that says what a failure of a write means; `statusMeaning` says it of a status. It speaks of the one request
 * that failed: what an earlier request of the same row has done is settled before the row is sent again.
 */
export function classifyFailure(error: unknown): Failure {
  // A defect says nothing about what was done.
  if (!(error instanceof PetstockError)) return failure('unknown', { stop: true, mayBeInFlight: true });
  const { status, notCarriedOut, mayBeInFlight } = error;
  if (error instanceof AuthError) return failure('notSent', { stop: true });
  if (notCarriedOut) {
    // A service that can't be reached may be back in a moment; after a 429 the governor waits.
    const passes =
      (error instanceof UnavailableError && !(error instanceof NonRetryableError)) || error instanceof RateLimitedError;
    return failure('notSent', { stop: !passes });
  }
  const meaning = status === undefined ? undefined : statusMeaning(status);
  if (meaning === 'refused') return failure('refused');
  // The next one would be redirected too.
  const isReadable = meaning === 'redirect';
  return failure('unknown', { stop: isReadable || error instanceof InterruptedError, isReadable, mayBeInFlight });
}

function failure(
  kind: Failure['kind'],
  { stop = false, isReadable = false, mayBeInFlight = false }: Partial<Failure> = {},
): Failure {
  return { kind, stop, isReadable, mayBeInFlight };
}

/** The code of a conflict whose row was sent before: nobody knows whether it was written. */
export const unclear = 'unclear';

/** @param wasSent a request of the row had left, and got no answer that says what became of it */
export function conflictError(message: string, wasSent: boolean): RowError {
  return { code: wasSent ? unclear : 'conflict', message };
}

/** The service's own words go before ours. */
export function rowErrorOf(error: unknown): RowError {
  if (!(error instanceof PetstockError)) return { code: 'failure', message: String((error as Error).message ?? error) };
  const { code, message: said, status } = error.serviceError ?? error;
  const message = isBlank(said) ? error.message : said;
  return status === undefined ? { code, message } : { code, message, status };
}
