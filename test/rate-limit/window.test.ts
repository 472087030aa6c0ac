import { describe, expect, test } from 'vitest';
import { countDown, foreignRate, observe, type SeenWindow, type Window } from '../../src/rate-limit/window.ts';

const told = (changes: Partial<SeenWindow> = {}): SeenWindow => ({
  reset: 60_000,
  limit: 20,
  remaining: 10,
  sentAt: 900,
  receivedAt: 1000,
  asOf: 0,
  meanwhile: 0,
  missed: 0,
  refused: false,
  tolerance: 1000,
  ...changes,
});
const window = (changes: Partial<Window> = {}): Window => ({
  ...observe(undefined, told(), false),
  own: 3,
  ...changes,
});

describe('one more answer', () => {
  test.each<[string, Partial<SeenWindow>, boolean, Partial<Window>]>([
    ['a smaller rest', { remaining: 9 }, false, { left: 9, own: 4 }],
    ['a larger rest, out of order', { remaining: 12 }, false, { left: 10, own: 4 }],
    ['of the next window', { reset: 120_000, remaining: 19 }, false, { reset: 120_000, left: 19, own: 0 }],
    // It crossed the end: what was left before says nothing of what is left now.
    ['of the next window, sent before the last', { reset: 120_000, sentAt: 500 }, false, { left: 10, own: 0 }],
    ['of the window before', { reset: 0, remaining: 0, sentAt: 500 }, false, { reset: 60_000, left: 10, own: 3 }],
    ['of an earlier end, sent since', { reset: 30_000, remaining: 4, sentAt: 1500 }, false, { reset: 30_000, left: 4 }],
    ['of an end one second later', { reset: 61_000, remaining: 12 }, false, { reset: 61_000, left: 10, own: 4 }],
    ['of an end one second earlier', { reset: 59_000, remaining: 9 }, false, { reset: 60_000, left: 9, own: 4 }],
    ['of a window of one second', { reset: 61_000, remaining: 12 }, true, { reset: 61_000, left: 12, own: 0 }],
    ['of the next window, overtaken by others', { reset: 120_000, meanwhile: 4 }, false, { left: 10, own: 4 }],
    ['that was refused, and took nothing', { remaining: 0, refused: true }, false, { left: 0, least: 0, own: 3 }],
    ['of a lower limit', { limit: 10, remaining: 2 }, false, { limit: 10, left: 2, own: 0 }],
  ])('%s', (_what, changes, hadEnded, expected) => {
    expect(observe(window(), told(changes), hadEnded)).toMatchObject(expected);
  });

  test('the first', () => {
    expect(observe(undefined, told(), false)).toMatchObject({ left: 10, own: 0, first: { left: 10, at: 1000 } });
  });
});

test('one that was sent without being told is taken for counted', () => {
  expect(countDown(window())).toMatchObject({ left: 9, least: 10, own: 4 });
});

test.each([
  // left, own, in flight, seconds, rate
  [7, 3, 0, 1, 0],
  [7, 2, 1, 1, 0],
  [7, 2, 0, 1, 1],
  [5, 1, 0, 2, 2],
  [5, 1, 0, 0.1, 4],
  [9, 3, 0, 1, 0],
])(
  'the rate of others %i left of 10 after %i of ours and %i in flight in %f s: %f',
  (left, own, inFlight, seconds, rate) => {
    expect(foreignRate(window({ least: left, own, toldAt: 1000 + seconds * 1000 }), inFlight)).toBe(rate);
  },
);
