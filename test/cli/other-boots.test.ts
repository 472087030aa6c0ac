import { hrtime } from 'node:process';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'vitest';
import { serviceNameOf } from '../../src/settings/key-and-url.ts';
import { createSystemClock } from '../../src/shared/clock.ts';
import { headOf, plannedRow, useState } from '../support/recorded-runs.ts';
import { type Shop, stockOf, test } from '../support/shop.ts';

/** A container with a boot id of its own. */
const container = ({ clock }: Shop) => ({ host: 'box', clock: { ...clock, boot: () => 'box' } });

test('adds up adjusts of one pet from several containers', async ({ shop }) => {
  // Uses a real clock, so that the other commands continue while one waits.
  const clock = createSystemClock(hrtime.bigint);
  const adjust = (host: string) =>
    shop.exits('inventory adjust 4 +1 -q', 0, [], { host, clock: { ...clock, boot: () => host } });
  await Promise.all(['one', 'two', 'three', 'four', 'five'].map(adjust));
  expect((await stockOf(shop)).get('4')).toBe(39 + 5);
});

/** A container with the boot id of its machine, as in Docker. */
const sameBoot = ({ clock }: Shop) => ({ host: undefined, clock });

test.for([
  ['another boot id', container],
  ['another host name', sameBoot],
] as const)('waits in a container with %s for a request of a run on its host', async ([, other], { shop }) => {
  const { host, clock } = other(shop);
  let sentAt = 0;
  await useState(shop, async ({ history }) => {
    const row = plannedRow({ petId: 4n, before: 39, after: 40, result: 'pending' }, 0);
    const log = await history.begin({ ...headOf(shop), serviceName: serviceNameOf(shop.service.url) }, [row]);
    sentAt = shop.clock.monotonic();
    await log.intend([{ row: 1, petId: 4n, inFlightUntil: sentAt + 30_000 }], undefined);
    expect(await shop.json('history list --json', { host, clock })).toMatchObject([{ state: 'running' }]);
    const sleep = async (ms: number) => {
      await shop.clock.sleep(ms);
      shop.clock.expireDeadlines(5000);
      await setImmediate();
    };
    const resume = `inventory apply --resume ${log.run} --yes`;
    await shop.exits(resume, 7, ['Waiting up to 15 s', 'still running'], { host, clock: { ...clock, sleep } });
    // The process dies with its request in flight.
    Object.assign(log, { end: async () => {}, flush: async () => {} });
  });
  await shop.exits('inventory adjust 4 +1', 0, [], { host, clock });
  expect(shop.clock.monotonic() - sentAt).toBeGreaterThanOrEqual(30_000);
});
