/** Header names in lower case; the value of a repeated header is an array. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface ResponseHead {
  readonly status: number;
  readonly headers: Headers;
}

/** The three X-RateLimit headers of a response. */
export interface RateLimit {
  readonly limit: number;
  /** Number of requests left in the current window. */
  readonly remaining: number;
  /** When the window ends, in milliseconds since the Unix epoch by the service's clock. */
  readonly reset: number;
}

/** A reported rate limit. `resetAt` and `asOf` are milliseconds since the Unix epoch, by the clock of the state. */
export interface SeenRateLimit extends RateLimit {
  /** When the window ends, converted from the service's clock by the `Date` of the response. */
  readonly resetAt: number;
  /** When the response came. */
  readonly asOf: number;
}

export interface PermitCount {
  /** 2 for a read and the write that relies on it. A single permit is given if only a probe may be sent. */
  readonly min: 1 | 2;
  /** Maximum number of permits; at least `min`. */
  readonly max: number;
}

/** Permission to send one request. Call exactly one of `recordResponse`, `forfeit` and `release`, once. None rejects. */
export interface Permit {
  /**
   * Call this right before sending, because the process may have been stopped since the admission, or connecting may
   * have taken long. Never waits.
   * @throws PermitExpiredError if the permit has expired
   */
  beginSend(): void;
  /**
   * Records the head of a response. If it closes the gate, nothing more leaves with the key until the gate lifts.
   * @param isWrite whether the request was a write, which a service may refuse although it answers reads
   */
  recordResponse(answer: ResponseHead, isWrite?: boolean): RecordedResponse;
  /** Records that no response came. It is not known whether the service counted the request. */
  forfeit(): Promise<void>;
  /** Records that the request was not sent. */
  release(): Promise<void>;
}

export interface RecordedResponse {
  /**
   * The wait that the response asks for, in milliseconds, limited to the longest gate; undefined for a success, and for
   * a response without a Retry-After.
   */
  readonly retryAfter: number | undefined;
  /** Resolves once a gate is in the state, or can't be. Never rejects. */
  readonly persisted: Promise<void>;
}

/**
 * The permit expired before the request was sent: a gate closed, the permit's time ran out, or the known limits are
 * outdated. The request has to be admitted again. It is also thrown for a row that may no longer be sent.
 */
export class PermitExpiredError extends Error {
  override readonly name = 'PermitExpiredError';
}

/** Releases unused permits and empties the list. */
export async function releaseAll(permits: Permit[]): Promise<void> {
  for (const permit of permits.splice(0)) await permit.release();
}
