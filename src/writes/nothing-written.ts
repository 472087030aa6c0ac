import { FailureError, PetstockError, RateLimitedError, UnavailableError } from '../shared/errors.ts';
import { sentence } from '../shared/parsed.ts';

/**
 * Rethrows the error of a read before the first write. If it is not about what the user has typed, adds that nothing
 * was written.
 */
export function rethrowAsNothingWritten(error: unknown): never {
  const isVague = [UnavailableError, RateLimitedError, FailureError].some((one) => error instanceof one);
  if (!isVague || !(error instanceof PetstockError)) throw error;
  throw error.with({ message: `${sentence(error.message)} Nothing was written` });
}
