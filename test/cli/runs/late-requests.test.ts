import { describe, expect } from 'vitest';
import { openState } from '../../../src/state/open-state.ts';
import {
  type Action,
  answers,
  commitThenAnswer,
  commitThenDrop,
  commitThenHang,
  drop,
  type Exchange,
  hang,
} from '../../support/scripted-service.ts';
import { killAt, openTill, type Till, test } from '../../support/till.ts';

const apply = (till: Till) => `inventory apply ${till.file('a.csv', 'petId,quantity\n1,50\n')} --yes`;
/** The words that are true only if no request can have been carried out, now or later. */
const certain = /nothing was written|was not set|not attempted|nothing sent/i;

describe('a resume after a killed process', () => {
  test('reports a row as unknown on resume if a kill lost its response and the stock was sold since', async ({
    till,
  }) => {
    const run = await killAt(till, commitThenHang, apply(till));
    till.service.sell(1, 3);
    for (const again of [`inventory apply --resume ${run} --yes`, `inventory apply --resume ${run} --yes --json`]) {
      const { code, stderr } = await till.run(again);
      expect({ again, code }).toEqual({ again, code: 8 });
      expect(stderr).not.toMatch(certain);
      expect(stderr).toMatch(/not known whether/);
    }
    expect(till.service.stockOf(1)).toBe(47);
  });

  test.for([
    ['Ctrl-C while a request may arrive', ' --yes', 130, 'Interrupted. 1 of 2 changes was written; it is not known'],
    ['a guard', ' --yes --max-changes 0', 2, 'othing more was written'],
    ['the answer no', '', 2, 'othing more was written'],
  ] as const)(
    'does not claim that nothing was written if a resume is stopped by %s',
    async ([_by, flags, exit, told], { till }) => {
      const file = till.file('a.csv', 'petId,quantity\n1,50\n2,60\n');
      const run = await killAt(till, commitThenHang, `inventory apply ${file} --yes --concurrency 1 --timeout 90`);
      till.service.sell(1, 3);
      const { code, stderr } = await till.run(`inventory apply --resume ${run}${flags}`, {
        terminal: 200,
        prompts: { confirm: async () => false },
        ctrlCAt: exit === 130 ? /may still reach/ : undefined,
      });
      expect({ code, stderr }).toEqual({ code: exit, stderr: expect.stringContaining(told) });
      expect(stderr).not.toMatch(certain);
    },
  );
});

test('claims nothing from a list that was begun while the request could still arrive', async ({ till }) => {
  let late: Exchange | undefined;
  const keep: Action = (exchange) => {
    late = exchange;
  };
  // A request may arrive for 33 s; the list is begun after 28 s and ends after 36 s.
  await killAt(till, keep, 'inventory adjust 1 +5', 28_000);
  till.service.next('GET', (exchange) => {
    till.clock.advance(8000);
    exchange.answerNormally();
    late?.commit();
  });
  const { stdout, stderr } = await till.exits('inventory apply --resume latest --yes --retries 0 --json', 8);
  expect(stderr).not.toMatch(certain);
  expect(JSON.parse(stdout)).toMatchObject({ rows: [{ result: 'unknown' }] });
  await till.exits('inventory apply --resume latest --yes', 0);
  expect(till.service.stockOf(1)).toBe(15);
});

test('adjusts a pet after waiting for a request of a killed command', async ({ till }) => {
  await killAt(till, hang, 'inventory adjust 1 +5', 0);
  await till.exits('inventory adjust 1 +1', 0, 'A request of run');
  expect(till.service.stockOf(1)).toBe(11);
});

test('reads the stock again if an older request has arrived since the plan, and can no longer arrive', async ({
  till,
}) => {
  let late: Exchange | undefined;
  const keep: Action = (exchange) => {
    late = exchange;
  };
  await killAt(till, keep, 'inventory adjust 1 +5', 32_000);
  const confirm = async () => {
    late?.commit();
    till.clock.advance(1500);
    return true;
  };
  const file = till.file('a.csv', 'petId,delta\n1,1\n');
  await till.exits(`inventory apply ${file}`, 0, '', { terminal: 100, prompts: { confirm } });
  expect(till.service.stockOf(1)).toBe(16);
});

test('reads the stock again if another command has written although this one had the turn', async ({ till }) => {
  const openWithoutLock: typeof openState = async (options) => {
    const state = await openState(options);
    const takeTurn = state.takeTurn.bind(state);
    state.takeTurn = async (...wanted) => {
      const turn = await takeTurn(...wanted);
      await turn.release();
      return turn;
    };
    return state;
  };
  let isFirst = true;
  await till.exits('inventory adjust 1 +1', 0, '', {
    openState: openWithoutLock,
    around: async (send) => {
      const answer = await send();
      if (isFirst) {
        isFirst = false;
        await till.exits('inventory adjust 1 +5', 0);
      }
      return answer;
    },
  });
  expect(till.service.stockOf(1)).toBe(16);
});

test('waits for the length of a request if the clock was a day ahead when it was sent', async ({ till }) => {
  const ahead = { ...till.clock, now: () => till.clock.now() + 86_400_000 };
  const run: Till['run'] = (command, options) => till.run(command, { ...options, clock: ahead });
  await killAt({ ...till, run }, hang, 'inventory adjust 1 +5', 0);
  const began = till.clock.monotonic();
  await till.exits('inventory adjust 1 +1', 0, 'A request of run');
  expect(till.clock.monotonic() - began).toBeLessThan(40_000);
});

