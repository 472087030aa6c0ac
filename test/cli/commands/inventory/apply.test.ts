import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { hasFullDevice } from '../../../support/capabilities.ts';
import {
  apply,
  changeFile,
  confirming,
  errorJson,
  noCounts,
  openShop,
  sent,
  stockOf,
  test,
} from '../../../support/shop.ts';

test('sends one GET and one PATCH for each row that changes, and reports every row', async ({ shop }) => {
  const result = await apply(shop, 'petId,quantity,delta\n4,12,\n1,12,\n5,,+2\n6,,\n9007199254740993,3,\n');
  expect(result.code).toBe(0);
  expect(sent(result)).toEqual([
    'GET /v1/inventory',
    'PATCH /v1/inventory/4 {"quantity":12}',
    'PATCH /v1/inventory/5 {"quantity":3}',
    'PATCH /v1/inventory/9007199254740993 {"quantity":3}',
  ]);
  expect(result.stdout).toMatch(/"petId":9007199254740993,"before":0,"after":3,"result":"applied"/);
  const { run, rows, ...rest } = result.report;
  expect(run).toMatch(/^20260115T120020Z-[a-z0-9]{4}$/);
  expect(rest).toEqual({ env: 'staging', dryRun: false, counts: { ...noCounts, applied: 3, unchanged: 2 } });
  expect(rows.slice(0, 4)).toEqual([
    { line: 2, petId: 4, before: 39, after: 12, result: 'applied' },
    { line: 3, petId: 1, before: 12, after: 12, result: 'unchanged' },
    { line: 4, petId: 5, before: 1, after: 3, result: 'applied' },
    { line: 5, petId: 6, before: 14, after: 14, result: 'unchanged' },
  ]);
  expect((await stockOf(shop)).get('9007199254740993')).toBe(3);
});

describe('a dry run', () => {
  test('shows the plan and writes nothing, neither to the service nor to the history', async ({ shop }) => {
    const result = await apply(shop, 'id;qty\n4;0\n5;1\n', ['--dry-run']);
    expect(result.code).toBe(0);
    expect(sent(result)).toEqual(['GET /v1/inventory']);
    expect(result.report).toMatchObject({ run: null, dryRun: true });
    expect(result.report.rows.map((row) => row.result)).toEqual(['planned', 'unchanged']);
    expect((await shop.run('history list --json')).stdout).toBe('[]\n');
  });

  test('with --exit-code is 3 where there are changes, and 0 where there are none', async ({ shop }) => {
    const changes = await apply(shop, 'id,qty\n4,0\n', ['--dry-run', '--exit-code']);
    expect(changes.code).toBe(3);
    expect(changes.stderr).not.toContain('rror');
    expect(changes.report.rows).toHaveLength(1);
    expect((await apply(shop, 'id,qty\n4,39\n', ['--dry-run', '--exit-code'])).code).toBe(0);
    expect((await apply(shop, 'id,qty\n4,39\n', ['--exit-code'])).code).toBe(2);
  });
});

