import { describe, expect, it, test } from 'vitest';
import { errorJson, errorText } from '../../src/output/error-text.ts';
import { type RateLimitFacts, rateLimitLine } from '../../src/output/rate-limit-text.ts';
import { type ColorSources, createPaint, plainPaint, wantsColor } from '../../src/output/terminal.ts';
import { formatDuration } from '../../src/output/time.ts';
import { UsageError } from '../../src/shared/errors.ts';
import fc, { property } from '../support/seeded-fast-check.ts';
import { visible } from './render.ts';

describe('formatDuration', () => {
  test.each([
    [-5, '0 s'],
    [0.2, '1 s'],
    [59.5, '1 min'],
    [200, '3 min 20 s'],
    [3599.5, '1 h'],
    [86_399, '1 d'],
    [Number.NaN, 'an unknown time'],
    [Number.POSITIVE_INFINITY, 'an unknown time'],
  ])('%d seconds: %s', (seconds, text) => expect(formatDuration(seconds)).toBe(text));

  const sizes = { s: 1, min: 60, h: 3600, d: 86_400 } as Readonly<Record<string, number>>;

  property('is the time, to its smaller unit', [fc.integer({ min: 0, max: 10_000_000 })], (seconds) => {
    const parts = [...formatDuration(seconds).matchAll(/(\d+) (s|min|h|d)/g)];
    const total = parts.reduce((sum, [, count, unit]) => sum + Number(count) * (sizes[unit ?? ''] ?? 0), 0);
    expect(total).toBeGreaterThanOrEqual(seconds);
    expect(total - seconds).toBeLessThan(seconds < 3600 ? 1 : seconds < 86_400 ? 60 : 3600);
  });
});

test.each<[RateLimitFacts, string]>([
  [{ limit: 60n, remaining: 57n, resetInSeconds: 42 }, 'Rate limit: 57 of 60 left, resets in 42 s'],
  [{ limit: 1000n, remaining: 0n, resetInSeconds: 33_120 }, 'Rate limit: 0 of 1000 left, resets in 9 h 12 min'],
  [{ limit: 60n, remaining: 57n }, 'Rate limit: 57 of 60 left'],
  [{ remaining: 57n, resetInSeconds: 0 }, 'Rate limit: 57 left, resets now'],
  [{ limit: 60n, remaining: 59n, resetInSeconds: 60 }, 'Rate limit: 59 of 60 left, resets in 60 s'],
  [{ limit: 60n, resetInSeconds: 200 }, 'Rate limit: 60 requests, resets in 3 min 20 s'],
  [{ resetInSeconds: 1 }, 'Rate limit: resets in 1 s'],
  [{}, 'Rate limit: unknown'],
])('rateLimitLine: %o', (facts, line) => expect(rateLimitLine(facts)).toBe(line));

describe('errors', () => {
  const service = { code: 'NO_SUCH_PET', message: 'No pet\x1b[2J 7', status: 404 };

  it('are two lines', () => {
    const error = new UsageError('no URL for staging', { hint: 'petstock config set-url https://… --env staging' });
    expect(errorText(error, plainPaint)).toBe(
      'Error: no URL for staging\nHint: petstock config set-url https://… --env staging\n',
    );
  });

  it('have no hint where there is nothing to do', () => {
    expect(errorText({ message: 'the disk is full' }, plainPaint)).toBe('Error: the disk is full\n');
  });

  it('are harmless, each on one line', () => {
    const hint = 'petstock\x07 status\n';
    expect(errorText({ message: 'a\nHint: b\x1b]0;x\x07\u202ec', hint }, plainPaint)).toBe(
      'Error: a Hint: bc\nHint: petstock status\n',
    );
  });

  it('have colour', async () => {
    expect(visible(errorText({ message: 'a', hint: 'b' }, await createPaint(true)))).toBe(
      '␛[1m␛[31mError:␛[39m␛[22m a\n␛[1m␛[36mHint:␛[39m␛[22m b\n',
    );
  });

  it('are one line of JSON without what is absent', () => {
    expect(errorJson(new UsageError('say "what"'), 2)).toBe(
      '{"error":{"code":"usage","kind":"usage","message":"say \\"what\\"","exitCode":2}}\n',
    );
  });

  it('keep the order, and the words of the service', () => {
    const error = {
      code: 'not_found',
      kind: 'not-found',
      message: 'no such pet',
      status: 404,
      hint: 'petstock inventory list',
    };
    expect(errorJson({ ...error, service, retryAfterSeconds: 12 }, 9)).toBe(
      '{"error":{"code":"NO_SUCH_PET","kind":"not-found","message":"No pet\\u001b[2J 7","status":404,"exitCode":9,"hint":"petstock inventory list","retryAfterSeconds":12}}\n',
    );
    expect(errorJson({ ...error, hint: '', retryAfterSeconds: 0 }, 9)).toBe(
      '{"error":{"code":"not_found","kind":"not-found","message":"no such pet","status":404,"exitCode":9,"hint":"","retryAfterSeconds":0}}\n',
    );
  });
});

describe('wantsColor', () => {
  const terminal = { env: {}, isTerminal: true };
  test.each<[ColorSources, boolean]>([
    [terminal, true],
    [{ ...terminal, isTerminal: false }, false],
    [{ ...terminal, flag: 'auto' }, true],
    [{ flag: 'auto', env: {}, isTerminal: false }, false],
    [{ flag: 'always', env: { FORCE_COLOR: '0', NO_COLOR: '1', TERM: 'dumb' }, isTerminal: false }, true],
    [{ flag: 'never', env: { FORCE_COLOR: '1' }, isTerminal: true }, false],
    [{ env: { FORCE_COLOR: '1', NO_COLOR: '1', TERM: 'dumb' }, isTerminal: false }, true],
    [{ env: { FORCE_COLOR: '' }, isTerminal: false }, true],
    [{ env: { FORCE_COLOR: '3' }, isTerminal: false }, true],
    [{ env: { FORCE_COLOR: '0' }, isTerminal: true }, false],
    [{ env: { FORCE_COLOR: 'false' }, isTerminal: true }, false],
    [{ env: { NO_COLOR: '1' }, isTerminal: true }, false],
    [{ env: { NO_COLOR: '0' }, isTerminal: true }, false],
    [{ env: { NO_COLOR: '' }, isTerminal: true }, true],
    [{ env: { TERM: 'dumb' }, isTerminal: true }, false],
    [{ env: { TERM: 'xterm' }, isTerminal: true }, true],
  ])('%j: %s', (sources, expected) => expect(wantsColor(sources)).toBe(expected));
});

test('paint without colour gives the text as it is', async () => {
  expect(await createPaint(false)).toBe(plainPaint);
  expect(plainPaint.bold('x')).toBe('x');
});
