import { describe, expect } from 'vitest';
import { nameOf } from '../../support/petstock.ts';
import {
  type Action,
  andThen,
  answers,
  commitThenHang,
  type Exchange,
  normally,
  tenEach,
} from '../../support/scripted-service.ts';
import { killAt, openTill, type Till, test } from '../../support/till.ts';

async function killedApply(action: Action, text: string) {
  const till = await openTill({ stock: tenEach(4) });
  const run = await killAt(till, action, `inventory apply ${till.file('a.csv', text)} --yes --concurrency 1`);
  return { till, run, stock: () => [1, 2, 3, 4].map(till.service.stockOf) };
}

/** Runs commands, each of which must exit with 0. */
async function all(till: Till, ...commands: readonly string[]): Promise<void> {
  for (const command of commands) expect(await till.run(command), command).toMatchObject({ code: 0 });
}

describe('--resume after later writes', () => {
  test('does not add a delta again on resume if its write was adjusted back', async () => {
    const { till, run, stock } = await killedApply(commitThenHang, 'petId,delta\n1,+5\n2,+5\n');
    await all(till, 'inventory adjust 1 -5');
    expect(till.service.stockOf(1)).toBe(10);
    const resumed = await till.run(`inventory apply --resume ${run} --yes --json`);
    // The adjust has read the sum, so the delta had arrived.
    expect({ code: resumed.code, stock: stock() }).toEqual({ code: 0, stock: [10, 15, 10, 10] });
    expect(await till.rows(resumed)).toMatchObject([{ result: 'applied' }, { result: 'applied' }]);
  });

  test('counts an absolute row as written if a later run has read its quantity', async () => {
    const { till, run, stock } = await killedApply(commitThenHang, 'petId,quantity\n1,50\n2,60\n');
    await all(till, 'inventory set 1 70 --read-first', `inventory apply --resume ${run} --yes`);
    expect(stock()).toEqual([70, 60, 10, 10]);
    const rows = (await till.json(`history show ${run} --json`)).rows;
    expect(rows).toMatchObject([{ result: 'applied', before: 10, after: 50, quantity: 50 }, { result: 'applied' }]);
  });

  test.for([
    [0, 'inventory adjust 1 +1', 11],
    [20_000, 'inventory adjust 1 +1', 11],
    [0, 'inventory apply all.csv --yes', 11],
    [0, 'inventory set 1 50; undo --last --yes', 10],
  ] as const)('never adds a reversed delta again: resume after %i ms, then %s', async ([ms, commands, stock]) => {
    const till = await openTill({ stock: tenEach(60) });
    const file = till.file('a.csv', 'petId,delta\n1,+5\n2,+5\n');
    const every = till.file(
      'all.csv',
      `petId,delta\n${Array.from({ length: 60 }, (_, pet) => `${pet + 1},1`).join('\n')}\n`,
    );
    const run = await killAt(till, commitThenHang, `inventory apply ${file} --yes --concurrency 1`);
    await all(till, 'inventory adjust 1 -5');
    till.clock.advance(ms);
    await all(till, `inventory apply --resume ${run} --yes`, ...commands.replace('all.csv', every).split('; '));
    expect(till.service.stockOf(1)).toBe(stock);
  });

  test('reports a conflict and keeps the sale if a killed set lost its response and the stock was sold since', async ({
    till,
  }) => {
    const run = await killAt(till, commitThenHang, 'inventory set 1 20');
    till.service.sell(1, 3);
    const resumed = await till.run(`inventory apply --resume ${run} --yes --json`);
    expect({ code: resumed.code, stock: till.service.stockOf(1) }).toEqual({ code: 8, stock: 17 });
    expect(await till.rows(resumed)).toMatchObject([{ result: 'conflict' }]);
  });

  test('does not print an undo command for a plain set whose previous stock is unknown', async ({ till }) => {
    const run = await killAt(till, commitThenHang, 'inventory set 1 20');
    const resumed = await till.run(`inventory apply --resume ${run} --yes`);
    expect(resumed).toMatchObject({ code: 0, stderr: expect.not.stringContaining('Undo:') });
    expect((await till.run(`history show ${run}`)).stderr).not.toContain('Undo:');
    expect(await till.run(`undo ${run} --yes`)).toMatchObject({ code: 2 });
    const [, known] = (await till.run('inventory set 1 21')).stdout.match(/(\S+)\n$/) ?? [];
    expect((await till.run(`history show ${known}`)).stderr).toContain(`Undo: petstock undo ${known}`);
    expect(await till.run(`undo ${known} --yes`)).toMatchObject({ code: 0 });
  });
});

describe('history prune', () => {
  test('does not repeat a delta on resume if a later adjust was pruned', async () => {
    const { till, run, stock } = await killedApply(commitThenHang, 'petId,delta\n1,+5\n2,+5\n');
    await all(till, 'inventory adjust 1 -5', 'history prune --keep 0 --yes', `inventory apply --resume ${run} --yes`);
    expect(stock()).toEqual([10, 15, 10, 10]);
  });
});

