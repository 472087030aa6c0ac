import { expect, test } from 'vitest';
import { randomBytes } from '../../src/shared/random-bytes.ts';

test.each([
  ['the device of the system', undefined],
  ['no device', '/nonexistent/urandom'],
])('%s: each draw is another', (_case, device) => {
  const draws = Array.from({ length: 1000 }, () => randomBytes(6, device).toString('hex'));
  expect(new Set(draws).size).toBe(1000);
  expect(draws.every((draw) => draw.length === 12)).toBe(true);
});

test('a file in the place of the device is not believed', () => {
  expect(randomBytes(6, import.meta.filename).toString()).not.toBe('import');
});
