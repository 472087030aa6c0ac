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
import fc, { property } from '../support/seeded-fast-check.ts';
import { NOON } from './support.ts';

interface Decision {
  readonly at: number;
  readonly admission: Admission;
}

/** Decides requests at these times, one after another. */
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
/** Times that go ahead in steps of 0 to 40 s, around midnight. */
const times = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 40_000 })), { maxLength: 120 })
  .map((steps) => {
    let now = NOON + DAY_MS / 2 - 300_000;
    return steps.map((step) => {
      now += step;
      return now;
    });
  });

function mostInOneWindow(admitted: readonly number[], length: number): number {
  const counts = new Map<number, number>();
  for (const at of admitted) {
    const window = Math.floor(at / length);
    counts.set(window, (counts.get(window) ?? 0) + 1);
  }
  return Math.max(0, ...counts.values());
}

describe('whatever is asked when', () => {
  property('no window admits more than its limit', [times, limits, rules], (at, limit, rule) => {
    const admitted = decide(at, limit, rule).filter(({ admission }) => admission.outcome === 'admitted');
    const moments = admitted.map((decision) => decision.at);
    expect(mostInOneWindow(moments, rule.minuteMs)).toBeLessThanOrEqual(Number(limit.minute));
    expect(mostInOneWindow(moments, DAY_MS)).toBeLessThanOrEqual(Number(limit.day));
  });

  property(
    'nobody is refused while both windows have room, unless banned',
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

  property('is admitted from the moment on that a refusal names', [times, someLimits, rules], (at, limit, rule) => {
    for (const { admission } of decide(at, limit, rule)) {
      if (admission.outcome === 'admitted') continue;
      const { usage, retryAt } = admission;
      expect(admit(usage, limit, { ...rule, ban: rule.ban }, retryAt).outcome).toBe('admitted');
      expect(admit(usage, limit, rule, retryAt - 1).outcome).not.toBe('admitted');
    }
  });

  property('the window with less remaining is shown, in the future', [times, limits, rules], (at, limit, rule) => {
    for (const { at: now, admission } of decide(at, limit, rule)) {
      const { minute, day } = admission.usage;
      const rest = [limit.minute - minute.used, limit.day - day.used].map((left) => (left < 0n ? 0n : left));
      const least = rest.reduce((one, other) => (one < other ? one : other));
      expect(admission.shown.remaining).toBe(least);
      expect(admission.shown.resetAt).toBeGreaterThan(now);
    }
  });
});

describe('a window', () => {
  const length = 60_000;
  const window = { start: NOON, length, used: 5n };

  test.each([
    ['lasts to its last millisecond', NOON + 59_999, window],
    ['is another one from the next', NOON + 60_000, { start: NOON + 60_000, length, used: 0n }],
    ['stays however far a clock is set back', NOON - 86_400_000, window],
    ['is another one after long', NOON + 86_400_000, { start: NOON + 86_400_000, length, used: 0n }],
  ])('%s', (_name, now, expected) => {
    expect(windowAt(window, now, length)).toEqual(expected);
  });

  test.each([
    ['of another length is kept to its end', NOON + 59_999, window],
    ['of another length is given up at its end', NOON + 60_000, { start: NOON + 60_000, length: 4_000, used: 0n }],
  ])('%s', (_name, now, expected) => {
    expect(windowAt(window, now, 4_000)).toEqual(expected);
  });
});
