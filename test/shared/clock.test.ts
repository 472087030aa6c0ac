import { expect, test } from 'vitest';
import { createSystemClock } from '../../bin/system-clock.ts';

test('rejects a sleep at once with the reason of its signal', async () => {
  const controller = new AbortController();
  const sleep = createSystemClock().sleep(86_400_000, controller.signal);
  controller.abort(new Error('Ctrl-C'));
  await expect(sleep).rejects.toThrow('Ctrl-C');
});

test('calls back at a deadline, and does not take one years ahead for one that has passed', async () => {
  const clock = createSystemClock();
  const passed: string[] = [];
  const far = clock.deadline(2 ** 40, () => passed.push('far'));
  await new Promise<void>((resolve) => void clock.deadline(2, resolve));
  far.clear();
  expect(passed).toEqual([]);
});
