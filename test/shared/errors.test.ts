import { expect, test } from 'vitest';
import { FailureError, UnavailableError } from '../../src/shared/errors.ts';

test('an error with changes is of the same kind and keeps the rest', () => {
  const service = { code: 'down', message: 'Down.', status: 503 };
  const error = new UnavailableError('Down.', {
    status: 503,
    service,
    retryAfterSeconds: 7,
    hint: 'wait',
    lines: ['a'],
  });
  const changed = error.with({ message: 'Nothing was written: Down.', unsent: true, hint: undefined });
  expect(changed).toBeInstanceOf(UnavailableError);
  expect(changed).toMatchObject({
    name: 'UnavailableError',
    kind: 'unavailable',
    message: 'Nothing was written: Down.',
    status: 503,
    service,
    retryAfterSeconds: 7,
    lines: ['a'],
    unsent: true,
    mayStillArrive: false,
  });
  expect(changed.hint).toBeUndefined();
  expect(changed.cause).toBe(error);
  expect(error.unsent).toBe(false);
});

test('its cause is the first cause', () => {
  const cause = new Error('ENOSPC');
  expect(new FailureError('full', { cause }).with({ message: 'fuller' }).with({ unsent: true })).toMatchObject({
    message: 'fuller',
    unsent: true,
    cause,
  });
});
