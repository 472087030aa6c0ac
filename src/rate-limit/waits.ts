/**
 * Every wait of petstock for the service and its rate limit, and what may be done after each kind of answer. Times are
 * in milliseconds.
 */

/** The wait after a 429 without a usable Retry-After or end of its window, and the least for one that can't be read. */
export const standardWait = 60_000;

/** The longest gate: an implausible Retry-After must not block a key for years. */
export const maxGate = 32 * 86_400_000;

/** After this many 429s in a row, by all processes, no command waits any longer. */
export const maxEpisodes = 3;

/** The longest total wait for the rate limit, unless `--max-wait` is given. */
export const defaultMaxWait = 90_000;

/**
 * `inFlight`: the first and the longest pause before looking again while requests of others are in flight. `beside`:
 * the longest random delay after a wait, where other users of the key may go on in the same moment.
 */
export const pauses = { inFlight: { first: 10, longest: 250 }, beside: 1000 };

/**
 * Returns how long to sleep before looking again whether a wait still holds, because another process may get an answer
 * that changes it, or clear it: a tenth of the wait, but at least 5 s and at most a minute.
 */
export function sleepWithin(wait: number): number {
  return Math.min(wait, Math.max(5000, Math.min(wait / 10, 60_000)));
}

/** Default number of retries, see `--retries`. */
export const defaultRetries = 4;

/**
 * Returns how long to wait after a 429 before anything is sent again.
 * @param asked what the service asked for, by Retry-After or by the end of the window; undefined if by neither
 * @param episode 1 for the first 429, 2 if the first request after the wait met another, and so on
 * @param random a number in [0, 1)
 * @returns never less than asked, at least 1 s doubled with each episode, plus jitter
 */
export function waitAfterRefusal(asked: number | undefined, episode: number, random: number): number {
  return withJitter(Math.max(asked ?? standardWait, 1000 * 2 ** (episode - 1)), random);
}

/** Adds up to a tenth to a wait, at most 5 s, so that clients don't all try again at once. `random`: in [0, 1) */
export function withJitter(wait: number, random: number): number {
  return wait + random * Math.min(wait / 10, 5000);
}

/**
 * Returns a wait with full jitter: from 0 up to 0.5 s, doubled with each retry, at most 8 s.
 * @param retry 1 for the first retry
 * @param random a number in [0, 1)
 */
export function waitBeforeRetry(retry: number, random: number): number {
  return random * Math.min(500 * 2 ** (retry - 1), 8000);
}

/** What became of a request. Those after `failed` had no complete answer. */
export type AnswerKind =
  /** 2xx, but not 202. */
  | 'success'
  /** 3xx: the server may have carried the request out first. */
  | 'redirect'
  /** 401: the key was not accepted, as it would not be for any other request. */
  | 'unauthorized'
  /** 429: the request came too early. */
  | 'rateLimited'
  /** Any other 4xx: the service would reject the request again. */
  | 'rejected'
  /** 202, 408 or 499 (nginx): whoever answered did not wait for the service, which may carry it out later. */
  | 'undecided'
  /** 502, 504, or from 520 on: a proxy or CDN has given up on the service, which may carry it out later. */
  | 'givenUp'
  /** 501 or 505: another attempt would get the same answer. */
  | 'unsupported'
  /** Any other status from 500 on. */
  | 'failed'
  /** Nothing of the request has left this machine. */
  | 'unsent'
  /** The request has left, and no answer came, or one that can't be read. */
  | 'lost';

/** Returns the kind of an answer with this status. What is done next goes by it; errors go by the status. */
export function answerKindOf(status: number): Exclude<AnswerKind, 'unsent' | 'lost'> {
  if (status === 401) return 'unauthorized';
  if (status === 429) return 'rateLimited';
  if (status === 202 || status === 408 || status === 499) return 'undecided';
  if (status === 502 || status === 504 || status >= 520) return 'givenUp';
  if (status === 501 || status === 505) return 'unsupported';
  if (status >= 500) return 'failed';
  if (status >= 400) return 'rejected';
  return status >= 300 ? 'redirect' : 'success';
}

/** Reports whether a request may be carried out after this answer to it. */
export function mayArriveLater(status: number): boolean {
  const kind = answerKindOf(status);
  return kind === 'undecided' || kind === 'givenUp';
}

/**
 * `repeatable`: has the same effect if it is sent twice, such as a GET. `write`: sets a quantity, so that the stock shows
 * whether it was carried out. `other`: any other request, of `petstock api`.
 */
export type RequestKind = 'repeatable' | 'write' | 'other';

export type NextStep =
  /** Use the answer: it is final. */
  | 'use'
  /** Follow the redirect, if it stays at the service. A write that was admitted once is read back instead. */
  | 'follow'
  /** Nothing was carried out, and nothing more is sent with this key. */
  | 'end'
  /** Send again once the gate has lifted. Nothing was carried out. */
  | 'afterGate'
  /** Send again, up to `--retries` times. */
  | 'again'
  /** Read the stock, which shows whether the write was carried out. */
  | 'readBack';

/** What may be done after each kind of answer, by the kind of request. Senders check the condition of each step. */
const nextSteps: Readonly<Record<AnswerKind, Readonly<Record<RequestKind, NextStep>>>> = {
  success: { repeatable: 'use', write: 'use', other: 'use' },
  redirect: { repeatable: 'follow', write: 'follow', other: 'follow' },
  unauthorized: { repeatable: 'end', write: 'end', other: 'end' },
  rateLimited: { repeatable: 'afterGate', write: 'afterGate', other: 'afterGate' },
  rejected: { repeatable: 'use', write: 'use', other: 'use' },
  undecided: { repeatable: 'use', write: 'readBack', other: 'use' },
  givenUp: { repeatable: 'again', write: 'readBack', other: 'use' },
  unsupported: { repeatable: 'use', write: 'readBack', other: 'use' },
  failed: { repeatable: 'again', write: 'readBack', other: 'use' },
  unsent: { repeatable: 'again', write: 'again', other: 'again' },
  lost: { repeatable: 'again', write: 'readBack', other: 'use' },
};

/**
 * Decides what to do after an answer. A Retry-After of any answer but a success closes the gate, so whatever is sent
 * next waits for it.
 */
export function nextStep(answer: AnswerKind, request: RequestKind): NextStep {
  return nextSteps[answer][request];
}
