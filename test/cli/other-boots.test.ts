import { hrtime } from 'node:process';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'vitest';
import { serviceOf } from '../../src/settings/key-and-url.ts';
import { createSystemClock } from '../../src/shared/clock.ts';
import { useState } from '../support/recorded-runs.ts';
import { type Shop, test } from '../support/shop.ts';

const stockOf = async (shop: Shop) =>
  Number((await shop.run('inventory get 4 -o csv --no-header -q')).stdout.split(',')[1]);

/** The clock of a container of the same machine whose boot has a name of its own. */
const containerOf = ({ clock }: Shop, boot: string) => ({ ...clock, boot: () => boot });

test('containers that each have a boot of their own add up on one pet', async ({ shop }) => {
  const before = await stockOf(shop);
  const hosts = ['one', 'two', 'three', 'four', 'five'];
  // Real clocks: while one of them waits, the others go on.
  const clock = createSystemClock(hrtime.bigint);
  const results = await Promise.all(
    hosts.map((host) => shop.run('inventory adjust 4 +1 -q', { host, clock: { ...clock, boot: () => host } })),
  );
  expect(results.map(({ code, stderr }) => (code === 0 ? '' : stderr))).toEqual(['', '', '', '', '']);
  expect(await stockOf(shop)).toBe(before + 5);
});

test('a run of another boot is running while its lease is renewed, and waited for once it is killed', async ({
  shop,
}) => {
  const before = await stockOf(shop);
  let sentAt = 0;
  await useState(shop, async ({ history }) => {
    const head = { command: 'inventory apply', env: 'staging', store: undefined, baseUrl: shop.service.url };
    const row = { row: 1, line: 1, petId: 4n, before, after: before + 1, reason: undefined, ref: undefined };
    const log = await history.begin(
      { ...head, service: serviceOf(shop.service.url), scope: 's', user: undefined, unchanged: 0 },
      [row],
    );
    sentAt = shop.clock.monotonic();
    await log.intend([{ row: 1, petId: 4n, expires: sentAt + 30_000 }], undefined);
    const elsewhere = { host: 'box', clock: containerOf(shop, 'box') };
    expect(await shop.json('history list --json', elsewhere)).toMatchObject([{ state: 'running' }]);
    const resume = await shop.run(`inventory apply --resume ${log.run} --yes`, {
      ...elsewhere,
      clock: renewing(shop, 'box'),
    });
    expect(resume).toMatchObject({ code: 7, stderr: expect.stringContaining('still running') });
    // The process dies with its request on the way.
    Object.assign(log, { end: async () => {}, flush: async () => {} });
  });
  const { code } = await shop.run('inventory adjust 4 +1', { host: 'box', clock: containerOf(shop, 'box') });
  expect(code).toBe(0);
  expect(shop.clock.monotonic() - sentAt).toBeGreaterThanOrEqual(30_000);
});

/** While one process of it waits, those of others go on. */
function renewing(shop: Shop, boot: string) {
  const sleep = async (ms: number) => {
    await shop.clock.sleep(ms);
    shop.clock.expireDeadlines(5000);
    await setImmediate();
  };
  return { ...containerOf(shop, boot), sleep };
}
