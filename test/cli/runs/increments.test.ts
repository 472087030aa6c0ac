import { describe, expect } from 'vitest';
import type { Clock } from '../../../src/shared/clock.ts';
import type { RunOptions } from '../../support/context.ts';
import {
  type Action,
  answerForPet,
  answers,
  commitThenAnswer,
  commitThenDrop,
  drop,
  normally,
  tenEach,
} from '../../support/scripted-service.ts';
import { openTill, type Till, test } from '../../support/till.ts';

/** Returns a listener of stderr that adds to a pet, as another client, once the till waits for the rate limit. */
function whileWaiting(till: Till, petId: number, units: number) {
  let isDone = false;
  return (text: string): void => {
    if (isDone || !/^(Rate limited: continuing|Waiting for the rate limit)/m.test(text)) return;
    isDone = true;
    till.service.sell(petId, -units);
  };
}

describe('a delta for a changed stock', () => {
  test.each([60, 3])(
    'adds a delta to a stock that changed while apply waited for a window of %i s',
    async (seconds) => {
      const till = await openTill({ stock: tenEach(6), limit: { limit: 6, seconds } });
      const file = till.file('delivery.csv', 'petId,delta\n1,1\n2,1\n3,1\n4,1\n5,1\n6,1\n');
      const onStderr = whileWaiting(till, 5, 1);
      const result = await till.exits(`inventory apply ${file} --yes --json`, 0, [], { onStderr });
      expect([1, 2, 3, 4, 5, 6].map(till.service.stockOf)).toEqual([11, 11, 11, 11, 12, 11]);
      const rows = await till.rows(result);
      expect(rows).toMatchObject(Array(6).fill({ result: 'applied' }));
      expect(rows).toContainEqual({ line: 6, petId: 5, before: 11, after: 12, result: 'applied' });
    },
  );

  test('adds a delta to a stock that changed between a 401 and the resume', async ({ till }) => {
    const file = till.file('delivery.csv', 'petId,delta\n1,1\n2,1\n');
    till.service.next('PATCH', answers(401));
    expect((await till.run(`inventory apply ${file} --yes --concurrency 1`)).code).toBe(4);
    till.service.sell(1, -1);
    till.service.sell(2, 3);
    const resumed = await till.exits('inventory apply --resume latest --yes --json', 0);
    expect([1, 2].map(till.service.stockOf)).toEqual([12, 8]);
    const rows = [
      { before: 11, after: 12, result: 'applied' },
      { before: 7, after: 8, result: 'applied' },
    ];
    expect(await till.rows(resumed)).toMatchObject(rows);
    expect(await till.rows()).toMatchObject(rows);
  });
});

test.for<[string, Action]>([
  ['carried out, and its response is lost', commitThenDrop],
  ['lost on its way', drop],
  ['carried out, and answered with a 499', commitThenAnswer(499)],
  ['answered with a 503', answers(503)],
  ['carried out, and answered with another pet', answerForPet(2)],
  ['answered with another pet', answers(200, {}, '{"petId":2,"quantity":13,"status":"available"}')],
  ['carried out, and redirected', commitThenAnswer(302, { Location: '/v1/elsewhere' })],
] as const)('writes a delta once if its request is %s', async ([_what, action], { till }) => {
  till.service.next('PATCH', action);
  const { code, stdout } = await till.run('inventory adjust 1 +3 --json');
  expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, before: 10, quantity: 13 });
  expect(till.service.stockOf(1)).toBe(13);
  expect(await till.rows()).toMatchObject([{ before: 10, after: 13, result: 'applied' }]);
});

