import { expect } from 'vitest';
import { answers } from '../../../../support/scripted-actions.ts';
import type { Action } from '../../../../support/scripted-service.ts';
import { errorJson, openShop, type Shop, type ShopRunOptions, stockOf, test } from '../../../../support/shop.ts';
import { openTill, type Till } from '../../../../support/till.ts';
import { count, person, sessionIn, sessionsIn, statesIn } from './count-rig.ts';

/** Returns options that set a pet's stock right after the `nth` request of a method, like another till. */
function till(shop: Shop, sale: string, method = 'GET', nth = 1): ShopRunOptions {
  const sent: string[] = [];
  return {
    onSent: (request) => sent.push(request.method),
    around: async (send) => {
      try {
        return await send();
      } finally {
        const isDue = sent.at(-1) === method && sent.filter((each) => each === method).length === nth;
        if (isDue) expect((await shop.run(`inventory set ${sale}`)).code).toBe(0);
      }
    },
  };
}

test('recounts a pet from zero if its stock has changed', async ({ shop }) => {
  const stopped = await count(shop, '4 x2\nfoo\n', '--yes --json', till(shop, '4 38'));
  expect(stopped).toMatchObject({ code: 7, report: { counts: { conflict: 1 } } });
  const session = await sessionIn(shop);
  const { message, hint } = errorJson(stopped.stderr).error;
  expect(message).toMatch(
    /^Nothing was written: pet 4: .*\. Count pet 4 again\. Session \w{4} keeps 1 unit of unknown codes\.$/,
  );
  expect(hint).toBe(`petstock inventory count ${session} --json --yes --env staging`);
  const looked = await count(shop, '4\n', `${session} --json --dry-run`);
  expect(looked.report.rows).toMatchObject([{ petId: 4, before: 38, after: 1 }]);
  expect((await count(shop, '4\n= foo 0\n', `${session} --yes`)).written).toEqual(['4 {"quantity":1}']);
  expect((await count(shop, '', `${session} --yes`)).stderr).toContain('is finished: it was applied');
});

test('does not repeat the written rows of a count after a conflict', async ({ shop }) => {
  const before = await stockOf(shop);
  const mixed = await count(shop, '1 x2\n2 x70\n', '--yes --json --all --reason stock', till(shop, '8 68', 'GET', 2));
  expect(mixed).toMatchObject({ code: 8, report: { counts: { conflict: 1, notAttempted: 0, failed: 0 } } });
  expect(mixed.report.counts.applied).toBeGreaterThan(2);
  const { message, hint } = errorJson(mixed.stderr).error;
  expect(message).toContain('Count pet 8 again');
  expect(hint).toBe('petstock inventory count --reason stock --json --yes --env staging');
  expect((await shop.run(`undo ${mixed.report.run} --yes`)).code).toBe(0);
  expect((await count(shop, '= 8 66\n', '--yes')).written).toEqual(['8 {"quantity":66}']);
  expect(await stockOf(shop)).toEqual(new Map([...before, ['8', 66]]));
});

test('refuses --all in a counting session that was partly written, even after a merge', async ({ shop }) => {
  await count(shop, '5 x3\nfoo\n', '--yes');
  const written = await sessionIn(shop);
  const refused = await count(shop, '', `${written} --yes --all`);
  expect(refused).toMatchObject({ code: 2, written: [], stderr: expect.stringContaining('Leave out --all') });
  await count(shop, '8 x2\n', '--new --yes --max-changes 0');
  const other = (await sessionsIn(shop)).find((name) => name !== written);
  await count(shop, '', `--merge ${written} ${other} --yes --max-changes 0`);
  const merged = (await sessionsIn(shop)).find((name) => name !== written && name !== other);
  const all = await count(shop, '= foo 0\n', `${merged} --yes --all`);
  expect(all).toMatchObject({ code: 2, written: [], stderr: expect.stringContaining('Leave out --all') });
  expect((await stockOf(shop)).get('5')).toBe(3);
});

test('begins a new counting session with --all at a terminal, and keeps a partly written session', async ({ shop }) => {
  await count(shop, '5 x3\nfoo\n', '--yes');
  const session = await sessionIn(shop);
  const all = await count(shop, 'done\n', '--all --yes', person);
  expect(all).toMatchObject({ code: 2, written: [] });
  expect(all.stderr).toContain('Nothing was counted');
  expect((await stockOf(shop)).get('5')).toBe(3);
  const hint = `Hint: petstock inventory count ${session} --yes --env staging\n`;
  expect(await shop.refused('inventory count --all --yes', { stdin: '8\n' })).toContain(hint);
});

test('asks to recount a pet if its stock changes while the question is open', async ({ shop }) => {
  const confirm = async () => {
    expect((await shop.run('inventory set 5 8')).code).toBe(0);
    await shop.clock.sleep(6000);
    return true;
  };
  const stopped = await count(shop, '4 x2\n5 x3\ndone\n', '', { ...person, prompts: { confirm } });
  expect(stopped.code).toBe(8);
  expect(stopped.stderr.replace(/\s+/g, ' ')).toContain(
    'Count pet 5 again. Hint: petstock inventory count --env staging',
  );
  expect((await count(shop, '5\ndone\n', '', person)).written).toEqual(['5 {"quantity":1}']);
});