describe('what is refused before anything is written', () => {
  test('every fault of the file is told at once, and nothing is sent', async ({ shop }) => {
    const file = changeFile(shop, 'petId,quantity\n4,1.5\n1.23E+18,4\n5,2\n5,3\n');
    const stderr = await shop.refused(['inventory', 'apply', file, '--yes']);
    for (const line of ['line 2', 'line 3', 'line 5']) expect(stderr).toContain(line);
    expect(stderr).toContain('spreadsheet rounded');
    const json = JSON.parse((await shop.run(['inventory', 'apply', file, '--yes', '--json'])).stderr);
    expect(json.error).toMatchObject({ code: 'usage', exitCode: 2 });
    expect(json.error.faults).toContainEqual(expect.objectContaining({ line: 3 }));
  });

  test('a pet that the service does not have, with its line, after one GET', async ({ shop }) => {
    const result = await apply(shop, 'petId,quantity\n4,1\n4242,1\n4343,1\n');
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(sent(result)).toEqual(['GET /v1/inventory']);
    expect(errorJson(result.stderr).error.faults).toMatchObject([{ line: 3 }, { line: 4 }]);
  });

  test.for([
    ['--max-changes 1', 'max-changes'],
    ['--max-zero 0', 'max-zero'],
  ] as const)('a plan beyond %s, whatever --yes says', async ([flag, name], { shop }) => {
    const result = await apply(shop, 'petId,quantity\n4,0\n5,2\n', flag.split(' '));
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toContain(name);
    expect(sent(result)).toEqual(['GET /v1/inventory']);
  });

  test('a plan beyond a guard that is set; the flag goes before it', async ({ shop }) => {
    await shop.run('config set max-zero 0');
    expect(await apply(shop, 'petId,quantity\n4,0\n')).toMatchObject({ code: 2 });
    expect(await apply(shop, 'petId,quantity\n4,0\n', ['--max-zero', '1'])).toMatchObject({ code: 0 });
  });

  test('no file, a file that is not there, a folder, an unknown option', async ({ shop }) => {
    for (const args of [[], ['/nowhere/x.csv'], ['/tmp'], ['x.csv', '--format', 'xlsx'], ['x.csv', '--resume', 'y']]) {
      expect(await shop.run(['inventory', 'apply', ...args, '--yes'])).toMatchObject({ code: 2, requests: [] });
    }
    const csv = changeFile(shop, 'petId,quantity\n4,1\n');
    for (const flag of ['--concurrency=0', '--concurrency=65', '--max-zero=-1', '--max-changes=x']) {
      expect(await shop.run(['inventory', 'apply', csv, '--yes', flag])).toMatchObject({ code: 2, requests: [] });
    }
    const nowhere = ['inventory', 'apply', csv, '--yes', '--failed-out', '/nowhere/failed.csv'];
    expect(await shop.run(nowhere)).toMatchObject({ code: 2, requests: [] });
  });
});

describe('the confirmation', () => {
  const csv = 'petId,quantity\n4,1\n5,9\n';

  test('off a terminal is --yes, or exit 2 and nothing is sent, not even a GET', async ({ shop }) => {
    expect(await shop.refused(['inventory', 'apply', changeFile(shop, csv)])).toContain('--yes');
  });

  test('with the file on stdin is --yes, on a terminal too', async ({ shop }) => {
    const stdin = { stdin: csv, terminal: 80 };
    expect(await shop.run('inventory apply -', stdin)).toMatchObject({ code: 2 });
    expect(await shop.run('inventory apply - --yes', stdin)).toMatchObject({ code: 0 });
  });

  test('on a terminal is a question after the preview', async ({ shop }) => {
    const { asked, prompts } = confirming(false, true);
    const file = changeFile(shop, csv);
    const no = await shop.run(['inventory', 'apply', file], { terminal: 80, prompts });
    expect(no).toMatchObject({ code: 2 });
    expect(sent(no)).toEqual(['GET /v1/inventory']);
    expect(no.stderr).toMatch(/4 +39 → +1 .*\(-38\)/);
    expect(no.stderr).not.toContain('Units:');
    expect(await shop.run(['inventory', 'apply', file], { terminal: 80, prompts })).toMatchObject({
      code: 0,
    });
    const question = 'Write 2 changes to staging? Units: 8 added, 38 removed.';
    expect(asked).toEqual([question, question]);
  });
});