test.for([
  ['the delta would go below zero', '', 8, 8, 2, 'the stock is now 2, so -5 would take it below zero, to -3'],
  // The plan already sets the other pet to zero.
  [
    'max-zero forbids it',
    ' --max-zero 1',
    5,
    8,
    5,
    'the stock is now 5, so -5 would set it to 0, and max-zero allows no further row at 0 or below',
  ],
  [
    'max-zero forbids it beside a row below zero',
    ' --max-zero 1',
    5,
    8,
    5,
    'the stock is now 5, so -5 would set it to 0, and max-zero allows no further row at 0 or below',
  ],
  ['the delta would set it to zero', '', 5, 0, 0, undefined],
  ['it is not the expected stock', ' expecting', -1, 8, 11, expect.any(String)],
] as const)(
  'rechecks a delta if the stock changed during a wait, and %s',
  async ([to, flags, sold, ...end], { till }) => {
    const other = to.endsWith('below zero') ? -12 : -10;
    const rows = flags === ' expecting' ? 'petId,delta,expected\n1,-5,10\n2,-10,\n' : `petId,delta\n1,-5\n2,${other}\n`;
    const file = till.file('sales.csv', rows);
    till.service.next('PATCH', answers(429, { 'Retry-After': '30' }));
    const options = { onStderr: whileWaiting(till, 1, -sold) };
    const result = await till.run(`inventory apply ${file} --yes --json${flags.replace(' expecting', '')}`, options);
    const [row] = await till.rows(result);
    expect([result.code, till.service.stockOf(1), row?.error?.message]).toEqual(end);
  },
);

test('counts a row for max-zero once, however often it waits for a permit', async () => {
  const till = await openTill({ stock: tenEach(8), limit: { limit: 4, seconds: 60 } });
  const pets = [1, 2, 3, 4, 5, 6, 7, 8];
  const file = till.file('sales.csv', `petId,delta\n${pets.map((petId) => `${petId},-5\n`).join('')}`);
  // Every later stock is 5, so that each further row leads to 0, which the plan did not.
  const sales = pets.map((petId) => whileWaiting(till, petId, -5));
  const onStderr = (text: string) => {
    for (const sell of sales) sell(text);
  };
  await till.exits(`inventory apply ${file} --yes --max-zero 8`, 0, [], { onStderr });
  expect(pets.map(till.service.stockOf)).toEqual(Array(8).fill(0));
});

/** Applies eight files at once, each with a pet of its own and pet 9. */
async function eightTills(till: Till<Clock>, optionsOf: (index: number) => Partial<RunOptions>): Promise<void> {
  const apply = (index: number) => {
    const file = till.file(`till-${index}.csv`, `petId,delta\n${index + 1},2\n9,1\n`);
    return till.run(`inventory apply ${file} --yes --json`, { random: () => index / 8, ...optionsOf(index) });
  };
  const results = await Promise.all(Array.from({ length: 8 }, (_, index) => apply(index)));
  expect(results.map(({ code, stderr }) => (code === 0 ? '' : stderr))).toEqual(Array(8).fill(''));
  expect(till.service.stockOf(9)).toBe(18);
  expect([1, 2, 3, 4, 5, 6, 7, 8].map(till.service.stockOf)).toEqual(Array(8).fill(12));
}

test('adds up the deltas of eight commands at once under a limit of 20 a minute', async () => {
  const till = await openTill({ stock: tenEach(9), limit: { limit: 20, seconds: 60 } });
  await eightTills(till, () => ({}));
  expect(till.service.requests.filter(({ status }) => status === 429)).toEqual([]);
});

