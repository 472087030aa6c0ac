import type { ObservedAnswer, SeenRateLimit } from './governor.ts';
import { parseDate, parseRateLimit, parseRetryAfter } from './headers.ts';
import type { AnswerRecord } from './records.ts';

/** When an answer came. */
export interface Receipt {
  /** By the monotonic clock. */
  readonly at: number;
  /** By the wall clock: milliseconds since the Unix epoch. */
  readonly wall: number;
  /** When its request left, by the monotonic clock. */
  readonly leftAt: number | undefined;
  /** By the service's clock, as far as earlier answers say: asked for only where this one doesn't. */
  serviceTime(): number | undefined;
}

/** Gateways answer these when the service itself did not. */
const gatewayStatuses: ReadonlySet<number> = new Set([502, 503, 504]);

/** What the head of an answer means for the store. */
export function recordOf(id: string, answer: ObservedAnswer, receipt: Receipt, random: () => number): AnswerRecord {
  const { status, headers } = answer;
  const { at, wall, leftAt } = receipt;
  const date = parseDate(headers, wall);
  const rateLimit = parseRateLimit(headers);
  const shown = rateLimit && {
    limit: Number(rateLimit.limit),
    remaining: Number(rateLimit.remaining),
    reset: rateLimit.reset * 1000,
  };
  const mayAsk = status === 429 || gatewayStatuses.has(status);
  const asked = mayAsk && {
    retryAfter: parseRetryAfter(headers, date ?? receipt.serviceTime() ?? wall),
    random: random(),
  };
  return { type: 'answer', id, at, leftAt, wall, status, date, ...shown, ...asked };
}

/** Whether an answer closes the gate: a 429 always, a 502, 503 or 504 that says for how long. */
export function asksToWait({ status, retryAfter = 0 }: AnswerRecord): boolean {
  return status === 429 || (gatewayStatuses.has(status) && retryAfter > 0);
}

/** What the head of an answer means for people. */
export function seenIn({ headers }: ObservedAnswer, asOf: number): SeenRateLimit | undefined {
  const rateLimit = parseRateLimit(headers);
  if (rateLimit === undefined) return undefined;
  // By the service's own clock where it says it, since the local one may be wrong.
  const resetIn = Math.max(0, rateLimit.reset * 1000 - (parseDate(headers, asOf) ?? asOf));
  return { ...rateLimit, resetIn, asOf };
}
