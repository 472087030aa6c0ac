import { expect, test } from 'vitest';
import { Controllers } from '../../src/api/exchange.ts';

test('a controller is used again once nothing listens to it', () => {
  const controllers = new Controllers();
  const first = controllers.take();
  controllers.giveBack(first);
  expect(controllers.take()).toBe(first);
  expect(controllers.take()).not.toBe(first);
});

test('neither is one that was aborted, nor one that something still listens to', () => {
  const controllers = new Controllers();
  const [aborted, heard, assigned] = [controllers.take(), controllers.take(), controllers.take()];
  aborted.abort();
  heard.signal.addEventListener('abort', () => {});
  assigned.signal.onabort = () => {};
  for (const controller of [aborted, heard, assigned]) controllers.giveBack(controller);
  expect([aborted, heard, assigned]).not.toContain(controllers.take());
});
