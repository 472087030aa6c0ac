import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { HttpResponse } from '../../../src/api/transport.ts';
import { commitThenHang } from '../../support/scripted-actions.ts';
import { openShop, stockOf } from '../../support/shop.ts';
import { killAt, test } from '../../support/till.ts';

test.each([
  ['adjust 2 +7', 'adjust 2 +7', 14],
  ['adjust 2 +7', 'set 2 7', undefined],
  ['set 2 7', 'set 2 7', undefined],
  ['set 2 7', 'set 2 8', undefined],
])('adds both adjusts, or reports a conflict, if %s loses its response during %s', async (command, other, added) => {
  const shop = await openShop({ pets: 6, limits: { minute: 1_000_000, day: 1_000_000 } });
  const before = (await stockOf(shop)).get('2') ?? 0;
  shop.service.setFaults(['PATCH /inventory/*:first=1:reset']);
  let hasFailed = false;
  let isStopped = false;
  const { code, stderr } = await shop.run(`inventory ${command}`, {
    around: async (send) => {
      if (hasFailed && !isStopped) {
        isStopped = true;
        await shop.exits(`inventory ${other}`, 0);
      }
      return send().catch((error) => {
        hasFailed = true;
        throw error;
      });
    },
  });
  const isConflict = /run \S+ \(inventory \w+\) has written the stock since/.test(stderr);
  // If both commands adjust, both changes count.
  const stock = added === undefined ? Number(other.at(-1)) : before + added;
  expect({ code, isStopped, isConflict, stock: (await stockOf(shop)).get('2') }).toEqual({
    code: added === undefined ? 8 : 0,
    isStopped: true,
    isConflict: added === undefined,
    stock,
  });
});

test.for([
  ['adjust 1 +5', { code: 0, stock: 13 }],
  ['set 1 15 --expect 10', { code: 7, stock: 8 }],
] as const)('rereads the stock if %s was suspended before its write', async ([command, end], { till }) => {
  let sent = 0;
  const { code } = await till.run(`inventory ${command}`, {
    around: (send) => {
      sent += 1;
      if (sent === 2) {
        till.clock.advance(3000);
        till.service.sell(1, 2);
      }
      return send();
    },
  });
  expect({ code, stock: till.service.stockOf(1) }).toEqual(end);
});

test('adds a delta only once if its request is still in flight when the run is resumed', async ({ till }) => {
  const killed = new Promise<'killed'>((resolve) => {
    let sent = 0;
    const around = (send: () => Promise<HttpResponse>) => {
      sent += 1;
      if (sent === 1) return send();
      resolve('killed');
      return new Promise<HttpResponse>(() => {});
    };
    void till.run(['inventory', 'apply', till.file('a.csv', 'petId,delta\n1,5\n'), '--yes'], { around });
  });
  expect(await killed).toBe('killed');
  // The lease of the process has ended, but its request may still arrive for 30 s.
  till.clock.advance(16_000);
  let hasArrived = false;
  const onStderr = (text: string) => {
    if (hasArrived || !text.includes('may still reach')) return;
    hasArrived = true;
    till.service.sell(1, -5);
  };
  const resumed = await till.run('inventory apply --resume latest --yes', { onStderr });
  expect([resumed.code, hasArrived, till.service.stockOf(1)]).toEqual([0, true, 15]);
});

test('finishes an adjust if a suspended command records its write of the same pet meanwhile', async ({ till }) => {
  let wake = () => {};
  const awake = new Promise<void>((resolve) => {
    wake = resolve;
  });
  let sent = 0;
  const stopped = till.run('inventory adjust 1 +5', {
    around: async (send) => {
      sent += 1;
      const answer = await send();
      if (sent === 2) await awake;
      return answer;
    },
  });
  await till.service.untilSeen('PATCH', 1);
  // The lease of the suspended command has ended, and its request can't be in flight any more.
  till.clock.advance(60_000);
  let isRead = false;
  const { code, stderr } = await till.run('inventory adjust 1 +2', {
    around: async (send) => {
      if (!isRead) {
        isRead = true;
        wake();
        expect(await stopped).toMatchObject({ code: 0 });
      }
      return send();
    },
  });
  expect({ code, stderr, stock: till.service.stockOf(1) }).toEqual({ code: 0, stderr: expect.any(String), stock: 17 });
});

test('exits with 1 if the state is removed during a resume with nothing to write', async ({ till }) => {
  const run = await killAt(till, commitThenHang, 'inventory set 1 50 --expect 10');
  const { code, stderr } = await till.run(`inventory apply --resume ${run} --yes`, {
    onStderr: (text) => {
      if (text.includes('were already written')) rmSync(join(till.folders.state, 'state.db'));
    },
  });
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('All changes were written, but') });
});

test('exits with 1 and reports the stock as set if the state is removed after the response', async ({ till }) => {
  const around = async (send: () => Promise<HttpResponse>) => {
    const answer = await send();
    if (till.service.seen('PATCH').length === 1) rmSync(join(till.folders.state, 'state.db'), { force: true });
    return answer;
  };
  const { code, stderr } = await till.run('inventory set 1 50 --expect 10', { around });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining('The stock of pet 1 was set to 50, but'),
  });
});

test('saves deltas to --failed-out without suggesting a resume if apply loses its state', async ({ till }) => {
  const [file, failed] = [till.file('a.csv', 'petId,delta\n1,5\n2,5\n'), till.file('failed.csv', '')];
  const { code, stderr } = await till.run(`inventory apply ${file} --yes --failed-out ${failed}`, {
    onSent: ({ method }) => method === 'PATCH' && rmSync(join(till.folders.state, 'state.db'), { force: true }),
  });
  const saved = readFileSync(failed, 'utf8').split('\n').slice(1);
  expect([code, saved, /resume/.test(stderr)]).toEqual([1, ['1,,,,5,,', '2,,,,5,,', ''], false]);
});

test('shows the stock that an adjust wrote without a response, although a later adjust has changed it', async () => {
  const shop = await openShop({
    pets: 6,
    limits: { minute: 1000, day: 1000 },
    faults: ['PATCH *:first=1:commit-then-drop'],
  });
  const before = (await stockOf(shop)).get('2') ?? 0;
  let hasFailed = false;
  const { code, stdout } = await shop.run('inventory adjust 2 +7 --json', {
    around: async (send) => {
      if (hasFailed) await shop.exits('inventory adjust 2 +1', 0);
      hasFailed = false;
      return send().catch((error) => {
        hasFailed = true;
        throw error;
      });
    },
  });
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { before, quantity: before + 7 }]);
});
