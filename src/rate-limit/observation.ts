import { isOfGateway } from '../shared/http-status.ts';
import type { ObservedAnswer, SeenRateLimit } from './governor.ts';
import { parseRateLimit, parseRetryAfter } from './headers.ts';
import type { AnswerRecord, LimitRecord } from './records.ts';

/** What is known of an answer besides its head. */
export interface Receipt extends Pick<AnswerRecord, 'id' | 'at' | 'wall' | 'date' | 'leftAt'> {
  /** The service's time as far as the `Date` of earlier answers tells it; undefined if none had one. */
  serviceTime(): number | undefined;
}

/** Returns what the head of an answer means for the store. */
export function recordOf(answer: ObservedAnswer, receipt: Receipt, random: () => number): AnswerRecord {
  const { status, headers } = answer;
  const { id, at, wall, leftAt, date } = receipt;
  const shown = parseRateLimit(headers);
  const mayAsk = status === 429 || isOfGateway(status);
  const asked = mayAsk && {
    retryAfter: parseRetryAfter(headers, clocksOf(receipt)),
    random: random(),
  };
  return { type: 'answer', id, at, leftAt, wall, status, date, ...shown, ...asked };
}

/** Our own clock may be off by any amount, so it counts only if nothing better does, or against a single `Date`. */
const mostOff = 86_400_000;

/** Returns the time by each clock that may be right: a single `Date` may be wrong, so it never shortens a wait. */
function clocksOf({ date, wall, serviceTime }: Receipt): readonly number[] {
  const known = serviceTime();
  if (date === undefined) return [known ?? wall];
  if (known !== undefined) return [date, known];
  return Math.abs(date - wall) <= mostOff ? [date, wall] : [date];
}

/** Reports whether a record closes the gate: an answer of 429 always, one of 502, 503 or 504 if it says for how long. */
export function closesGate(record: LimitRecord): boolean {
  if (record.type !== 'answer') return false;
  const { status, retryAfter = 0 } = record;
  return status === 429 || (isOfGateway(status) && retryAfter > 0);
}

/** Returns what an answer says of its limits, for people. */
export function seenIn({ limit, remaining, reset, date, wall }: AnswerRecord): SeenRateLimit | undefined {
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined;
  // By the service's own clock if it says it, since the local one may be wrong.
  return { limit, remaining, resetAt: wall + Math.max(0, reset - (date ?? wall)), asOf: wall };
}
