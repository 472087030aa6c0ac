import { expect, test } from 'vitest';
import {
  type AnswerKind,
  answerKindOf,
  mayArriveLater,
  nextStep,
  type RequestKind,
  waitAfterRefusal,
  waitBeforeRetry,
  withJitter,
} from '../../src/rate-limit/waits.ts';
import fc, { property } from '../support/properties.ts';

const requests: readonly RequestKind[] = ['repeatable', 'write', 'other'];

/** Returns statuses as ranges, like `502–504`, that share a kind. */
function statusesOf(kind: AnswerKind): string {
  const found = Array.from({ length: 400 }, (_, n) => n + 200).filter((status) => answerKindOf(status) === kind);
  const starts = found.filter((status) => !found.includes(status - 1));
  const ends = found.filter((status) => !found.includes(status + 1));
  return starts.map((start, n) => (ends[n] === start ? `${start}` : `${start}–${ends[n]}`)).join(' ');
}

test('decides about another attempt by one table', () => {
  const kinds = [
    'success',
    'redirect',
    'unauthorized',
    'rateLimited',
    'rejected',
    'undecided',
    'givenUp',
    'unsupported',
    'failed',
    'unsent',
    'lost',
  ] as const;
  const rows = kinds.map((kind) => {
    const cells = [kind, statusesOf(kind) || '-', ...requests.map((request) => nextStep(kind, request))];
    return cells
      .map((cell) => cell.padEnd(26))
      .join('')
      .trimEnd();
  });
  const title = ['answer', 'status', ...requests]
    .map((cell) => cell.padEnd(26))
    .join('')
    .trimEnd();
  expect([title, ...rows].join('\n')).toMatchInlineSnapshot(`
    "answer                    status                    repeatable                write                     other
    success                   200–201 203–299           use                       use                       use
    redirect                  300–399                   follow                    follow                    follow
    unauthorized              401                       end                       end                       end
    rateLimited               429                       afterGate                 afterGate                 afterGate
    rejected                  400 402–407 409–428 430–498use                       use                       use
    undecided                 202 408 499               use                       readBack                  use
    givenUp                   502 504 520–599           again                     readBack                  use
    unsupported               501 505                   use                       readBack                  use
    failed                    500 503 506–519           again                     readBack                  use
    unsent                    -                         again                     again                     again
    lost                      -                         again                     readBack                  use"
  `);
});

test('expects a request to be carried out later after answers of those who did not wait for the service', () => {
  const statuses = Array.from({ length: 400 }, (_, n) => n + 200).filter(mayArriveLater);
  expect(statuses).toEqual([202, 408, 499, 502, 504, ...Array.from({ length: 80 }, (_, n) => n + 520)]);
});

const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

property(
  'waits after a 429 as long as asked, and twice as long at least with each episode',
  [fc.option(fc.nat(1e9), { nil: undefined }), fc.integer({ min: 1, max: 8 }), chance],
  (asked, episode, random) => {
    const least = Math.max(asked ?? 60_000, 1000 * 2 ** (episode - 1));
    const wait = waitAfterRefusal(asked, episode, random);
    expect(wait).toBeGreaterThanOrEqual(least);
    expect(wait).toBeLessThanOrEqual(least + Math.min(least / 10, 5000));
  },
);

property('adds a tenth to a wait at most, and never more than 5 s', [fc.nat(1e9), chance], (wait, random) => {
  expect(withJitter(wait, random)).toBeGreaterThanOrEqual(wait);
  expect(withJitter(wait, random)).toBeLessThanOrEqual(wait + Math.min(wait / 10, 5000));
});

test.each([
  [1, 0, 0],
  [1, 1, 500],
  [2, 1, 1000],
  [3, 0.5, 1000],
  [5, 1, 8000],
  [40, 1, 8000],
])('waits before retry %i with a random number of %f: %i ms', (retry, random, wait) => {
  expect(waitBeforeRetry(retry, random)).toBe(wait);
});