test('reports a set as unknown after a committed 503, a 429 and Ctrl-C', async ({ till }) => {
  till.service.next('PATCH', async (exchange) => {
    exchange.commit();
    till.service.sell(1, 43);
    await answers(503)(exchange);
  });
  till.service.always('PATCH', answers(429, { 'Retry-After': '60' }));
  const { code, stderr } = await till.run('inventory set 1 50', {
    ctrlCAt: () => till.service.seen('PATCH').length === 2,
  });
  expect({ code, stock: till.service.stockOf(1) }).toEqual({ code: 130, stock: 7 });
  expect(stderr).not.toMatch(certain);
  expect(stderr).toContain('It is not known whether the stock of pet 1 was set');
  expect(await till.rows()).toMatchObject([{ result: 'unknown' }]);
});

describe('a write that the stock does not show', () => {
  test.each<[what: string, first: Action, others: Action, exit: number]>([
    ['a 503, and a 401 to the next', answers(503), answers(401), 4],
    ['a 503 each time', answers(503), answers(503), 5],
    ['a 503, and a 429 with hours to wait', answers(503), answers(429, { 'Retry-After': '7200' }), 6],
  ])('does not report a change as unwritten if it may still arrive: %s', async (_what, first, others, exit) => {
    for (const command of ['apply', 'inventory set 1 50 --expect 10'] as const) {
      const till = await openTill();
      let late: Exchange | undefined;
      till.service.next('PATCH', async (exchange) => {
        late = exchange;
        await first(exchange);
      });
      till.service.always('PATCH', others);
      const { code, stderr } = await till.run(command === 'apply' ? apply(till) : command);
      expect({ command, code }).toEqual({ command, code: exit });
      expect(stderr).not.toMatch(certain);
      expect(stderr).toMatch(/no change has reached the stock so far/i);
      late?.commit();
      expect((await till.run('history list -o table')).stdout).not.toMatch(certain);
    }
  });
});

// 524: a CDN has given up on the service, which may still carry it out.
const unsure = [202, 524];

test.for(unsure)('waits before the next set if a set to the current stock got a %i', async (status, { till }) => {
  let late: Exchange | undefined;
  till.service.next('PATCH', async (exchange) => {
    late = exchange;
    await answers(status)(exchange);
  });
  expect(await till.run('inventory set 1 10')).toMatchObject({ code: 0 });
  const sleep: typeof till.clock.sleep = (ms, signal) => {
    late?.commit();
    late = undefined;
    return till.clock.sleep(ms, signal);
  };
  const { code, stderr } = await till.run('inventory set 1 12 --read-first', { clock: { ...till.clock, sleep } });
  expect({ code, stock: till.service.stockOf(1), late }).toEqual({ code: 0, stock: 12, late: undefined });
  expect(stderr).toContain('may still reach the service');
});

test('tells of a wait of more than 10 s for an earlier request also off a terminal', async ({ till }) => {
  till.service.next('PATCH', commitThenDrop);
  expect(await till.run('inventory set 1 12')).toMatchObject({ code: 0 });
  const { code, stderr } = await till.run('inventory set 1 13 -q');
  expect(code).toBe(0);
  expect(stderr).toMatch(/^A request of run \S+ may still reach the service; continuing in \d\d s\.\n$/);
});

test('does not wait before the next set if the stock shows the previous write', async () => {
  for (const action of [commitThenDrop, commitThenAnswer(504)]) {
    const till = await openTill();
    till.service.next('PATCH', action);
    await till.run('inventory set 1 50 --expect 10');
    const { code, stderr } = await till.run('inventory set 1 12 --expect 50');
    expect({ code, stderr: stderr.includes('may still') }).toEqual({ code: 0, stderr: false });
  }
});

test('does not wait before the next set if the service has answered the one before with a 503', async ({ till }) => {
  till.service.next('PATCH', answers(503));
  await till.exits('inventory set 1 50 --retries 0', 8);
  const { stderr } = await till.exits('inventory set 1 12', 0);
  expect(stderr).not.toContain('may still reach');
});

test.for<[what: string, first: Action, command: string, exit: number, result: string]>([
  ['may arrive later', drop, 'inventory set 1 50 --expect 10', 8, 'unknown'],
  ['may have arrived, as no stock was read before', answers(503), 'inventory set 1 50', 8, 'unknown'],
  ['had not arrived', answers(503), 'inventory set 1 50 --expect 10', 10, 'failed'],
])(
  'judges a change that was refused when it was sent again, and whose first request %s',
  async ([_what, first, command, exit, result], { till }) => {
    till.service.next('PATCH', first, answers(422));
    await till.exits(command, exit);
    expect(await till.rows()).toMatchObject([{ result }]);
  },
);

const lost = ['EHOSTUNREACH', 'ECONNREFUSED'];

test.for(lost)(
  'reads the stock back after %s on an open connection, and counts the row as applied',
  async (code, { till }) => {
    let sent = 0;
    const result = await till.run('inventory set 1 50 --expect 10', {
      around: async (send) => {
        sent += 1;
        const answer = await send();
        if (sent === 2) throw Object.assign(new Error(`read ${code}`), { code, syscall: 'read' });
        return answer;
      },
    });
    const requests = till.service.requests.map(({ method }) => method);
    expect({ exit: result.code, requests }).toEqual({ exit: 0, requests: ['GET', 'PATCH', 'GET'] });
    expect(await till.rows()).toMatchObject([{ result: 'applied' }]);
  },
);
