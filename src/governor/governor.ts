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

/** The right to send one request. Exactly one of its two methods is called, once. */
export interface Permit {
  /** The head of an answer came. After a 429 the next `admit` waits. */
  answered(answer: ObservedAnswer): void;
  /** No answer came. Whether the service counted the request is unknown. */
  lost(): void;
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