describe('an outdated stock', () => {
  const before = '[{"petId":1,"quantity":10,"status":"available"},{"petId":2,"quantity":10,"status":"sold"}]';
  const lagging: Action = ({ answer }) => answer(200, before);

  test('rereads once a stock that is the one before the last write', async ({ till }) => {
    expect((await till.run('inventory adjust 1 +1')).code).toBe(0);
    till.service.next('GET /inventory', lagging);
    const { code, stdout } = await till.run('inventory adjust 1 +1 --json');
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, before: 11, quantity: 12 });
    expect(till.service.seen('GET')).toHaveLength(3);
  });

  test.for([['adjust 1 +1', 7]] as const)(
    'reports a conflict if an outdated stock does not catch up: %s',
    async ([command, code], { till }) => {
      await till.run('inventory adjust 1 +1');
      till.service.always('GET /inventory', lagging);
      const result = await till.run(`inventory ${command}`);
      expect(result.stderr).toContain('he service returned 10, but the last known stock is 11, so 10 may be outdated');
      expect([result.code, till.service.stockOf(1)]).toEqual([code, 11]);
    },
  );

  // After a clock was set back the age of the write is not known.
  test.for([
    [0, 0, 15],
    [-3_600_000, 7, 10],
  ] as const)(
    'trusts an older stock 15 s after the write, by the clock (set by %i ms: exit %i)',
    async ([step, code, stock], { till }) => {
      const { clock } = till;
      await till.exits('inventory adjust 1 +1', 0);
      clock.advance(15_001);
      clock.step(step);
      till.service.sell(1, 1);
      await till.exits('inventory adjust 1 +5', code);
      expect(till.service.stockOf(1)).toBe(stock);
    },
  );

  test.for([
    ['an unsent attempt', 'ECONNREFUSED', '+1', '+5', 16],
    ['an unsent attempt to set that stock', 'ECONNREFUSED', '+5', '-5', 10],
    ['a lost attempt to set that stock', 'ECONNRESET', '+5', '-5', 10],
  ] as const)(
    'rereads an outdated stock after %s, and writes the delta once',
    async ([_what, code, first, second, sum], { till }) => {
      await till.exits(`inventory adjust 1 ${first}`, 0);
      const file = till.file('a.csv', `petId,delta\n1,${second}\n`);
      let isLost = false;
      const around: RunOptions['around'] = async (send) => {
        if (till.service.seen('GET').length < 2 || isLost) return send();
        isLost = true;
        till.clock.advance(1200);
        till.service.next('GET /inventory', lagging);
        throw Object.assign(new Error(code), { code });
      };
      await till.exits(`inventory apply ${file} --yes`, 0, [], { around });
      expect(till.service.stockOf(1)).toBe(sum);
    },
  );

  test('reads again for every row of a turn in which one stock is outdated', async ({ till }) => {
    await till.exits('inventory adjust 1 +1', 0);
    const file = till.file('a.csv', 'petId,delta\n1,1\n2,1\n');
    // The stock of the plan is too old for a delta after this question.
    const confirm = async () => {
      till.clock.advance(3000);
      till.service.sell(2, 4);
      till.service.next('GET /inventory', ({ answer }) =>
        answer(200, before.replace('"petId":2,"quantity":10', '"petId":2,"quantity":6')),
      );
      return true;
    };
    await till.exits(`inventory apply ${file}`, 0, [], { terminal: 100, prompts: { confirm } });
    expect([1, 2].map(till.service.stockOf)).toEqual([12, 7]);
  });

  test('reports a conflict for a later row of the same run if its stock is outdated', async ({ till }) => {
    await till.exits('inventory adjust 2 +1', 0);
    const file = till.file('a.csv', 'petId,delta\n1,1\n2,1\n');
    till.service.next('PATCH', (exchange) => {
      till.clock.advance(3000);
      till.service.always('GET /inventory', lagging);
      exchange.answerNormally();
    });
    const result = await till.exits(`inventory apply ${file} --yes --json --concurrency 1`, 8);
    expect([1, 2].map(till.service.stockOf)).toEqual([11, 11]);
    const message = expect.stringContaining('returned 10, but the last known stock is 11');
    expect(await till.rows(result)).toMatchObject([{ result: 'applied' }, { result: 'conflict', error: { message } }]);
  });

  test('does not reread a stock that petstock itself never wrote', async ({ till }) => {
    await till.run('inventory adjust 1 +1');
    till.service.sell(1, 4);
    const result = await till.run('inventory adjust 1 +1');
    expect([result.code, till.service.stockOf(1)]).toEqual([0, 8]);
    expect(till.service.seen('GET')).toHaveLength(2);
  });
});

