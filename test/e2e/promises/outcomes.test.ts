import { describe, expect, test } from 'vitest';
import { petstockAt, reportOf, rowOf } from '../../support/petstock.ts';
import {
  answerForPet,
  answers,
  commitThenAnswer,
  commitThenBreakOff,
  commitThenDrop,
  drop,
  normally,
  storeInstead,
} from '../../support/scripted-actions.ts';
import { scriptedService } from '../../support/scripted-service.ts';

/** A request can't be on its way for longer, so an open outcome is settled in the time of a test. */
const soon = '--timeout 2';

describe('"nothing was written" is said only where it is certain', () => {
  const threeRows = ['petId,quantity', '1,51', '2,52', '3,53'];

  test('all rows committed, all answers lost, and then no connection: unknown, exit 8, and a resume settles it', async () => {
    const service = await scriptedService();
    const petstock = petstockAt(service);
    service.next('GET', normally);
    service.always('PATCH', commitThenDrop);
    const found = service.always('GET', drop);
    const result = await petstock.run(`inventory apply ${petstock.file('a.csv', threeRows)} --yes --json ${soon}`);
    expect(result.stderr).not.toMatch(/nothing was written/i);
    expect(result.code).toBe(8);
    expect(reportOf(result).counts).toMatchObject({ unknown: 3, applied: 0, failed: 0, notAttempted: 0 });
    const { run } = reportOf(result);
    expect(result.stderr).toContain(`petstock inventory apply --resume ${run} --env staging`);
    expect((await petstock.rows(run)).map((row) => row.result)).toEqual(['unknown', 'unknown', 'unknown']);

    found();
    const resumed = await petstock.run(`inventory apply --resume ${run} --yes --json`);
    expect(resumed.code).toBe(0);
    expect(reportOf(resumed).counts).toMatchObject({ applied: 3, unknown: 0 });
    expect(service.seen('PATCH')).toHaveLength(3);
  });

  test('all rows committed, all answers lost, and then a 429 of hours: unknown, exit 8', async () => {
    const service = await scriptedService();
    const petstock = petstockAt(service);
    service.next('GET', normally);
    service.always('PATCH', commitThenDrop);
    service.always('GET', answers(429, { 'Retry-After': '7200' }));
    const result = await petstock.run(`inventory apply ${petstock.file('a.csv', threeRows)} --yes --json ${soon}`);
    expect(result.stderr).not.toMatch(/nothing was written/i);
    expect(result.code).toBe(8);
    expect(reportOf(result).counts).toMatchObject({ unknown: 3, applied: 0, failed: 0, notAttempted: 0 });
  });

  test('all rows committed, all answers lost, and then Ctrl-C: unknown, and not "0 of 3 were written"', async () => {
    const service = await scriptedService();
    const petstock = petstockAt(service);
    service.next('GET', normally);
    service.always('PATCH', commitThenDrop);
    service.always('GET', drop);
    const program = petstock.start(`inventory apply ${petstock.file('a.csv', threeRows)} --yes --json`);
    await service.untilSeen('PATCH', 3);
    await service.untilSeen('GET', 2);
    program.kill('SIGINT');
    const result = await program.result;
    expect(result.code).toBe(130);
    expect(result.stderr).not.toMatch(/nothing was written|\b0 of 3 /i);
    expect(reportOf(result).counts).toMatchObject({ unknown: 3, applied: 0, failed: 0, notAttempted: 0 });
    expect(result.stderr).toContain(`petstock inventory apply --resume ${reportOf(result).run} --env staging`);
  });
});

