import type { RowError } from '../inventory/change.ts';
import {
  AuthError,
  NotFoundError,
  PetstockError,
  RateLimitedError,
  RejectedError,
  UnavailableError,
} from '../shared/errors.ts';

/**
 * What a failed request means for its row:
 *
 * - `failed`: the service has judged it; it was not carried out and will not be
 * - `void`: for certain it was not carried out, and it may be sent again
 * - `open`: it may have been carried out: somebody has to look at the stock before it is sent again
 *
 * `stop`: no other row would fare better now.
 */
export interface Verdict {
  readonly kind: 'failed' | 'void' | 'open';
  readonly stop: boolean;
}

export function verdictOn(error: unknown): Verdict {
  if (!(error instanceof PetstockError)) return { kind: 'open', stop: true };
  if (error instanceof AuthError) return { kind: 'void', stop: true };
  if (error instanceof NotFoundError || error instanceof RejectedError) return { kind: 'failed', stop: false };
  // A service that can't be reached may be back in a moment: that is tried again, as what was lost on its way is.
  if (error instanceof UnavailableError) return { kind: error.unsent ? 'void' : 'open', stop: false };
  // An answer that makes no sense says nothing about what was done; one with a status is a redirect that leads nowhere.
  if (error.exit === 'failure' && !error.unsent) return { kind: 'open', stop: error.status !== undefined };
  return { kind: error.unsent || error instanceof RateLimitedError ? 'void' : 'open', stop: true };
}

/** The service's own words go before ours. */
export function rowErrorOf(error: unknown): RowError {
  if (!(error instanceof PetstockError)) return { code: 'failure', message: String((error as Error).message ?? error) };
  const { code, message, status } = error.service ?? error;
  return status === undefined ? { code, message } : { code, message, status };
}