describe('a file that is applied again', () => {
  const first = 'petId,delta,reason,ref\n1,5,truck,"N-881"\n2,3,,\n';
  const again = '﻿petId;delta;reason;ref\r\n2;3;;\r\n1;5;truck;N-881\r\n';

  test.for<[string, string]>([
    ['after a spreadsheet has saved it', again],
    ['with another reason', first.replace('truck', 'lorry')],
    ['with one more row that adds nothing', `${first}3,0,,\n`],
  ])('refuses to apply a file of deltas again %s', async ([_what, again], { till }) => {
    expect((await till.run(`inventory apply ${till.file('a.csv', first)} --yes`)).code).toBe(0);
    const stderr = expect.stringMatching(
      /was already changed under ref "N-881"|pets were already changed under ref "N-881"/,
    );
    expect(await till.run(`inventory apply ${till.file('b.csv', again)} --yes`)).toMatchObject({ code: 2, stderr });
    expect([1, 2].map(till.service.stockOf)).toEqual([15, 13]);
    const other = till.file('c.csv', first.replace('881', '882'));
    expect((await till.run(`inventory apply ${other} --yes`)).code).toBe(0);
  });

  test('refuses a repeated file while its run is unfinished, and suggests resuming the run', async ({ till }) => {
    till.service.next('PATCH', normally, answers(401));
    await till.run(`inventory apply ${till.file('a.csv', first)} --yes --concurrency 1`);
    for (const mode of ['--yes', '--dry-run']) {
      const { code, stderr } = await till.run(`inventory apply ${till.file('b.csv', again)} ${mode} --json -q`);
      const { error } = JSON.parse(stderr);
      const hint = `petstock inventory apply --resume ${error.run} --env staging`;
      expect({ code, hint: error.hint }).toEqual({ code: 7, hint });
    }
    expect((await till.run('inventory apply --resume latest --yes')).code).toBe(0);
    expect([1, 2].map(till.service.stockOf)).toEqual([15, 13]);
  });
});

test('undo of several deltas suggests a file with the deltas of the pets that changed since', async ({ shop }) => {
  const { run } = await shop.json('inventory apply - --yes --json', { stdin: 'petId,delta\n5,3\n8,-4\n7,1\n' });
  await shop.exits('inventory apply - --yes', 0, [], { stdin: 'petId,delta\n5,-1\n8,-1\n' });
  const hint = (await shop.run(`undo ${run} --yes`)).stderr.split('\nHint: ').at(-1);
  expect(hint).toBe("printf 'petId,delta\\n5,-3\\n8,+4\\n' | petstock inventory apply - --yes --env staging\n");
});

test.for([
  ['adjust 4 +10', 'inventory adjust 4 -2', 'adjust 4 -10'],
  ['adjust 4 +10', 'api PATCH /inventory/4 --data {"quantity":7}', 'adjust 4 -10'],
  // The stock was set by a later run, or by the run itself.
  ['adjust 4 +10', 'inventory set 4 12', undefined],
  ['set 4 3 --read-first', 'inventory adjust 4 +1', undefined],
] as const)('undo suggests an adjust except for sets: %s; %s', async ([write, later, adjust], { shop }) => {
  const { run } = await shop.json(`inventory ${write} --yes --json`);
  await shop.run(later);
  const hint = (await shop.run(`undo ${run} --yes`)).stderr.split('\nHint: ').at(-1)?.trim();
  if (adjust === undefined) expect(hint).not.toContain('adjust');
  else expect(hint).toBe(`petstock inventory ${adjust} --env staging`);
});

describe('a read that breaks off', () => {
  /** Opens a till that has seen the limit. @param others requests that other clients have sent since */
  const beside = async (others: number, limit: number) => {
    const till = await openTill({ stock: tenEach(3), limit: { limit, seconds: 60 } });
    await till.run('inventory list');
    const { PETSTOCK_URL_STAGING: url, PETSTOCK_API_KEY_STAGING: key } = till.env;
    const headers = { authorization: `Bearer ${key}` };
    for (let sent = 0; sent < others; sent += 1) await fetch(`${url}/inventory`, { headers });
    till.clock.advance(4000);
    return till;
  };

  test.each([5, 6])(
    'reserves a request for adjust to repeat an interrupted read, after %i requests of other users',
    async (others) => {
      const till = await beside(others, 12);
      await till.run('inventory list');
      till.service.next('GET', drop);
      await till.exits('inventory adjust 1 +1', 0);
      expect(till.service.stockOf(1)).toBe(11);
    },
  );

  test('reserves a request for a run to repeat an interrupted read', async () => {
    const till = await beside(4, 16);
    const file = till.file('delivery.csv', 'petId,delta\n1,1\n2,1\n3,1\n');
    let reads = 0;
    till.service.always('GET', (exchange) => {
      reads += 1;
      (reads % 2 === 0 ? drop : normally)(exchange);
    });
    till.service.always('PATCH', (exchange) => {
      till.clock.advance(1200);
      exchange.answerNormally();
    });
    await till.exits(`inventory apply ${file} --yes --concurrency 1`, 0);
    expect([1, 2, 3].map(till.service.stockOf)).toEqual([11, 11, 11]);
  });
});
