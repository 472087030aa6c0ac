import { describe, expect, test } from 'vitest';
import {
  type Admission,
  admit,
  DAY_MS,
  type LimitRules,
  type Limits,
  UNUSED,
  windowAt,
} from '../../src/service/limits/admission.ts';
import fc, { property } from '../support/properties.ts';
import { NOON } from './support.ts';

interface Decision {
  readonly at: number;
  readonly admission: Admission;
}

/** Decides on requests at these times, one after another. */
function decide(times: readonly number[], limits: Limits, rules: LimitRules): Decision[] {
  let usage = UNUSED;
  return times.map((at) => {
    const admission = admit(usage, limits, rules, at);
    usage = admission.usage;
    return { at, admission };
  });
}

const limits = fc.record({ minute: fc.bigInt({ min: 0n, max: 6n }), day: fc.bigInt({ min: 0n, max: 30n }) });
const rules = fc.record({
  minuteMs: fc.constantFrom(1_000, 4_000, 60_000),
  ban: fc.option(fc.record({ strikes: fc.integer({ min: 0, max: 5 }), seconds: fc.integer({ min: 1, max: 400 }) })),
});
/** Increasing times around midnight, in steps of 0 to 40 s. */
const times = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 40_000 })), { maxLength: 120 })
  .map((steps) => {
    let now = NOON + DAY_MS / 2 - 300_000;
    return steps.map((step) => {
      now += step;
      return now;
    });
  });

describe('admission of any requests at any time', () => {
  property('admits no more requests in a window than its limit', [times, limits, rules], (at, limit, rule) => {
    const admitted = decide(at, limit, rule).filter(({ admission }) => admission.outcome === 'admitted');
    for (const [length, most] of [
      [rule.minuteMs, limit.minute],
      [DAY_MS, limit.day],
    ] as const) {
      const counts = new Map<number, bigint>();
      for (const { at: now } of admitted) {
        const window = Math.floor(now / length);
        counts.set(window, (counts.get(window) ?? 0n) + 1n);
      }
      for (const count of counts.values()) expect(count).toBeLessThanOrEqual(most);
    }
  });

  property(
    'admits a request while there is room, unless the key is banned',
    [times, limits, rules],
    (at, limit, rule) => {
      const decisions = decide(at, limit, rule);
      decisions.forEach(({ at: now, admission }, index) => {
        const before = decisions.slice(0, index).filter((decision) => decision.admission.outcome === 'admitted');
        const inWindow = (length: number) =>
          before.filter((decision) => Math.floor(decision.at / length) === Math.floor(now / length)).length;
        const hasRoom = inWindow(rule.minuteMs) < limit.minute && inWindow(DAY_MS) < limit.day;
        if (hasRoom) expect(admission.outcome).not.toBe('limited');
        else expect(admission.outcome).not.toBe('admitted');
      });
    },
  );

  const someLimits = limits.filter(({ minute, day }) => minute > 0n && day > 0n);

  property(
    'admits a request at the time that a refusal names, and not before',
    [times, someLimits, rules],
    (at, limit, rule) => {
      for (const { admission } of decide(at, limit, rule)) {
        if (admission.outcome === 'admitted') continue;
        const { usage, retryAt } = admission;
        expect(admit(usage, limit, { ...rule, ban: rule.ban }, retryAt).outcome).toBe('admitted');
        expect(admit(usage, limit, rule, retryAt - 1).outcome).not.toBe('admitted');
      }
    },
  );

  property(
    'reports the window with fewer requests left, or the day if both have equally many',
    [times, limits, rules],
    (at, limit, rule) => {
      for (const { at: now, admission } of decide(at, limit, rule)) {
        const { minute, day } = admission.usage;
        const [ofMinute, ofDay] = [limit.minute - minute.used, limit.day - day.used];
        const isMinute = (ofMinute < 0n ? 0n : ofMinute) < (ofDay < 0n ? 0n : ofDay);
        const [shown, left, ends] = isMinute ? [limit.minute, ofMinute, minute] : [limit.day, ofDay, day];
        const resetAt = ends.start + ends.length;
        expect(admission.shown).toEqual({ limit: shown, remaining: left < 0n ? 0n : left, resetAt });
        expect(admission.shown.resetAt).toBeGreaterThan(now);
      }
    },
  );
});

test.each([
  ['the same window in its last millisecond', 59_999, 60_000, false],
  ['another window after its end', 60_000, 60_000, true],
  ['the same window if the clock was set back', -86_400_000, 60_000, false],
  ['another window a day later', 86_400_000, 60_000, true],
  ['the same window if the length has changed', 59_999, 4_000, false],
  ['another window after its end if the length has changed', 60_000, 4_000, true],
])('selects the rate window of a request: %s', (_name, after, length, isOther) => {
  const window = { start: NOON, length: 60_000, used: 5n };
  const expected = isOther ? { start: NOON + after, length, used: 0n } : window;
  expect(windowAt(window, NOON + after, length)).toEqual(expected);
});
