import type { RowError } from '../inventory/change.ts';
import { type AnswerKind, answerKindOf, type NextStep, nextStep } from '../rate-limit/waits.ts';
import {
  InterruptedError,
  NonRetryableError,
  PetstockError,
  RateLimitedError,
  UnavailableError,
} from '../shared/errors.ts';
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
  readonly mayBeInFlight: boolean;
}

const kinds: Readonly<Record<NextStep, Failure['kind']>> = {
  ...{ use: 'refused', end: 'notSent', afterGate: 'notSent', again: 'notSent', readBack: 'unknown', follow: 'unknown' },
};

/** Classifies the failure of a write. Judges only the request that failed, not earlier requests of the same row. */
export function classifyFailure(error: unknown): Failure {
  // A bug in the program reveals nothing about the outcome.
  if (!(error instanceof PetstockError)) return { kind: 'unknown', stop: true, mayBeInFlight: true };
  const answer = answerOf(error);
  const kind = kinds[nextStep(answer, 'write')];
  return { kind, stop: endsRun(answer, error), mayBeInFlight: error.mayBeInFlight };
}

function answerOf(error: PetstockError): AnswerKind {
  if (error.notCarriedOut) return error instanceof RateLimitedError ? 'rateLimited' : 'unsent';
  const kind = error.status === undefined ? 'lost' : answerKindOf(error.status);
  // The error is then that the answer makes no sense.
  return kind === 'success' ? 'lost' : kind;
}

function endsRun(answer: AnswerKind, error: PetstockError): boolean {
  // The next write would be redirected, too, but the stock can still be read.
  if (answer === 'unauthorized' || answer === 'redirect' || error instanceof InterruptedError) return true;
  // An unreachable service may be back in a moment.
  return answer === 'unsent' && (error instanceof NonRetryableError || !(error instanceof UnavailableError));
}

/** Returns the error to record for a row, with the service's own code and message if it sent any. */
export function rowErrorOf(error: unknown): RowError {
  if (!(error instanceof PetstockError)) return { code: 'failure', message: String((error as Error).message ?? error) };
  const { code, message: said, status } = error.serviceError ?? error;
  const message = isBlank(said) ? error.message : said;
  return status === undefined ? { code, message } : { code, message, status };
}
