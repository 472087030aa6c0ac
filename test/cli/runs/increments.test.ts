import { describe, expect } from 'vitest';
import { type Clock, createSystemClock } from '../../../src/shared/clock.ts';
import { machineTime } from '../../../src/shared/machine-time.ts';
import type { RunOptions } from '../../support/context.ts';
import { temporaryDatabase } from '../../support/postgres.ts';
import {
  answerForPet,
  answers,
  commitThenAnswer,
  commitThenDrop,
  drop,
  normally,
} from '../../support/scripted-actions.ts';
import { type Action, tenEach } from '../../support/scripted-service.ts';
import type { Shop } from '../../support/shop.ts';
import { openTill, type Till, test } from '../../support/till.ts';

/** A stranger adds to a pet the moment that the till waits for the rate limit. */
function whileWaiting(till: Till, petId: number, units: number) {
  let isDone = false;
  return (text: string): void => {
    if (isDone || !/^(Rate limited: continuing|Waiting for the rate limit)/m.test(text)) return;
    isDone = true;
    till.service.sell(petId, -units);
  };
}

describe('a delta counts, though somebody else has added the same', () => {
  test.each([60, 3])('while the limit was waited for, which is of %i s', async (seconds) => {
    const till = await openTill({ stock: tenEach(6), limit: { limit: 6, seconds } });
    const file = till.file('delivery.csv', 'petId,delta\n1,1\n2,1\n3,1\n4,1\n5,1\n6,1\n');
    const onStderr = whileWaiting(till, 5, 1);
    const result = await till.run(`inventory apply ${file} --yes --json`, { onStderr });
    expect(result.code).toBe(0);
    expect([1, 2, 3, 4, 5, 6].map((petId) => till.service.stockOf(petId))).toEqual([11, 11, 11, 11, 12, 11]);
    expect((await till.rows(result)).map(({ result }) => result)).toEqual(Array(6).fill('applied'));
    expect(await till.rows(result)).toContainEqual({ line: 6, petId: 5, before: 11, after: 12, result: 'applied' });
  });

  test('while the rows before it were answered slowly', async () => {
    const till = await openTill({ stock: tenEach(6) });
    const file = till.file(
      'delivery.csv',
      `petId,delta\n${[1, 2, 3, 4, 5, 6].map((petId) => `${petId},1\n`).join('')}`,
    );
    till.service.always('PATCH', (exchange) => {
      if (exchange.change?.petId === 2n) for (const petId of [3, 4, 5, 6]) till.service.sell(petId, -1);
      till.clock.advance(1200);
      exchange.answerNormally();
    });
    expect((await till.run(`inventory apply ${file} --yes --concurrency 1`)).code).toBe(0);
    expect([3, 4, 5, 6].map((petId) => till.service.stockOf(petId))).toEqual([12, 12, 12, 12]);
    expect(till.service.seen('PATCH')).toHaveLength(6);
  });

  test('while an adjust waited behind a 429', async ({ till }) => {
    till.service.next('PATCH', answers(429, { 'Retry-After': '30' }));
    const result = await till.run('inventory adjust 1 +1 --json', { onStderr: whileWaiting(till, 1, 1) });
    expect(result.code).toBe(0);
    expect(till.service.stockOf(1)).toBe(12);
    expect(JSON.parse(result.stdout)).toMatchObject({ before: 11, quantity: 12 });
  });

  test('before the run that was killed is resumed', async ({ till }) => {
    const file = till.file('delivery.csv', 'petId,delta\n1,1\n2,1\n');
    till.service.next('PATCH', answers(401));
    expect((await till.run(`inventory apply ${file} --yes --concurrency 1`)).code).toBe(4);
    till.service.sell(1, -1);
    till.service.sell(2, 3);
    const resumed = await till.run('inventory apply --resume latest --yes --json');
    expect(resumed.code).toBe(0);
    expect([1, 2].map((petId) => till.service.stockOf(petId))).toEqual([12, 8]);
    const rows = [
      { before: 11, after: 12, result: 'applied' },
      { before: 7, after: 8, result: 'applied' },
    ];
    expect(await till.rows(resumed)).toMatchObject(rows);
    expect(await till.rows()).toMatchObject(rows);
  });
});

