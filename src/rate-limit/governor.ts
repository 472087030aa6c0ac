import type { Headers, RateLimit } from './headers.ts';

/**
 * The one place where a request is admitted and an answer is observed. Every request of every command passes here,
 * retries and redirects included.
 */
export interface Governor {
  /**
   * Resolves when one request may leave.
   * @throws RateLimitedError when that would take longer than the command may wait
   * @throws the signal's reason once it is aborted
   */
  admit(signal: AbortSignal): Promise<Permit>;
  /** The last limits that an answer told in this process. */
  readonly lastSeen: SeenRateLimit | undefined;
}

/** The right to send one request. Exactly one of the last three methods is called, once. */
export interface Permit {
  /**
   * Called when the request is about to leave: the process may have been stopped since it was admitted, or the
   * connection may have taken its time.
   * @throws OvertakenError where the permit holds no longer
   */
  leave(): void;
  /** The head of an answer came. After a 429 the next `admit` waits. */
  answered(answer: ObservedAnswer): void;
  /** No answer came. Whether the service counted the request is unknown. */
  lost(): void;
  /** It was not sent. */
  unsent(): void;
}

/** Between admission and sending a gate came up, or the time of the permit ran out. The request has to be admitted anew. */
export class OvertakenError extends Error {
  override readonly name = 'OvertakenError';
}

export interface ObservedAnswer {
  readonly status: number;
  readonly headers: Headers;
}

export interface SeenRateLimit extends RateLimit {
  /** Milliseconds from the answer until the window ends, by the service's own clock. */
  readonly resetIn: number;
  /** Local wall clock at the answer: milliseconds since the Unix epoch. */
  readonly asOf: number;
}
