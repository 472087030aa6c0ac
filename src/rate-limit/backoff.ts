/**
 * Returns how long to wait after a 429 before anything is sent again.
 * @param asked milliseconds that the service asked for, by Retry-After or by the end of the window, or a default
 * @param episode 1 for the first 429, 2 if the first request after the wait met another, and so on
 * @param random a number in [0, 1)
 * @returns milliseconds: never less than asked, at least 1 s doubled with each episode, plus jitter of up to a tenth of
 * the wait, at most 5 s
 */
export function waitAfterRefusal(asked: number, episode: number, random: number): number {
  return withJitter(Math.max(asked, 1000 * 2 ** (episode - 1)), random);
}

/**
 * Adds jitter to a wait, so that clients don't all retry at once: up to a tenth more, at most 5 s.
 * @param wait the wait in milliseconds
 * @param random a number in [0, 1)
 */
export function withJitter(wait: number, random: number): number {
  return wait + random * Math.min(wait / 10, 5000);
}

/** Default number of retries after a network error, or a status of 500, 502, 503 or 504. */
export const maxRetries = 4;

/** Maximum wait that a gateway may ask for, in milliseconds. If it asks for more, the request is not retried. */
export const maxRetryWait = 60_000;

/** Maximum wait for a gate that a gateway has asked for, in milliseconds; the gate includes jitter of up to a tenth. */
export const maxGateWait = maxRetryWait * 1.1;

/**
 * Returns a wait with full jitter: from 0 up to 0.5 s, doubled with each retry, at most 8 s.
 * @param retry 1 for the first retry
 * @param random a number in [0, 1)
 * @returns milliseconds
 */
export function waitBeforeRetry(retry: number, random: number): number {
  return random * Math.min(500 * 2 ** (retry - 1), 8000);
}
