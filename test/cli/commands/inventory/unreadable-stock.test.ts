import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
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

const spellings = [
  ['9007199254740993', 'out of range'],
  ['-9007199254740992', 'out of range'],
  ['1e400', 'out of range'],
  ['-1e9999', 'out of range'],
  ['1.5', 'not an integer'],
  ['1e-400', 'not an integer'],
] as const;

test.for(spellings)('lists and writes other pets if a stock is %s, and reports it as %s', async ([given, fault]) => {
  const { run, service } = await tillWith(given);
  const words = `is ${given}, which is ${fault}`;
  const result = await run('inventory list');
  expect(result).toMatchObject({ code: 1, stdout: '1\t10\tavailable\n3\t10\tavailable\n' });
  expect(result.stderr).toContain(
    `Error: Pet 2 is left out: "quantity" in the response ${words}.\nHint: petstock api GET /inventory --env staging\n`,
  );
  // No write is based on the unreadable quantity.
  expect(await run('inventory adjust 2 +1')).toMatchObject({ code: 1, stdout: '' });
  expect(await run('inventory set 2 5 --expect 3')).toMatchObject({ code: 1, stdout: '' });
  expect(service.seen('PATCH')).toEqual([]);
  expect(await run('inventory adjust 1 +1')).toMatchObject({ code: 0 });
  const stdin = 'petId,delta\n1,+1\n2,+1\n3,+1\n';
  const { code, stderr, report } = withReport(await run('inventory apply - --yes --json', { stdin }));
  const error = { code: 'unreadable_stock', message: `the stock of pet 2 ${words}` };
  expect({ code, rows: report.rows }).toEqual({
    code: 8,
    rows: [
      { line: 2, petId: 1, before: 11, after: 12, result: 'applied' },
      { line: 3, petId: 2, before: null, after: null, result: 'failed', error },
      { line: 4, petId: 3, before: 10, after: 11, result: 'applied' },
    ],
  });
  expect(errorJson(stderr).error.message).toContain('2 of 3 changes were written; 1 failed');
  expect(service.seen('PATCH /inventory/2')).toEqual([]);
});

const given = '9007199254740993';
const words = `is ${given}, which is out of range`;

test('get prints the other pets, and reports an unreadable stock instead of a missing pet', async () => {
  const { run, exits } = await tillWith(given);
  expect(await run('inventory get 3')).toMatchObject({ code: 0, stdout: '3\t10\tavailable\n' });
  // `status` ignores the stock.
  expect(await run('status')).toMatchObject({ code: 0 });
  const both = await exits('inventory get 2 3 --json', 1);
  expect(JSON.parse(both.stdout)).toHaveLength(1);
  expect(errorJson(both.stderr).error.message).toBe(`Pet 2 is left out: "quantity" in the response ${words}.`);
});

test('reports both an unreadable stock and a missing pet', async () => {
  const { run } = await tillWith(given);
  const lines = [`Error: Pet 2 is left out: "quantity" in the response ${words}.`, '│ There is no pet 99 in staging.'];
  for (const command of ['get 1 99 2', 'list --pet 1,99,2', 'list --summary --pet 99,2']) {
    const { code, stderr } = await run(`inventory ${command}`);
    expect({ command, code, lines: stderr.split('\n').slice(1, 3) }).toEqual({ command, code: 1, lines });
    const { error } = errorJson((await run(`inventory ${command} --json`)).stderr);
    expect(error).toMatchObject({ code: 'failure', message: expect.stringContaining('pet 99') });
  }
});

/** A list of this many pets without a readable stock. */
const unreadable = (count: number) =>
  `[${Array.from({ length: count }, (_, index) => `{"petId":${index},"quantity":0.5,"status":"sold"}`).join()}]`;

test('leaves out 25 pets with an unreadable stock, but rejects a response with 1001 of them', async ({
  till: { service, run, exits },
}) => {
  service.next('GET', ({ answer }) => answer(200, unreadable(25)));
  const petIds = Array.from({ length: 26 }, (_, index) => `${index}`);
  const told = ['25 pets are left out', 'There is no pet 25 in staging.'];
  await exits(['inventory', 'get', ...petIds], 1, told, { terminal: 200 });
  service.next('GET', ({ answer }) => answer(200, unreadable(1001)));
  const many = await run('inventory list');
  expect(many).toMatchObject({ code: 1, stdout: '' });
  expect(many.stderr).toContain('"quantity" of pet 1000 in item 1001 of the response is 0.5, which');
});