test.for<[string, Action]>([
  ['carried out, and its answer is lost', commitThenDrop],
  ['lost on its way', drop],
  ['carried out, and answered with a 499', commitThenAnswer(499)],
  ['answered with a 503', answers(503)],
  ['carried out, and answered with another pet', answerForPet(2)],
  ['carried out, and redirected', commitThenAnswer(302, { Location: '/v1/elsewhere' })],
] as const)('an increment whose request is %s counts once', async ([_what, action], { till }) => {
  till.service.next('PATCH', action);
  const result = await till.run('inventory adjust 1 +3 --json');
  expect(result.code).toBe(0);
  expect(till.service.stockOf(1)).toBe(13);
  expect(JSON.parse(result.stdout)).toMatchObject({ before: 10, quantity: 13 });
  expect((await till.rows())[0]).toMatchObject({ before: 10, after: 13, result: 'applied' });
});

describe('an increment that would come to what nobody has agreed to is a conflict that says so', () => {
  const takeBehind = async (sold: number, ...flags: string[]) => {
    const till = await openTill();
    const file = till.file('sales.csv', 'petId,delta\n1,-5\n2,-10\n');
    till.service.next('PATCH', answers(429, { 'Retry-After': '30' }));
    const onStderr = whileWaiting(till, 1, -sold);
    const result = await till.run(['inventory', 'apply', file, '--yes', '--json', ...flags], { onStderr });
    return { result, stock: till.service.stockOf(1), message: (await till.rows(result))[0]?.error?.message };
  };

  test('below zero', async () => {
    const { result, stock, message } = await takeBehind(8);
    expect({ code: result.code, stock }).toEqual({ code: 8, stock: 2 });
    expect(message).toBe('the stock is 2 now, and 2 -5 would go below zero, to -3');
  });

  test('to zero, beyond max-zero', async () => {
    // The other pet goes to zero by the plan already.
    const { result, stock, message } = await takeBehind(5, '--max-zero', '1');
    expect({ code: result.code, stock }).toEqual({ code: 8, stock: 5 });
    expect(message).toBe('the stock is 5 now, and 5 -5 would be 0: more than max-zero allows');
    expect((await takeBehind(5)).stock).toBe(0);
  });
});

test('with what it expects a delta relies on the stock', async ({ till }) => {
  const file = till.file('sales.csv', 'petId,delta,expected\n1,-5,10\n');
  till.service.next('PATCH', answers(429, { 'Retry-After': '30' }));
  const result = await till.run(`inventory apply ${file} --yes --json`, { onStderr: whileWaiting(till, 1, 1) });
  expect(result.code).toBe(7);
  expect(till.service.stockOf(1)).toBe(11);
});

/** Each applies a file of its own that ends in the same pet. */
async function eightTills(till: Till<Clock>, optionsOf: (index: number) => Partial<RunOptions>): Promise<void> {
  const apply = (index: number) => {
    const file = till.file(`till-${index}.csv`, `petId,delta\n${index + 1},2\n9,1\n`);
    return till.run(`inventory apply ${file} --yes --json`, { random: () => index / 8, ...optionsOf(index) });
  };
  const results = await Promise.all(Array.from({ length: 8 }, (_, index) => apply(index)));
  expect(results.map(({ code, stderr }) => (code === 0 ? '' : stderr))).toEqual(Array(8).fill(''));
  expect(till.service.stockOf(9)).toBe(18);
  expect([1, 2, 3, 4, 5, 6, 7, 8].map((petId) => till.service.stockOf(petId))).toEqual(Array(8).fill(12));
}

test('eight commands at once, each its own file that ends in the same pet, under a limit of 20 a minute', async () => {
  const till = await openTill({ stock: tenEach(9), limit: { limit: 20, seconds: 60 } });
  await eightTills(till, () => ({}));
  expect(till.service.requests.filter(({ status }) => status === 429)).toEqual([]);
});

test('eight machines with one database, under a limit of 20 in 2 s', async () => {
  const clock = createSystemClock(machineTime(process));
  const till = await openTill({ stock: tenEach(9), limit: { limit: 20, seconds: 2 } }, clock);
  const env = { PETSTOCK_STATE_URL: await temporaryDatabase() };
  await eightTills(till, (index) => ({ env, host: `till-${index}` }));
}, 120_000);