describe('rows that are not written', () => {
  test('a conflict with what the row expects is exit 7, and 8 where something was written', async ({ shop }) => {
    const alone = await apply(shop, 'petId,quantity,expected\n4,1,38\n');
    expect(alone.code).toBe(7);
    expect(alone.report.rows).toMatchObject([{ result: 'conflict', before: 39, error: { code: 'conflict' } }]);
    expect(sent(alone)).toEqual(['GET /v1/inventory']);
    const mixed = await apply(shop, 'petId,quantity,expected\n4,1,38\n5,7,1\n');
    expect(mixed.code).toBe(8);
    expect(mixed.report.counts).toMatchObject({ applied: 1, conflict: 1 });
    expect(errorJson(mixed.stderr).error).toMatchObject({ code: 'partial', exitCode: 8 });
  });

  test('--skip-unknown leaves out pets that are not there: no failure, not in --failed-out', async ({ shop }) => {
    const failed = join(shop.folders.state, '..', 'failed.csv');
    const csv = 'petId,quantity\n4,1\n4242,1\n';
    const mixed = await apply(shop, csv, ['--skip-unknown', '--failed-out', failed]);
    expect(mixed).toMatchObject({ code: 0, report: { counts: { applied: 1, skipped: 1, failed: 0 } } });
    expect(mixed.report.rows[1]).toEqual({ line: 3, petId: 4242, before: null, after: 1, result: 'skipped' });
    expect(readFileSync(failed, 'utf8')).toBe('petId,status,expected,quantity,reason,ref\n');
    expect((await apply(shop, 'petId,quantity\n4242,1\n', ['--skip-unknown'])).code).toBe(0);
    const [run] = await shop.json('history list --json');
    expect(run.counts).toMatchObject({ applied: 1, skipped: 1 });
  });

  test('one that the service refuses leaves the others alone; --fail-fast stops', async () => {
    const shop = await openShop({ quantityBounds: { min: 0n } });
    const csv = 'petId,quantity\n4,-1\n5,7\n6,8\n';
    const stopped = await apply(shop, csv, ['--fail-fast', '--concurrency', '1']);
    expect(stopped.report.rows.map(({ result }) => result)).toEqual(['failed', 'notAttempted', 'notAttempted']);
    expect(stopped.code).toBe(10);
    expect(await apply(shop, csv)).toMatchObject({ code: 7, requests: [] });
    const all = await apply(shop, `${csv}1,12\n`);
    expect(all.report.rows.map(({ result }) => result)).toEqual(['failed', 'applied', 'applied', 'unchanged']);
    expect(all.report.rows[0]?.error).toMatchObject({ status: 400 });
    expect(all.code).toBe(8);
  });

  test('a 401 stops the run at once', async () => {
    const shop = await openShop({ faults: ['PATCH /inventory/5:status=401'] });
    const lines = Array.from({ length: 18 }, (_, index) => `${index + 4},${index + 100}`);
    const result = await apply(shop, `petId,quantity\n${lines.join('\n')}\n`, ['--concurrency', '1']);
    expect(sent(result)).toHaveLength(3);
    expect(result.report.counts).toMatchObject({ applied: 1, notAttempted: 17 });
    expect(result.code).toBe(8);
    const first = await apply(shop, 'petId,quantity\n5,100\n6,101\n', ['--concurrency', '1']);
    expect(first.code).toBe(4);
  });

  test('--failed-out writes them so that apply takes them again', async () => {
    const shop = await openShop({ faults: ['PATCH /inventory/5:first=1:status=400'] });
    const failed = join(shop.folders.state, '..', 'failed.csv');
    const csv = 'petId,quantity,delta,expected,reason,ref\n4,1,,38,"a, b",R-1\n5,,+6,,new,\n6,8,,,,\n';
    const result = await apply(shop, csv, ['--failed-out', failed]);
    expect(result.code).toBe(8);
    expect(readFileSync(failed, 'utf8')).toBe(
      'petId,status,expected,quantity,delta,reason,ref\n4,,38,1,,"a, b",R-1\n5,,,,6,new,\n',
    );
    expect(await shop.run(['inventory', 'apply', failed, '--yes', '--failed-out', failed])).toMatchObject({ code: 8 });
    expect(readFileSync(failed, 'utf8').split('\n')).toHaveLength(3);
  });
});