describe('undo after later writes', () => {
  test('undo reports a conflict with a later run even if the stock is equal', async ({ till }) => {
    await all(till, `inventory apply ${till.file('a.csv', 'petId,quantity\n1,20\n')} --yes`);
    const [applied] = await till.history();
    await all(till, 'inventory adjust 1 +5', 'inventory adjust 1 -5');
    const later = (await till.history()).slice(0, 2);
    const undone = await till.run(`undo ${applied?.run} --yes --json`);
    expect({ code: undone.code, stock: till.service.stockOf(1) }).toEqual({ code: 7, stock: 20 });
    const [row] = await till.rows(undone);
    expect(later.some((one) => row?.error?.message.includes(nameOf(one)))).toBe(true);
    await all(till, ...[...later, applied].map((one) => `undo ${one?.run} --yes`));
    expect(till.service.stockOf(1)).toBe(10);
  });

  test.for(['set 1 11', 'set 1 11 --read-first'])(
    'undo ignores a later write that left the stock unchanged: %s',
    async (set, { till }) => {
      await all(till, 'inventory adjust 1 +1', `inventory ${set}`, 'undo --last --yes');
      expect(till.service.stockOf(1)).toBe(10);
    },
  );

  test('undo reports a conflict with a later write whose own undo was killed', async ({ till }) => {
    await all(till, 'inventory adjust 1 +5', 'inventory adjust 1 +1');
    const [later, first] = await till.history();
    await killAt(till, commitThenHang, `undo ${later?.run} --yes`);
    const undone = await till.run(`undo ${first?.run} --yes`);
    expect({ code: undone.code, stock: till.service.stockOf(1) }).toEqual({ code: 7, stock: 15 });
  });

  test('does not undo a row again after a killed undo', async ({ till }) => {
    await all(till, 'inventory adjust 1 +10');
    const [{ run } = { run: '' }] = await till.history();
    const killed = await killAt(till, commitThenHang, `undo ${run} --yes`);
    expect(till.service.stockOf(1)).toBe(10);
    await all(till, 'inventory set 1 20');
    const sent = till.service.seen('PATCH').length;
    for (const again of [`undo ${run}`, `inventory apply --resume ${killed}`])
      expect((await till.run(`${again} --yes`)).code, again).not.toBe(0);
    expect(till.service.stockOf(1)).toBe(20);
    expect(till.service.seen('PATCH')).toHaveLength(sent);
  });
});

test.for([
  ['adjust 1 +5', 55],
  ['set 1 20', 20],
] as const)('%s waits for a late request of a killed command', async ([command, stock], { till }) => {
  let exchange: Exchange | undefined;
  const late: Action = (given) => {
    exchange = given;
  };
  await killAt(till, late, 'inventory set 1 50 --expect 10 --timeout 90');
  const sleep: typeof till.clock.sleep = (ms, signal) => {
    exchange?.commit();
    return till.clock.sleep(ms, signal);
  };
  expect(await till.run(`inventory ${command}`, { clock: { ...till.clock, sleep } })).toMatchObject({ code: 0 });
  expect(till.service.stockOf(1)).toBe(stock);
});

test.each([
  ['set 1 50 --expect 10', 7, 8],
  ['adjust 1 -1', 0, 7],
])('reads the stock again after a wait for the rate limit: %s', async (command, code, stock) => {
  // One request is left, so a command that learns of the limit by its read has to wait before it writes.
  const till = await openTill({ limit: { limit: 60, seconds: 60, left: 1 } });
  const sale = andThen(normally, () => till.service.sell(1, 2));
  till.service.next('GET', sale);
  expect(await till.run(`inventory ${command}`)).toMatchObject({ code });
  expect(till.service.stockOf(1)).toBe(stock);
  expect(till.clock.sleeps.length).toBeGreaterThan(0);
});

test('sets a pet without waiting for an apply that writes the same pet much later', async () => {
  const till = await openTill({ stock: tenEach(30), limit: { limit: 10, seconds: 60 } });
  const lines = Array.from({ length: 30 }, (_, index) => `${index + 1},${100 + index}`);
  let set: ReturnType<Till['run']> | undefined;
  const onStderr = () => {
    if (till.service.seen('PATCH').length > 3) set ??= till.run('inventory set 30 3');
  };
  const file = till.file('a.csv', `petId,quantity\n${lines.join('\n')}\n`);
  const applied = await till.run(`inventory apply ${file} --yes`, { onStderr });
  expect(await set).toMatchObject({ code: 0 });
  // The row of this pet is a conflict, because its stock has changed since the plan.
  expect({ code: applied.code, stock: till.service.stockOf(30) }).toEqual({ code: 8, stock: 3 });
});

test('sends nothing in any command before the Retry-After of a 503 has passed', async ({ till }) => {
  till.service.next('GET', answers(503, { 'Retry-After': '4' }));
  const times: number[] = [];
  const list = () => till.run('inventory list -q', { onSent: () => times.push(till.clock.monotonic()) });
  const first = list();
  await till.service.untilSeen('GET', 1);
  const results = await Promise.all([first, ...Array.from({ length: 6 }, list)]);
  expect(results.map(({ code }) => code)).toEqual(Array(7).fill(0));
  const [asked = 0, ...later] = times;
  expect(later.filter((time) => time < asked + 4000)).toEqual([]);
});