describe('set: committed, the answer lost, and then a refusal', () => {
  test.each([401, 403, 404])('%i to whoever writes again: the stock is read back, exit 0', async (status) => {
    const service = await scriptedService();
    const petstock = petstockAt(service);
    service.next('PATCH', commitThenDrop);
    service.always('PATCH', answers(status));
    const { code, stdout } = await petstock.run('inventory set 1 50 --json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ petId: 1, quantity: 50 });
    expect(service.seen('PATCH')).toHaveLength(1);
    expect((await petstock.newest()).counts).toMatchObject({ applied: 1, failed: 0, unknown: 0 });
  });

  test.each([
    [401, {}],
    [403, {}],
    [404, {}],
    [429, { 'Retry-After': '7200' }],
  ])('%i to everything: unknown, exit 8, in the history too', async (status, headers) => {
    const service = await scriptedService();
    const petstock = petstockAt(service);
    service.next('PATCH', commitThenDrop);
    service.always('PATCH', answers(status, headers));
    service.always('GET', answers(status, headers));
    const { code, stderr } = await petstock.run(`inventory set 1 50 --json ${soon}`);
    expect(code).toBe(8);
    expect(stderr).not.toMatch(/nothing was written/i);
    const { run, counts } = await petstock.newest();
    expect(counts).toMatchObject({ unknown: 1, failed: 0 });
    expect(await petstock.rows(run)).toMatchObject([{ petId: 1, after: 50, result: 'unknown' }]);
    expect(service.stockOf(1)).toBe(50);
  });
});

describe('adjust: the answer lost, and a sale elsewhere', () => {
  test('committed before the sale: the sale stays, and the exit code is not 0', async () => {
    const service = await scriptedService();
    const petstock = petstockAt(service);
    service.next('PATCH', (exchange) => {
      commitThenDrop(exchange);
      service.sell(1, 1);
    });
    const { code } = await petstock.run(`inventory adjust 1 +5 --json ${soon}`);
    expect(service.stockOf(1)).toBe(14);
    expect(service.seen('PATCH')).toHaveLength(1);
    expect(code).toBe(8);
  });

  test('not committed: the sale stays', async () => {
    const service = await scriptedService();
    const petstock = petstockAt(service);
    service.next('PATCH', (exchange) => {
      drop(exchange);
      service.sell(1, 1);
    });
    const { code } = await petstock.run(`inventory adjust 1 +5 --json ${soon}`);
    expect(service.stockOf(1)).toBe(9);
    expect([7, 8]).toContain(code);
  });
});

describe('the service stores 100 where 500 was asked for', () => {
  test('set says so: exit 8, the history keeps 100, and undo starts from it', async () => {
    const service = await scriptedService();
    const petstock = petstockAt(service);
    service.next('PATCH', storeInstead(100));
    const { code, stderr } = await petstock.run('inventory set 1 500 --expect 10 --json');
    expect(code).toBe(8);
    expect(stderr).toContain('100');
    const { run, counts } = await petstock.newest();
    expect(counts).toMatchObject({ differs: 1, applied: 0, failed: 0 });
    expect(await petstock.rows(run)).toMatchObject([{ before: 10, after: 500, result: 'differs', quantity: 100 }]);
    expect(await petstock.run(`undo ${run} --yes`)).toMatchObject({ code: 0 });
    expect(service.stockOf(1)).toBe(10);
  });

  test('apply says so: exit 8, never "nothing was written", and undo starts from 100', async () => {
    const service = await scriptedService();
    const petstock = petstockAt(service);
    service.next('PATCH', storeInstead(100));
    const file = petstock.file('a.csv', ['petId,quantity', '1,500']);
    const result = await petstock.run(`inventory apply ${file} --yes --json`);
    expect(result.code).toBe(8);
    expect(result.stderr).not.toMatch(/nothing was written/i);
    const { run, counts } = reportOf(result);
    expect(counts).toMatchObject({ differs: 1, applied: 0, failed: 0 });
    expect(await petstock.rows(run)).toMatchObject([{ before: 10, after: 500, result: 'differs', quantity: 100 }]);
    expect(await petstock.run(`undo ${run} --yes`)).toMatchObject({ code: 0 });
    expect(service.stockOf(1)).toBe(10);
  });
});

describe('only 200 with the item is taken for written, and only what was refused for not written', () => {
  test.each([202, 204, 206])('a %i that wrote nothing is not taken for applied', async (status) => {
    const service = await scriptedService();
    const petstock = petstockAt(service);
    service.always('PATCH', answers(status, {}, '{"petId":1,"quantity":50,"status":"available"}'));
    const { code } = await petstock.run(`inventory set 1 50 --json ${soon}`);
    expect(service.stockOf(1)).toBe(10);
    expect([7, 8]).toContain(code);
    expect((await petstock.newest()).counts).toMatchObject({ applied: 0 });
  });

  test.each([202, 206])('apply: a %i that wrote nothing is looked at, and the row is sent again', async (status) => {
    const service = await scriptedService();
    const petstock = petstockAt(service);
    service.next('PATCH', answers(status, {}, '{"petId":1,"quantity":50,"status":"available"}'));
    const file = petstock.file('a.csv', ['petId,quantity', '1,50']);
    const result = await petstock.run(`inventory apply ${file} --yes --json ${soon}`);
    expect(service.stockOf(1)).toBe(50);
    expect(result.code).toBe(0);
    expect(rowOf(result, 1)).toMatchObject({ result: 'applied' });
  });

  test.each(['set 1 50', 'adjust 1 +40'])(
    '%s: a 408 after the commit is not taken for not written',
    async (command) => {
      const service = await scriptedService();
      const petstock = petstockAt(service);
      service.next('PATCH', commitThenAnswer(408));
      expect(await petstock.run(`inventory ${command} --json ${soon}`)).toMatchObject({ code: 0 });
      expect(service.seen('PATCH')).toHaveLength(1);
      expect((await petstock.newest()).counts).toMatchObject({ applied: 1, failed: 0 });
    },
  );

  test.each([
    ['half an answer', commitThenBreakOff],
    ['an answer for another pet', answerForPet(2)],
  ])('%s: the stock is read back, and nothing is sent twice', async (_what, action) => {
    const service = await scriptedService();
    const petstock = petstockAt(service);
    service.next('PATCH', action);
    const { code, stdout } = await petstock.run(`inventory adjust 1 +40 --json ${soon}`);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ petId: 1, quantity: 50, before: 10 });
    expect(service.seen('PATCH')).toHaveLength(1);
  });
});
