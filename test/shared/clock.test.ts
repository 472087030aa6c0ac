import { expect, test } from 'vitest';
import { createSystemClock } from '../../src/shared/clock.ts';

test('rejects a sleep at once with the reason of its signal', async () => {
  const controller = new AbortController();
  const sleep = createSystemClock(process.hrtime.bigint).sleep(86_400_000, controller.signal);
  controller.abort(new Error('Ctrl-C'));
  await expect(sleep).rejects.toThrow('Ctrl-C');
});

test('calls back at a deadline, and does not take one years ahead for one that has passed', async () => {
  const clock = createSystemClock(process.hrtime.bigint);
  const passed: string[] = [];
  const far = clock.deadline(2 ** 40, () => passed.push('far'));
  await new Promise<void>((resolve) => void clock.deadline(2, resolve));
  far.clear();
  expect(passed).toEqual([]);
});