describe.runIf(hasFullDevice)('--failed-out on a full disk', () => {
  const toFull = ['--failed-out', '/dev/full', '--force'];

  test('leaves the report and the exit code as they are, and names the rows', async () => {
    const shop = await openShop({ faults: ['PATCH /inventory/5:status=400'] });
    const result = await apply(shop, 'petId,quantity\n4,1\n5,7\n', toFull);
    expect(result).toMatchObject({ code: 8, report: { counts: { applied: 1, failed: 1 } } });
    const { message, hint } = errorJson(result.stderr).error;
    expect(message).toContain(
      '1 of 2 changes was written; 1 failed. These rows could not be saved to the --failed-out file: ',
    );
    expect(message).toContain('the disk is full');
    expect(message).toContain('line 3: pet 5, 1 → 7 (failed)');
    expect(hint).toContain('petstock history show');
  });

  test('where nothing was to be written, and where all was', async ({ shop }) => {
    const none = await apply(shop, 'petId,quantity,expected\n4,1,2\n', toFull);
    expect(none).toMatchObject({ code: 7, report: { counts: { conflict: 1 } } });
    expect(errorJson(none.stderr).error.message).toContain('line 2: pet 4, 39 → 1 (conflict)');
    const all = await apply(shop, 'petId,quantity\n4,1\n', toFull);
    expect(all).toMatchObject({ code: 1, report: { counts: { applied: 1 } } });
    expect(errorJson(all.stderr).error.message).toMatch(
      /^All changes were written, but the file of --failed-out was not: /,
    );
  });
});

describe('--failed-out', () => {
  test('is written anew where nothing is left to write, too: an old one would be applied again', async ({ shop }) => {
    const failed = changeFile(shop, 'petId,quantity\n1,99\n', 'failed.csv');
    const conflicts = await apply(shop, 'petId,quantity,expected\n4,1,38\n', ['--failed-out', failed, '--force']);
    expect(conflicts.code).toBe(7);
    expect(readFileSync(failed, 'utf8')).toBe('petId,status,expected,quantity,reason,ref\n4,,38,1,,\n');
    expect(await apply(shop, 'petId,quantity\n4,39\n', ['--failed-out', failed])).toMatchObject({ code: 0 });
    expect(readFileSync(failed, 'utf8')).toBe('petId,status,expected,quantity,reason,ref\n');
  });

  test.for(['.', 'failed.json', 'failed.xlsx'])('%s is refused before anything is sent', async (file, { shop }) => {
    const result = await apply(shop, 'petId,quantity\n4,1\n', ['--failed-out', file]);
    expect(result).toMatchObject({ code: 2, requests: [] });
  });
});

test('each refusal says with a command that runs what to do', async ({ shop }) => {
  const hintOf = async (text: string, ...args: string[]) => {
    const { stderr } = await shop.run(['inventory', 'apply', changeFile(shop, text), '--json', ...args]);
    return errorJson(stderr).error.hint as string;
  };
  const dryRun = await hintOf('petId,quantity\n4,1\n');
  expect(await shop.run(dryRun.split(' ').slice(1))).toMatchObject({ code: 0 });
  const skip = await hintOf('petId,quantity\n4,1\n4242,1\n', '--yes');
  expect(await shop.run([...skip.split(' ').slice(1), '--yes'])).toMatchObject({ code: 0 });
});

test('a text of JSON with a NUL, which no database keeps, is a fault, and nothing is sent', async ({ shop }) => {
  const file = changeFile(shop, String.raw`[{"petId":4,"delta":1,"ref":"N-1\u00002"}]`, 'nul.json');
  const result = await shop.run(`inventory apply ${file} --yes`);
  expect(result).toMatchObject({ code: 2, requests: [] });
  expect(result.stderr).toContain('│ line 1, ref: there is a NUL character in the text');
});

test('a JSON list on one line reports its faults by item', async ({ shop }) => {
  const file = changeFile(shop, '[{"petId":4,"quantity":12},{"petId":5,"quantity":"x"}]', 'one-line.json');
  const wrong = await shop.run(`inventory apply ${file} --yes`);
  expect(wrong).toMatchObject({ code: 2, requests: [] });
  expect(wrong.stderr).toContain('│ item 2, quantity: "x" is not a quantity');
  const unknown = changeFile(shop, '[{"petId":4,"quantity":12},{"petId":777,"quantity":1}]', 'one-line.json');
  expect((await shop.run(`inventory apply ${unknown} --yes`)).stderr).toContain('│ item 2: there is no pet 777');
  const lines = changeFile(shop, '[{"petId":4,"quantity":12},\n{"petId":777,"quantity":1}]', 'lines.json');
  expect((await shop.run(`inventory apply ${lines} --yes`)).stderr).toContain('│ line 2: there is no pet 777');
});
