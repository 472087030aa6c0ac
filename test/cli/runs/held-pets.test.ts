import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { answers, drop } from '../../support/scripted-actions.ts';
import { type Action, tenEach } from '../../support/scripted-service.ts';
import { stateSql } from '../../support/state-sql.ts';
import { openTill } from '../../support/till.ts';

test.for<[string, readonly string[], number | undefined, Action | undefined]>([
  ['whose read uses up the limit', ['adjust 1 +1'], 1, undefined],
  ['that relies on a stock', ['set 1 50 --expect 10'], 1, undefined],
  ['whose read is retried', ['adjust 1 +1'], 2, drop],
  ['whose read is refused', ['adjust 1 +1'], undefined, answers(429, { 'Retry-After': '30' })],
  ['that waits for another command', ['adjust 1 +1', 'adjust 1 +1', 'adjust 1 +1'], 3, undefined],
])('releases pet locks and leases while a command %s waits for the limit', async ([_what, commands, left, onRead]) => {
  const till = await openTill({ stock: tenEach(4), limit: { limit: 4, seconds: 60, ...(left && { left }) } });
  if (onRead !== undefined) till.service.next('GET', onRead);
  const held: unknown[] = [];
  const sleep: typeof till.clock.sleep = async (ms, signal) => {
    // The other commands get time to write their delayed records.
    till.clock.expireDeadlines(1000);
    for (let turn = 0; turn < 20; turn += 1) await setImmediate();
    const pets = 'SELECT pet_id, run FROM leases UNION ALL SELECT pet_id, NULL FROM line';
    if (ms >= 5000) held.push(...(await stateSql(till.folders.state, pets)));
    await till.clock.sleep(ms, signal);
  };
  const options = { clock: { ...till.clock, sleep } };
  const results = await Promise.all(
    commands.map((command) => till.run(`inventory ${command} --max-wait 600`, options)),
  );
  expect(results.map(({ code, stderr }) => (code === 0 ? 0 : stderr))).toEqual(commands.map(() => 0));
  expect([held, Math.max(...till.clock.sleeps) >= 5000]).toEqual([[], true]);
});
