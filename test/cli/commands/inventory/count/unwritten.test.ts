import { expect } from 'vitest';
import { answers } from '../../../../support/scripted-actions.ts';
import type { Action } from '../../../../support/scripted-service.ts';
import { errorJson, openShop, type Shop, type ShopRunOptions, stockOf, test } from '../../../../support/shop.ts';
import { openTill, type Till } from '../../../../support/till.ts';
import { count, person, sessionIn, sessionsIn, statesIn } from './count-rig.ts';

/** A till that sets the stock of a pet right after the `nth` request of a method. */
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

const restIn = (stderr: string) => /Session (\w{4}) has what was counted of/.exec(stderr)?.[1] ?? 'none';

test('a count whose only change is a conflict goes to another session, and is written once', async ({ shop }) => {
  const stopped = await count(shop, '4 x2\n', '--yes --json', till(shop, '4 38'));
  expect(stopped).toMatchObject({ code: 7, report: { counts: { conflict: 1 } } });
  const { message, hint } = errorJson(stopped.stderr).error;
  const rest = restIn(message);
  expect(message).toMatch(/^Nothing was written: pet 4: .*\. Session \w{4} has what was counted of pet 4\.$/);
  expect(hint).toBe(`petstock inventory count ${rest} --env staging`);
  expect(await statesIn(shop)).toEqual(['applied', 'open']);
  const looked = await count(shop, '4\n', `${rest} --json --dry-run`);
  expect(looked.report.rows).toMatchObject([{ petId: 4, before: 38, after: 3 }]);
  expect((await count(shop, '', `${rest} --yes`)).written).toEqual(['4 {"quantity":2}']);
  expect((await count(shop, '', `${rest} --yes`)).stderr).toContain('is finished: it was applied');
});

test('a crash before that session has begun: the first one makes it', async ({ shop }) => {
  const stopped = await count(shop, '4 x2\n', '--yes', till(shop, '4 38'));
  const rest = restIn(stopped.stderr);
  const first = (await sessionsIn(shop)).find((name) => name !== rest);
  for (const what of ['discarded', 'removed']) {
    expect((await shop.run(`inventory count --discard ${rest} --yes`)).stderr).toContain(what);
  }
  expect((await count(shop, '', `${first} --yes --all`)).stderr).toContain('leave --all out');
  expect((await count(shop, '4\n', `${first} --yes`)).written).toEqual(['4 {"quantity":3}']);
});

test('beside a conflict the rows that were written are not written again', async ({ shop }) => {
  const before = await stockOf(shop);
  const mixed = await count(shop, '1 x2\n2 x70\n', '--yes --json --all --reason stock', till(shop, '8 68', 'GET', 2));
  expect(mixed).toMatchObject({ code: 8, report: { counts: { conflict: 1, notAttempted: 0, failed: 0 } } });
  expect(mixed.report.counts.applied).toBeGreaterThan(2);
  const rest = restIn(errorJson(mixed.stderr).error.message);
  expect(errorJson(mixed.stderr).error.hint).toBe(`petstock inventory count ${rest} --reason stock --env staging`);
  expect((await count(shop, '', `${rest} --yes --all`)).stderr).toContain('leave --all out');
  expect((await shop.run(`undo ${mixed.report.run} --yes`)).code).toBe(0);
  const looked = await count(shop, '', `${rest} --json --dry-run`);
  expect(looked.report.rows).toMatchObject([{ petId: 8, before: 68, after: 0, result: 'planned' }]);
  expect((await count(shop, '= 8 66\n', `${rest} --yes`)).written).toEqual(['8 {"quantity":66}']);
  expect(await stockOf(shop)).toEqual(new Map([...before, ['8', 66]]));
});

test('--all sets nothing to 0 that the run of a session before a merge has written', async ({ shop }) => {
  const stopped = await count(shop, '4 x2\n5 x3\n', '--yes --json', till(shop, '4 38'));
  const rest = restIn(errorJson(stopped.stderr).error.message);
  const openBeside = async () => {
    const listed: { session: string; state: string }[] = await shop.json('inventory count --list --json');
    return listed.find(({ session, state }) => state === 'open' && !session.endsWith(rest))?.session.slice(-4);
  };
  await count(shop, '8 x2\n', '--new --yes --max-changes 0');
  await count(shop, '', `--merge ${rest} ${await openBeside()} --yes --max-changes 0`);
  const all = await count(shop, '', `${await openBeside()} --yes --all`);
  expect(all).toMatchObject({ code: 2, written: [], stderr: expect.stringContaining('leave --all out') });
  expect((await stockOf(shop)).get('5')).toBe(3);
});

