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
 * The meaning of a failed request for its row:
 *
 * - `refused`: the service has rejected it; it was not carried out and will not be
 * - `notSent`: it was not carried out, because it was never sent, or because of a 401 or 429; it may be sent again
 * - `unknown`: it may have been carried out; the stock must be read before it is sent again
 */
export interface Failure {
  readonly kind: 'refused' | 'notSent' | 'unknown';
  /** Whether no other row would succeed now, so that the run ends. */
  readonly stop: boolean;
  /**
   * Whether the stock can probably still be read although the run ends, so that rows of unknown outcome are settled
   * first.
   */
  readonly isReadable: boolean;
  readonly mayBeInFlight: boolean;
}

/**
 * Classifies the failure of a write. No other function does this (`statusMeaning` classifies a status alone). Judges
 * only the request that failed, not earlier requests of the same row.
 */
export function classifyFailure(error: unknown): Failure {
  // A bug in the program reveals nothing about the outcome.
  if (!(error instanceof PetstockError)) return failure('unknown', { stop: true, mayBeInFlight: true });
  const { status, notCarriedOut, mayBeInFlight } = error;
  if (error instanceof AuthError) return failure('notSent', { stop: true });
  if (notCarriedOut) {
    // An unreachable service may be back in a moment; after a 429 the gate is waited for.
    const passes =
      (error instanceof UnavailableError && !(error instanceof NonRetryableError)) || error instanceof RateLimitedError;
    return failure('notSent', { stop: !passes });
  }
  const meaning = status === undefined ? undefined : statusMeaning(status);
  if (meaning === 'refused') return failure('refused');
  // The next write would be redirected, too, but the stock can still be read.
  const isReadable = meaning === 'redirect';
  return failure('unknown', { stop: isReadable || error instanceof InterruptedError, isReadable, mayBeInFlight });
}

function failure(
  kind: Failure['kind'],
  { stop = false, isReadable = false, mayBeInFlight = false }: Partial<Failure> = {},
): Failure {
  return { kind, stop, isReadable, mayBeInFlight };
}

/** Returns the error to record for a row, with the service's own code and message if it sent any. */
export function rowErrorOf(error: unknown): RowError {
  if (!(error instanceof PetstockError)) return { code: 'failure', message: String((error as Error).message ?? error) };
  const { code, message: said, status } = error.serviceError ?? error;
  const message = isBlank(said) ? error.message : said;
  return status === undefined ? { code, message } : { code, message, status };
}