test('does not report an unreadable stock that a filter leaves out of the list', async () => {
  const { run } = await tillWith(given);
  expect(await run('inventory list --pet 2 --status sold')).toMatchObject({ code: 0, stdout: '' });
  const result = await run('inventory list --pet 2,99 --status sold');
  expect(result).toMatchObject({ code: 9, stdout: '' });
  expect(result.stderr).toContain('Error: There is no pet 99 in staging.\n');
});

test('prints valid JSON, and exits with 1 only if the list would show the unreadable pet', async () => {
  const { run, exits } = await tillWith(given);
  for (const options of ['', '--sort quantity', '--pet 1,2', '--status available']) {
    const { code, stdout } = await run(`inventory list --json ${options}`.trim());
    expect({ options, code, first: JSON.parse(stdout)[0].petId }).toEqual({ options, code: 1, first: 1 });
  }
  for (const options of ['--pet 1', '--status sold']) {
    expect(await run(`inventory list ${options}`)).toMatchObject({ code: 0 });
  }
  const summary = await exits('inventory list --summary --json', 1);
  expect(JSON.parse(summary.stdout)).toMatchObject({ pets: 2, units: 20 });
});

/** The number 1.5, spelled so long that an error shows only its beginning, which looks like a large number. */
const longSpelling = `15${'0'.repeat(50)}e-51`;

test.each([
  [given, '--low', 0],
  [given, '--min-quantity 3', 1],
  [given, '--summary --low', 0],
  [given, '--pet 1,2 --max-quantity 3', 0],
  ['1e400', '--low', 0],
  ['1e400', '--min-quantity 9007199254740991', 1],
  ['-1e9999', '--low', 1],
  ['-1e9999', '--max-quantity -9007199254740991', 1],
  ['1.5', '--low', 1],
  ['1.5', '--max-quantity 1', 0],
  ['1.5', '--min-quantity 2', 0],
  [longSpelling, '--low', 1],
  [longSpelling, '--min-quantity 2', 0],
])('leaves the unreadable stock %s out of list %s, and exits with %i', async (stock, options, code) => {
  const { run } = await tillWith(stock);
  const result = await run(`inventory list ${options}`);
  expect([result.code, result.stderr.includes('Pet 2 is left out')]).toEqual([code, code === 1]);
});

test('exports the other pets if a stock is unreadable, and exits with 1', async () => {
  const till = await tillWith(given);
  const file = join(till.folders.state, '..', 'stock.csv');
  expect(await till.run(['inventory', 'export', file])).toMatchObject({ code: 1 });
  expect(existsSync(file) && readFileSync(file, 'utf8')).toBe(
    'petId,status,expected,quantity,reason,ref\n1,available,10,10,,\n3,available,10,10,,\n',
  );
});

test('diff leaves out a pet with an unreadable stock, and exits with 1', async () => {
  const till = await tillWith(given);
  const file = till.file('list.csv', 'petId,quantity,status\n1,10,available\n2,10,available\n3,11,available\n');
  for (const sides of [`${file} staging`, `staging ${file}`]) {
    const { code, stdout, stderr } = await till.run(`inventory diff ${sides} --exit-code -o ndjson`);
    expect({ code, rows: stdout.trimEnd().split('\n') }).toEqual({
      code: 1,
      rows: [expect.stringContaining('{"petId":3,"change":"changed"')],
    });
    expect(errorJson(stderr).error.message).toBe(`Pet 2 is left out: "quantity" in the response ${words}.`);
  }
});

test('watch warns once about an unreadable stock, and does not report that stock as a change', async ({
  till: { service: other, ...fresh },
}) => {
  const { service, run } = await tillWith(given);
  const readable: Action = ({ answerNormally }) => answerNormally();
  other.next('GET', readable, listing(other, given), listing(other, given), readable);
  other.always('GET', ({ answerNormally }) => {
    if (other.seen('GET').length === 6) other.sell(2, 1);
    answerNormally();
  });
  const result = await fresh.exits('inventory watch --for 120 -o tsv', 0);
  expect(result.stderr.split(`the stock of pet 2 ${words}`)).toHaveLength(2);
  expect(result.stdout.trimEnd().split('\n')).toEqual([expect.stringMatching(/\t2\t10\t9\tavailable\tchanged$/)]);
  const others = await run('inventory watch --pet 1 --for 20 -q');
  const alone = await run('inventory watch --pet 2 --for 20 -q');
  expect([others.stderr, alone.stdout, alone.stderr.match(/^Warning: /gm)]).toEqual(['', '', ['Warning: ']]);
  expect(service.seen('PATCH')).toEqual([]);
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
