import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { rowsIn } from '../../../support/delimited-rows.ts';
import type { Action, ScriptedService } from '../../../support/scripted-service.ts';
import { errorJson, withReport } from '../../../support/shop.ts';
import { openTill, type Till, test } from '../../../support/till.ts';

/** Opens a till with 10 each of pets 1, 2 and 3, whose list shows `given` as the quantity of pet 2. */
async function tillWith(given: string): Promise<Till> {
  const till = await openTill();
  till.service.always('GET /inventory', listing(till.service, given));
  return till;
}

/** Returns an action that sends the stock, but with `given` as the quantity of pet 2. */
function listing({ stockOf }: Pick<ScriptedService, 'stockOf'>, given: string): Action {
  const item = (petId: number, quantity: unknown) => `{"petId":${petId},"quantity":${quantity},"status":"available"}`;
  return ({ answer }) => answer(200, `[${item(1, stockOf(1))},${item(2, given)},${item(3, stockOf(3))}]`);
}

test('refuses a list with a stock that is no integer, and names the field and the item', async () => {
  for (const quantity of ['1.5', '"7"', 'null', '1e-400']) {
    const { run } = await tillWith(quantity);
    const { code, stdout, stderr } = await run('inventory list --json');
    expect({ quantity, code, stdout }).toEqual({ quantity, code: 1, stdout: '' });
    expect(errorJson(stderr).error.message).toContain('"quantity" in item 2 of the response is not an integer');
  }
});

const given = '9007199254740993';
const words = `is ${given}, which is out of range`;

test.for([given, '-9007199254740992', '9007199254740992e0'])('shows the stock %s exactly', async (spelled) => {
  const { run, exits } = await tillWith(spelled);
  const stock = BigInt(spelled.replace('e0', ''));
  const quantity = `${stock}`;
  const quantities = async (words: string) =>
    rowsIn((await exits(`inventory ${words} --header`, 0)).stdout).map((row) => row.quantity);
  expect(await quantities('list')).toEqual(['10', quantity, '10']);
  expect(await quantities('get 2')).toEqual([quantity]);
  expect((await run('inventory get 2 --json')).stdout).toContain(`"quantity":${stock},`);
  const [bound, last] = stock > 0n ? ['--min-quantity 11', 'quantity'] : ['--low', 'petId'];
  expect(await quantities(`list ${bound} --sort ${last}`)).toEqual([quantity]);
  const { stdout } = await exits('inventory list --summary --json', 0);
  expect(stdout).toContain(`"pets":3,"units":${stock + 20n},`);
});

test('writes other pets if a stock is out of range, and never that one', async () => {
  const { run, service } = await tillWith(given);
  expect(await run('inventory adjust 2 +1')).toMatchObject({ code: 1, stdout: '' });
  expect(await run('inventory set 2 5 --expect 3')).toMatchObject({ code: 1, stdout: '' });
  expect(service.seen('PATCH')).toEqual([]);
  const stdin = 'petId,delta\n1,+1\n2,+1\n3,+1\n';
  const { code, report } = withReport(await run('inventory apply - --yes --json', { stdin }));
  const error = { code: 'unreadable_stock', message: `the stock of pet 2 ${words}` };
  expect({ code, rows: report.rows }).toEqual({
    code: 8,
    rows: [
      { line: 2, petId: 1, before: 10, after: 11, result: 'applied' },
      { line: 3, petId: 2, before: null, after: null, result: 'failed', error },
      { line: 4, petId: 3, before: 10, after: 11, result: 'applied' },
    ],
  });
  expect(service.seen('PATCH /inventory/2')).toEqual([]);
});

test('exports and compares a stock that is out of range, which apply then refuses', async () => {
  const till = await tillWith(given);
  const file = join(till.folders.state, '..', 'stock.csv');
  expect(await till.run(['inventory', 'export', file])).toMatchObject({ code: 0 });
  const two = { petId: '2', status: 'available', expected: given, quantity: given };
  expect(rowsIn(readFileSync(file, 'utf8'))).toContainEqual(two);
  expect(await till.run(['inventory', 'apply', file, '--yes'])).toMatchObject({ code: 2 });
  const list = till.file('list.csv', 'petId,quantity,status\n1,10,available\n2,10,available\n3,10,available\n');
  const { code, stdout } = await till.run(`inventory diff ${list} staging --exit-code -o ndjson`);
  expect({ code, quantity: /"right":\{"quantity":(\d+)/.exec(stdout)?.[1] }).toEqual({ code: 3, quantity: given });
});

test('watch reports a stock that goes out of range like any change', async ({ till: { service, ...fresh } }) => {
  service.next('GET', ({ answerNormally }) => answerNormally());
  service.always('GET', listing(service, given));
  const { stdout } = await fresh.exits('inventory watch --for 60 -o tsv', 0);
  expect(stdout.trimEnd().split('\n')).toEqual([expect.stringMatching(`\t2\t10\t${given}\tavailable\t.*changed`)]);
});

test('does not write a pet with an unreadable stock in a file or a count', async () => {
  const { run, service } = await tillWith(given);
  const several = withReport(await run('inventory apply - --yes --json', { stdin: 'petId,quantity\n1,11\n2,5\n' }));
  expect(several).toMatchObject({ code: 8, report: { rows: [{ result: 'applied' }, { result: 'failed' }] } });
  const counted = withReport(await run('inventory count --yes --json --all', { stdin: '1 x4\n' }));
  expect(counted).toMatchObject({ code: 8, report: { counts: { applied: 2, failed: 1 } } });
  expect(service.seen('PATCH /inventory/2')).toEqual([]);
  expect([service.stockOf(1), service.stockOf(2), service.stockOf(3)]).toEqual([4, 10, 0]);
});

test('reports a pet with an unreadable stock as a conflict in a resume and an undo', async ({
  till: { service, ...till },
}) => {
  const run = (command: string, stdin?: string) => till.run(command, { stdin });
  const written = withReport(await run('inventory apply - --yes --json', 'petId,quantity\n2,11\n3,11\n'));
  const recover = service.always('PATCH /inventory/2', ({ answer }) => answer(500));
  const failed = withReport(await run('inventory apply - --yes --json', 'petId,quantity\n1,12\n2,12\n'));
  expect([written.code, failed.code]).toEqual([0, 8]);
  recover();
  service.always('GET /inventory', listing(service, given));
  const conflict = { petId: 2, result: 'conflict', error: { message: `the stock of pet 2 ${words}` } };
  const resumed = withReport(await run(`inventory apply --resume ${failed.report.run} --yes --json`));
  expect(resumed).toMatchObject({ code: 8, report: { rows: [{ petId: 1, result: 'applied' }, conflict] } });
  const undone = withReport(await run(`undo ${written.report.run} --yes --json`));
  expect(undone).toMatchObject({ code: 8, report: { rows: [conflict, { petId: 3, result: 'applied' }] } });
  expect([service.stockOf(2), service.stockOf(3)]).toEqual([11, 10]);
});
