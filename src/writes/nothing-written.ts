import { type PetstockError, RateLimitedError, UnavailableError } from '../shared/errors.ts';
import { sentence } from '../shared/parsed.ts';

/**
 * Rethrows the error of a read before the first write. If the service is unavailable or the rate limit requires a long
 * wait, adds that nothing was written.
 */
export function rethrowAsNothingWritten(error: unknown): never {
  throw error instanceof UnavailableError || error instanceof RateLimitedError ? withNothingWritten(error) : error;
}

export function withNothingWritten<Failure extends PetstockError>(error: Failure): Failure {
  return error.with({ message: `${sentence(error.message)} Nothing was written` });
}
