import type { ObservedAnswer, SeenRateLimit } from './governor.ts';
import { parseDate, parseRateLimit, parseRetryAfter } from './headers.ts';
import type { AnswerRecord } from './records.ts';

/** When an answer came. */
export interface Receipt {
  /** By the monotonic clock. */
  readonly at: number;
  /** By the wall clock: milliseconds since the Unix epoch. */
  readonly wall: number;
  /** By the service's clock, as far as earlier answers tell: for an answer that doesn't tell it. */
  readonly serviceTime: number | undefined;
}

/** What the head of an answer means for the ledger. */
export function recordOf(id: string, answer: ObservedAnswer, receipt: Receipt, random: () => number): AnswerRecord {
  const { status, headers } = answer;
  const { at, wall, serviceTime } = receipt;
  const date = parseDate(headers, wall);
  const rateLimit = parseRateLimit(headers);
  const told = rateLimit && {
    limit: Number(rateLimit.limit),
    remaining: Number(rateLimit.remaining),
    reset: rateLimit.reset * 1000,
  };
  const now = date ?? serviceTime ?? wall;
  const refusal = status === 429 && { retryAfter: parseRetryAfter(headers, now), random: random() };
  return { type: 'answer', id, at, wall, status, date, ...told, ...refusal };
}

/** What the head of an answer means for people. */
export function seenIn({ headers }: ObservedAnswer, asOf: number): SeenRateLimit | undefined {
  const rateLimit = parseRateLimit(headers);
  if (rateLimit === undefined) return undefined;
  // By the service's own clock where it tells it, since the local one may be wrong.
  const resetIn = Math.max(0, rateLimit.reset * 1000 - (parseDate(headers, asOf) ?? asOf));
  return { ...rateLimit, resetIn, asOf };
}