test('--all begins another session at a terminal, and does not go on with what a run has left', async ({ shop }) => {
  const stopped = await count(shop, '4 x2\n5 x3\n', '--yes --json', till(shop, '4 38'));
  const rest = restIn(errorJson(stopped.stderr).error.message);
  const all = await count(shop, 'done\n', '--all --yes', person);
  expect(all).toMatchObject({ code: 2, written: [] });
  expect(all.stderr).toContain('Another session is not finished');
  expect(all.stderr).toContain('Nothing was counted');
  expect((await stockOf(shop)).get('5')).toBe(3);
  const hint = `Hint: petstock inventory count ${rest} --env staging\n`;
  expect(await shop.refused('inventory count --all --yes', { stdin: '8\n' })).toContain(hint);
});

test('a person whose question took longer than a sale goes on with the pet that it was', async ({ shop }) => {
  const confirm = async () => {
    expect((await shop.run('inventory set 5 8')).code).toBe(0);
    await shop.clock.sleep(6000);
    return true;
  };
  const stopped = await count(shop, '4 x2\n5 x3\ndone\n', '', { ...person, prompts: { confirm } });
  expect(stopped.code).toBe(8);
  const rest = restIn(stopped.stderr.replace(/\s+/g, ' '));
  expect(stopped.stderr).toContain(`Hint: petstock inventory count ${rest} --env staging\n`);
  const asked: string[] = [];
  const text = async (question: string) => (asked.push(question) > 0 ? '' : 'never');
  const on = await count(shop, '5\ndone\n', '', { ...person, prompts: { confirm: async () => true, text } });
  expect(asked).toEqual([expect.stringContaining(`Session ${rest} of`)]);
  expect(on.written).toEqual(['5 {"quantity":4}']);
});

test('a run of a count that is resumed into a conflict leaves a session too, once', async () => {
  const shop = await openShop({ faults: ['PATCH /inventory/5:first=1:status=401'] });
  const broken = await count(shop, '4\n5 x9\n8\n', '--yes --json --concurrency 1');
  const { run } = broken.report;
  const session = await sessionIn(shop);
  expect((await shop.run('inventory set 5 7')).code).toBe(0);
  const resumed = await shop.exits(`inventory apply --resume ${run} --yes`, 8);
  const rest = restIn(resumed.stderr);
  expect(resumed.stderr).toContain(`of pet 5.\nHint: petstock inventory count ${rest} --env staging\n`);
  expect(await shop.refused(`inventory count ${session} --yes`)).toContain(
    `goes on as session ${rest}.\nHint: petstock inventory count ${rest}`,
  );
  expect((await count(shop, '', `${rest} --yes`)).written).toEqual(['5 {"quantity":9}']);
});

test('a sale that would go below zero is kept, and one that may have been written is left to a person', async () => {
  const shop = await openShop({ faults: ['PATCH /inventory/4:first=1:commit-then-drop'] });
  const refused = await count(shop, '5\n', '--take --yes --json', till(shop, '5 0'));
  expect(refused).toMatchObject({ code: 7, report: { rows: [{ petId: 5, result: 'conflict' }] } });
  const rest = restIn(errorJson(refused.stderr).error.message);
  await shop.run('inventory set 5 3');
  expect((await count(shop, '', `${rest} --yes`)).written).toEqual(['5 {"quantity":2}']);
  const unsure = await count(shop, '4\n', '--take --yes', till(shop, '4 30', 'PATCH'));
  expect(unsure.stderr).toContain('whether it was written before that is not known');
  expect(unsure.stderr).toContain('\nHint: petstock history show ');
  expect(await statesIn(shop)).toEqual(['applied', 'applied', 'applied']);
});

/** A list of stock in which pet 1 has this quantity. */
const listing = (quantity: number): Action => {
  const items = [quantity, 10].map((units, at) => `{"petId":${at + 1},"quantity":${units},"status":"available"}`);
  return answers(200, {}, `[${items.join()}]`);
};

test.each<[what: string, mode: 'add' | 'take', fault: (till: Till) => () => void]>([
  ['a stock that is older than the last write', 'add', ({ service }) => service.always('GET', listing(10))],
  ['a stock that can not be read', 'add', ({ service }) => service.always('GET', listing(1.5))],
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
])('units that were scanned are not lost beside those of other pets: %s', async (_what, mode, fault) => {
  const till = await openTill({ stock: { 1: 10, 2: 10 } });
  await till.run('inventory adjust 1 +1');
  const repair = fault(till);
  const counted = await till.exits(`inventory count --new --${mode} --yes`, 8, [], { stdin: '1 x7\n2 x3\n' });
  expect(counted.stderr).not.toContain('no pet is known');
  repair();
  const rest = restIn(counted.stderr.replace(/\s+/g, ' '));
  expect((await till.run(`inventory count ${rest} --yes`, { stdin: '' })).code).toBe(0);
  expect([1, 2].map((petId) => till.service.stockOf(petId))).toEqual(mode === 'add' ? [18, 13] : [4, 7]);
});