describe('a service that answers with an older stock than was written last', () => {
  /** Reads are answered from before the last write, for so many looks. */
  const lagging = (looks: number): Action => {
    let left = looks;
    return (exchange) => {
      left -= 1;
      return left >= 0
        ? exchange.answer(
            200,
            '[{"petId":1,"quantity":10,"status":"available"},{"petId":2,"quantity":10,"status":"sold"}]',
          )
        : exchange.answerNormally();
    };
  };

  test('is asked again until it has caught up: both adjusts count', async ({ till }) => {
    expect((await till.run('inventory adjust 1 +1')).code).toBe(0);
    till.service.always('GET /inventory', lagging(3));
    const second = await till.run('inventory adjust 1 +1 --json');
    expect(second.code).toBe(0);
    expect(second.stderr).toContain('The service answered with an older stock of pet 1');
    expect(till.service.stockOf(1)).toBe(12);
    expect(JSON.parse(second.stdout)).toMatchObject({ before: 11, quantity: 12 });
  });

  test.for(['adjust 1 +1', 'set 1=20 2=20 --yes'])(
    'is a conflict that says so where it does not: %s',
    async (command, { till }) => {
      await till.run('inventory adjust 1 +1');
      till.service.always('GET /inventory', lagging(100));
      const result = await till.run(`inventory ${command}`);
      expect(result.stderr).toContain('the service answered with an older stock: 10, though 11 was written');
      expect([result.code, till.service.stockOf(1)]).toEqual([command.includes('2=20') ? 8 : 7, 11]);
    },
  );

  test('is believed where somebody else has written: what is found was never there', async ({ till }) => {
    await till.run('inventory adjust 1 +1');
    till.service.sell(1, 4);
    const result = await till.run('inventory adjust 1 +1');
    expect([result.code, till.service.stockOf(1)]).toEqual([0, 8]);
    expect(till.service.seen('GET')).toHaveLength(2);
  });
});

describe('a file is its rows', () => {
  const first = 'petId,delta,reason\n1,5,"N-881"\n2,3,\n';
  const again = '﻿petId;delta;reason\r\n2;3;\r\n1;5;N-881\r\n';

  test('saved again by a spreadsheet it was applied already', async ({ till }) => {
    expect((await till.run(`inventory apply ${till.file('a.csv', first)} --yes`)).code).toBe(0);
    const second = await till.run(`inventory apply ${till.file('b.csv', again)} --yes`);
    expect(second.code).toBe(2);
    expect(second.stderr).toMatch(/was applied at .* by run .*, and its deltas would be added once more/);
    expect([1, 2].map((petId) => till.service.stockOf(petId))).toEqual([15, 13]);
    const other = await till.run(`inventory apply ${till.file('c.csv', first.replace('881', '882'))} --yes`);
    expect(other.code).toBe(0);
  });

  test('while its run is not finished it is a conflict, which names the run', async ({ till }) => {
    till.service.next('PATCH', normally, answers(401));
    await till.run(`inventory apply ${till.file('a.csv', first)} --yes --concurrency 1`);
    const json = await till.run(`inventory apply ${till.file('b.csv', again)} --yes --json -q`);
    const { error } = JSON.parse(json.stderr);
    expect(json.code).toBe(7);
    expect(error.hint).toBe(`petstock inventory apply --resume ${error.run} --env staging`);
    expect(await till.run(`inventory apply ${till.file('b.csv', again)} --dry-run --json`)).toMatchObject({ code: 7 });
    expect((await till.run('inventory apply --resume latest --yes')).code).toBe(0);
    expect([1, 2].map((petId) => till.service.stockOf(petId))).toEqual([15, 13]);
  });
});

describe('what undo hints at where a sale came after an increment', () => {
  const hintOf = async (shop: Shop, write: string, later: string) => {
    const { run } = await shop.json(`${write} --json`);
    if (later !== '') await shop.run(later);
    return (await shop.run(`undo ${run} --yes`)).stderr.split('\nHint: ').at(-1)?.trim();
  };

  test('adjust, if nothing but increments came after it', async ({ shop }) => {
    const adjust = 'petstock inventory adjust 4 -10 --env staging';
    expect(await hintOf(shop, 'inventory adjust 4 +10', 'inventory adjust 4 -2')).toBe(adjust);
    const elsewhere = 'api PATCH /inventory/4 --data {"quantity":7}';
    expect(await hintOf(shop, 'inventory adjust 4 +10', elsewhere)).toBe(adjust);
    const several = await hintOf(shop, 'inventory adjust 5=+3 8=-4 7=+1 --yes', 'inventory adjust 5=-1 8=-1 --yes');
    expect(several).toContain('petstock inventory adjust 5=-3 8=+4 --env staging');
  });

  test('the history, if somebody has set the stock since, or it was set in the first place', async ({ shop }) => {
    expect(await hintOf(shop, 'inventory adjust 4 +10', 'inventory set 4 12')).not.toContain('adjust');
    expect(await hintOf(shop, 'inventory set 4 3 --read-first', 'inventory adjust 4 +1')).not.toContain('adjust');
  });
});
