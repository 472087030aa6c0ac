/** Header names in lower case; the value of a repeated header is an array. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The three X-RateLimit headers of a response. */
export interface RateLimit {
  readonly limit: number;
  /** Number of requests left in the current window. */
  readonly remaining: number;
  /** When the window ends, in milliseconds since the Unix epoch by the service's clock. */
  readonly reset: number;
}

export interface PermitCount {
  /** 2 for a read and the write based on it, with no wait between them. */
  readonly min: 1 | 2;
  /** Maximum number of permits; at least `min`. */
  readonly max: number;
  /**
   * Releases what other callers would otherwise wait for. It is called before the governor waits for the limit, perhaps
   * more than once, and must not reject.
   */
  beforeWait?(): Promise<void>;
}

/**
 * Permission to send one request. Call exactly one of `recordResponse`, `forfeit` and `release`, once. None of them
 * rejects: a record that can't be written stays buffered, and the next admission or `flush` writes it or throws.
 */
export interface Permit {
  /**
   * Call this right before sending, because the process may have been stopped since the admission, or connecting may
   * have taken long. Never waits.
   * @throws PermitExpiredError if the permit has expired
   */
  beginSend(): void;
  /**
   * Records the head of a response. If it closes the gate (see `closesGate`), this governor sends nothing more with the
   * key until the gate lifts. Other processes stop once the record has been written.
   */
  recordResponse(answer: ResponseHead): ObservationResult;
  /** Records that no response came. It is not known whether the service counted the request. */
  forfeit(): Promise<void>;
  /** Records that the request was not sent. */
  release(): Promise<void>;
}

/** Releases unused permits and empties the list. */
export async function releaseAll(permits: Permit[]): Promise<void> {
  for (const permit of permits.splice(0)) await permit.release();
}

/** Returns an error handler that releases unused permits and rethrows the error. */
export function releaseAndRethrow(permits: readonly Permit[]): (error: unknown) => Promise<never> {
  return async (error) => {
    for (const permit of permits) await permit.release();
    throw error;
  };
}

export interface ObservationResult {
  /**
   * The wait that the response asks for, in milliseconds, limited to the longest gate; undefined unless it is a 429,
   * 502, 503 or 504 with a Retry-After.
   */
  readonly retryAfter: number | undefined;
  /** Resolves once the record was written, or can't be. If it closes no gate, it may stay buffered. Never rejects. */
  readonly persisted: Promise<void>;
}

export type Permits = readonly [Permit, ...Permit[]];

/**
 * The permit expired before the request was sent: a gate closed, the permit's time ran out, or the known limits are
 * outdated. The request has to be admitted again. A dispatcher also throws this for a row that may no longer be sent.
 */
export class PermitExpiredError extends Error {
  override readonly name = 'PermitExpiredError';
}

export interface ResponseHead {
  readonly status: number;
  readonly headers: Headers;
}

/** A reported rate limit. `resetAt` and `asOf` are milliseconds since the Unix epoch, by the local wall clock. */
export interface SeenRateLimit extends RateLimit {
  /** When the window ends, converted to the local clock by the `Date` of the response. */
  readonly resetAt: number;
  /** When the response came. */
  readonly asOf: number;
}