test('names the pet to recount if a resume meets a conflict, and ends the session', async () => {
  const shop = await openShop({ faults: ['PATCH /inventory/5:first=1:status=401'] });
  const broken = await count(shop, '4\n5 x9\n8\n', '--yes --json --concurrency 1');
  const { run } = broken.report;
  const session = await sessionIn(shop);
  expect((await shop.run('inventory set 5 7')).code).toBe(0);
  const resumed = await shop.exits(`inventory apply --resume ${run} --yes`, 8);
  expect(resumed.stderr).toContain('Count pet 5 again.\nHint: petstock inventory count --yes --env staging\n');
  expect(await statesIn(shop)).toEqual(['applied']);
  expect(await shop.refused(`inventory count ${session} --yes`)).toContain('is finished: it was applied');
});

test('keeps units in the session if the stock would go below zero, but not if they may have been written', async () => {
  const shop = await openShop({ faults: ['PATCH /inventory/4:first=1:commit-then-drop'] });
  const refused = await count(shop, '5\n', '--take --yes --json', till(shop, '5 0'));
  expect(refused).toMatchObject({ code: 7, report: { rows: [{ petId: 5, result: 'conflict' }] } });
  const session = await sessionIn(shop);
  expect(errorJson(refused.stderr).error.message).toContain(`Session ${session} keeps 1 unit out, 1 pet`);
  await shop.run('inventory set 5 3');
  expect((await count(shop, '', `${session} --yes`)).written).toEqual(['5 {"quantity":2}']);
  const unsure = await count(shop, '4\n', '--take --yes', till(shop, '4 30', 'PATCH'));
  expect(unsure.stderr).toContain('it is not known whether this row was written');
  expect(unsure.stderr).toContain('\nHint: petstock history show ');
  expect(await statesIn(shop)).toEqual(['applied', 'applied']);
});

test('writes refused units of a count to --failed-out instead of the session', async () => {
  const till = await openTill({ stock: { 1: 10, 2: 10 } });
  const repair = till.service.always('PATCH /inventory/1', answers(422));
  const file = till.file('failed.csv', '');
  await till.exits(`inventory count --add --yes --failed-out ${file}`, 8, [], { stdin: '1 x7\n2 x3\n' });
  repair();
  expect(await statesIn(till)).toEqual(['applied']);
  await till.exits(`inventory apply ${file} --yes`, 0);
  expect([1, 2].map((petId) => till.service.stockOf(petId))).toEqual([17, 13]);
});

test('writes counted units to --failed-out if the stock is unreadable', async () => {
  const till = await openTill({ stock: { 1: 10, 2: 10 } });
  const repair = till.service.always('GET', listing(1.5));
  const file = till.file('failed.csv', '');
  await till.exits(`inventory count --add --yes --failed-out ${file}`, 8, [], { stdin: '1 x2\n2 x3\nfoo\n' });
  repair();
  await till.exits(`inventory apply ${file} --yes`, 0);
  const session = await sessionIn(till);
  await till.exits(`inventory count ${session} --yes`, 0, 'Nothing to write', { stdin: '= foo 0\n' });
  expect([1, 2].map((petId) => till.service.stockOf(petId))).toEqual([12, 13]);
});

/** Responds with a list in which pet 1 has this quantity. */
const listing = (quantity: number): Action => {
  const items = [quantity, 10].map((units, at) => `{"petId":${at + 1},"quantity":${units},"status":"available"}`);
  return answers(200, {}, `[${items.join()}]`);
};

test.each<[what: string, mode: 'add' | 'take', fault: (till: Till) => () => void]>([
  ['a stock that is older than the last write', 'add', ({ service }) => service.always('GET', listing(10))],
  ["a stock that can't be read", 'add', ({ service }) => service.always('GET', listing(1.5))],
  ['a refusal', 'add', ({ service }) => service.always('PATCH /inventory/1', answers(422))],
  [
    'a sale that left too few after a 429',
    'take',
    ({ service }) => {
      service.next('PATCH /inventory/1', (exchange) => {
        service.sell(1, 8);
        answers(429, { 'Retry-After': '1' })(exchange);
      });
      return () => service.sell(1, -8);
    },
  ],
])('keeps counted units of a pet that could not be written: %s', async (_what, mode, fault) => {
  const till = await openTill({ stock: { 1: 10, 2: 10 } });
  await till.run('inventory adjust 1 +1');
  const repair = fault(till);
  const counted = await till.exits(`inventory count --new --${mode} --yes`, 8, [], { stdin: '1 x7\n2 x3\n' });
  expect(counted.stderr).not.toContain('no pet is known');
  repair();
  const session = await sessionIn(till);
  expect((await till.run(`inventory count ${session} --yes`, { stdin: '' })).code).toBe(0);
  expect([1, 2].map((petId) => till.service.stockOf(petId))).toEqual(mode === 'add' ? [18, 13] : [4, 7]);
});
