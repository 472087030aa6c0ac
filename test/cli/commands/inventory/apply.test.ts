import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { hasFullDevice } from '../../../support/capabilities.ts';
import { rowsIn } from '../../../support/delimited-rows.ts';
import {
  apply,
  changeFile,
  confirming,
  errorJson,
  jsonLines,
  noCounts,
  openShop,
  stockOf,
  test,
} from '../../../support/shop.ts';

const get = 'GET /v1/inventory';

test('apply sends one GET, then one PATCH for each row that changes, and reports every row', async ({ shop }) => {
  const result = await apply(shop, 'petId,quantity,delta\n4,12,\n1,12,\n5,,+2\n6,,\n9007199254740993,3,\n');
  expect(result.code).toBe(0);
  expect(result.sent).toEqual([
    get,
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

test('prints the plan in a dry run, and writes nothing to the service or the history', async ({ shop }) => {
  const result = await apply(shop, 'id;qty\n4;0\n5;1\n', ['--dry-run']);
  expect(result).toMatchObject({ code: 0, sent: [get], report: { run: null, dryRun: true } });
  expect(result.report.rows.map((row) => row.result)).toEqual(['planned', 'unchanged']);
  expect((await shop.run('history list --json')).stdout).toBe('[]\n');
});

describe('apply before anything is written', () => {
  test('reports every fault of a change file at once, and sends nothing', async ({ shop }) => {
    const file = changeFile(shop, 'petId,quantity\n4,1.5\n1.23E+18,4\n5,2\n5,3\n');
    const stderr = await shop.refused(`inventory apply ${file} --yes`);
    for (const told of ['line 2', 'line 3', 'line 5', 'spreadsheet rounded']) expect(stderr).toContain(told);
    const { error } = errorJson(await shop.refused(`inventory apply ${file} --yes --json`));
    expect(error).toMatchObject({ code: 'usage', exitCode: 2 });
    expect(error.faults).toContainEqual(expect.objectContaining({ line: 3 }));
  });

  test('reports the lines of pets that the service does not have, and sends no PATCH', async ({ shop }) => {
    const result = await apply(shop, 'petId,quantity\n4,1\n4242,1\n4343,1\n');
    expect(result).toMatchObject({ code: 2, stdout: '', sent: [get] });
    expect(errorJson(result.stderr).error.faults).toMatchObject([{ line: 3 }, { line: 4 }]);
  });

  test.for([
    // PostgreSQL can't store a NUL character.
    ['line 1, ref: the text contains a NUL character', String.raw`[{"petId":4,"delta":1,"ref":"N-1\u00002"}]`],
    ['item 2, quantity: "x" is not a quantity', '[{"petId":4,"quantity":12},{"petId":5,"quantity":"x"}]'],
    ['item 2: there is no pet 777', '[{"petId":4,"quantity":12},{"petId":777,"quantity":1}]'],
    ['line 2: there is no pet 777', '[{"petId":4,"quantity":12},\n{"petId":777,"quantity":1}]'],
  ] as const)(
    'reports a fault in JSON by line, or by item if items share a line: %s',
    async ([told, text], { shop }) => {
      const file = changeFile(shop, text, 'changes.json');
      const result = await shop.run(`inventory apply ${file} --yes`);
      expect(result).toMatchObject({ code: 2, sent: told.includes('777') ? [get] : [] });
      expect(result.stderr).toContain(`│ ${told}`);
    },
  );

  test('refuses a plan that exceeds --max-changes or --max-zero, and prefers the flag to the setting', async ({
    shop,
  }) => {
    for (const [guard, name] of [
      ['--max-changes=1', 'max-changes'],
      ['--max-zero=0', 'max-zero'],
    ] as const) {
      const result = await apply(shop, 'petId,quantity\n4,0\n5,2\n', [guard]);
      expect(result).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(name), sent: [get] });
    }
    await shop.run('config set max-zero 0');
    expect(await apply(shop, 'petId,quantity\n4,0\n')).toMatchObject({ code: 2 });
    expect(await apply(shop, 'petId,quantity\n4,0\n', ['--max-zero', '1'])).toMatchObject({ code: 0 });
  });

  test('refuses apply without a file, with an unreadable file or with an invalid option', async ({ shop }) => {
    const csv = changeFile(shop, 'petId,quantity\n4,1\n');
    const files = ['', '/nowhere/x.csv', '/tmp', 'x.csv --format xlsx', 'x.csv --resume y'];
    const failedOut = ['/nowhere/failed.csv', '.', 'failed.json', 'failed.xlsx'].map((out) => `--failed-out ${out}`);
    const options = ['--concurrency=0', '--concurrency=65', '--max-zero=-1', '--max-changes=x', ...failedOut];
    for (const words of [...files, ...options.map((option) => `${csv} ${option}`)]) {
      await shop.refused(`inventory apply ${words} --yes`.replace('  ', ' '));
    }
  });
});

describe('the confirmation', () => {
  const csv = 'petId,quantity\n4,1\n5,9\n';

  test('apply needs --yes if there is no terminal or the file comes from stdin', async ({ shop }) => {
    expect(await shop.refused(`inventory apply ${changeFile(shop, csv)}`)).toContain('--yes');
    const stdin = { stdin: csv, terminal: 80 };
    await shop.refused('inventory apply -', stdin);
    expect(await shop.run('inventory apply - --yes', stdin)).toMatchObject({ code: 0 });
  });

  test('asks for confirmation on a terminal after the preview of apply', async ({ shop }) => {
    const { asked, prompts } = confirming(false, true);
    const file = changeFile(shop, csv);
    const no = await shop.run(`inventory apply ${file}`, { terminal: 80, prompts });
    expect(no).toMatchObject({ code: 2, sent: [get] });
    expect(no.stderr).toMatch(/4 +39 → +1 .*\(-38\)/);
    expect(no.stderr).not.toContain('Units:');
    expect(await shop.run(`inventory apply ${file}`, { terminal: 80, prompts })).toMatchObject({ code: 0 });
    expect(asked).toEqual(Array(2).fill('Write 2 changes to staging? Units: 8 added, 38 removed.'));
  });
});

describe('rows that are not written', () => {
  test('apply exits with 7 if the only row conflicts, and with 8 if another row was written', async ({ shop }) => {
    const alone = await apply(shop, 'petId,quantity,expected\n4,1,38\n');
    expect(alone).toMatchObject({ code: 7, sent: [get] });
    expect(alone.report.rows).toMatchObject([{ result: 'conflict', before: 39, error: { code: 'conflict' } }]);
    const mixed = await apply(shop, 'petId,quantity,expected\n4,1,38\n5,7,1\n');
    expect(mixed).toMatchObject({ code: 8, report: { counts: { applied: 1, conflict: 1 } } });
    expect(errorJson(mixed.stderr).error).toMatchObject({ code: 'partial', exitCode: 8 });
  });

  test('skips unknown pets with --skip-unknown, and leaves them out of --failed-out', async ({ shop }) => {
    const failed = join(shop.folders.state, '..', 'failed.csv');
    const csv = 'petId,quantity\n4,1\n4242,1\n';
    const mixed = await apply(shop, csv, ['--skip-unknown', '--failed-out', failed]);
    expect(mixed).toMatchObject({ code: 0, report: { counts: { applied: 1, skipped: 1, failed: 0 } } });
    expect(mixed.report.rows[1]).toEqual({ line: 3, petId: 4242, before: null, after: 1, result: 'skipped' });
    expect(readFileSync(failed, 'utf8')).toBe('');
    expect((await apply(shop, 'petId,quantity\n4242,1\n', ['--skip-unknown'])).code).toBe(0);
    expect((await shop.json('history list --json'))[0].counts).toMatchObject({ applied: 1, skipped: 1 });
  });

  test('apply writes the other rows if one is refused, but stops at it with --fail-fast', async () => {
    const shop = await openShop({ quantityBounds: { min: 0n } });
    const csv = 'petId,quantity\n4,-1\n5,7\n6,8\n';
    const stopped = await apply(shop, csv, ['--fail-fast', '--concurrency', '1']);
    expect(stopped.code).toBe(10);
    expect(stopped.report.rows.map(({ result }) => result)).toEqual(['failed', 'notAttempted', 'notAttempted']);
    expect(await apply(shop, csv)).toMatchObject({ code: 7, requests: [] });
    const all = await apply(shop, `${csv}1,12\n`);
    expect(all.code).toBe(8);
    expect(all.report.rows.map(({ result }) => result)).toEqual(['failed', 'applied', 'applied', 'unchanged']);
    expect(all.report.rows[0]?.error).toMatchObject({ status: 400 });
  });
});

describe('--failed-out', () => {
  test('writes failed rows to --failed-out in a form that apply reads', async () => {
    const shop = await openShop({ faults: ['PATCH /inventory/5:first=1:status=400'] });
    const failed = join(shop.folders.state, '..', 'failed.csv');
    const csv = 'petId,quantity,delta,expected,reason,ref\n4,1,,38,"a, b",R-1\n5,,+6,,new,\n6,8,,,,\n';
    expect(await apply(shop, csv, ['--failed-out', failed])).toMatchObject({ code: 8 });
    expect(rowsIn(readFileSync(failed, 'utf8'))).toEqual([
      { petId: '4', expected: '38', quantity: '1', reason: 'a, b', ref: 'R-1' },
      { petId: '5', delta: '6', reason: 'new' },
    ]);
    expect(await shop.run(`inventory apply ${failed} --yes --failed-out ${failed}`)).toMatchObject({ code: 8 });
    expect(readFileSync(failed, 'utf8').split('\n')).toHaveLength(3);
  });

  describe.runIf(hasFullDevice)('--failed-out on a full disk', () => {
    const saved = /^Warning: These rows could not be saved to the --failed-out file: .*the disk is full.*\n {2}/m;
    test.for([
      ['petId,quantity\n4,1\n5,7\n', 8, { applied: 1, failed: 1 }, 'line 3: pet 5, 1 → 7 (failed)\n'],
      ['petId,quantity,expected\n4,1,2\n', 7, { conflict: 1 }, 'line 2: pet 4, 39 → 1 (conflict)\n'],
    ] as const)(
      'prints the rows and keeps the exit code if --failed-out is full: %j',
      async ([csv, code, counts, told]) => {
        const shop = await openShop({ faults: ['PATCH /inventory/5:status=400'] });
        const result = await apply(shop, csv, ['--failed-out', '/dev/full', '--force']);
        expect(result).toMatchObject({ code, report: { counts } });
        expect(result.stderr).toMatch(saved);
        expect(result.stderr).toContain(told);
        expect(errorJson(result.stderr).error.message).not.toContain('saved');
      },
    );
  });
});

test('prints a hint with a command that succeeds if apply is refused', async ({ shop }) => {
  for (const [text, yes] of [
    ['petId,quantity\n4,1\n', ''],
    ['petId,quantity\n4,1\n4242,1\n', ' --yes'],
  ] as const) {
    const { stderr } = await shop.run(`inventory apply ${changeFile(shop, text)} --json${yes}`);
    const { hint } = errorJson(stderr).error;
    expect(await shop.run(`${hint.replace('petstock ', '')}${yes}`)).toMatchObject({ code: 0 });
  }
});

test('does not send unedited rows, even if their stock has changed since', async ({ shop }) => {
  const { stdout } = await shop.run('inventory export -');
  const file = changeFile(
    shop,
    stdout.replace(/(\n4,.*,39,)39,/, (_, before) => `${before}20,`),
    'export.csv',
  );
  await shop.run('inventory apply - --yes', { stdin: 'petId,quantity\n1,3\n6,2\n' });
  const result = await shop.run(`inventory apply ${file} --yes --json`);
  expect(result).toMatchObject({ code: 0, sent: ['GET /v1/inventory', 'PATCH /v1/inventory/4 {"quantity":20}'] });
  const { counts, rows } = JSON.parse(result.stdout);
  expect(counts).toMatchObject({ applied: 1, notEdited: 23, unchanged: 0, conflict: 0 });
  expect(rows).toHaveLength(24);
  expect(result.stderr).toContain('1 change, 23 not edited.');
  const [run] = await shop.json('history list --json');
  expect(run.counts).toMatchObject({ applied: 1, notEdited: 23 });
});

test('reports only changed rows with --changed', async ({ shop }) => {
  const csv = 'petId,quantity,expected\n4,20,\n1,12,\n6,14,14\n777,1,\n';
  const { report } = await apply(shop, csv, ['--changed', '--skip-unknown']);
  expect(report.rows).toEqual([{ line: 2, petId: 4, before: 39, after: 20, result: 'applied' }]);
});

test('counts only the rows to write as planned in a dry run', async ({ shop }) => {
  const { report, code } = await apply(shop, 'petId,quantity,expected\n4,50,\n5,9,77\n6,14,\n', ['--dry-run']);
  expect([code, report.run, report.dryRun]).toEqual([8, null, true]);
  expect(report.counts).toMatchObject({ planned: 1, conflict: 1, unchanged: 1, applied: 0 });
  const written = await apply(shop, 'petId,quantity\n4,50\n');
  expect(written.report.counts).toMatchObject({ planned: 0, applied: 1 });
  const [listed] = await shop.json('history list --json');
  expect(Object.keys(listed.counts)).toEqual([...Object.keys(written.report.counts), 'pending']);
});

test('prints the run in each line of NDJSON', async ({ shop }) => {
  const { report } = await apply(shop, 'petId,quantity\n4,50\n5,9\n');
  const shown = jsonLines((await shop.exits('history show latest -o ndjson', 0)).stdout);
  expect(shown.map(({ run, petId }) => [run, petId])).toEqual([4, 5].map((petId) => [report.run, petId]));
  const file = changeFile(shop, 'petId,quantity\n4,51\n5,10\n');
  const applied = jsonLines((await shop.exits(['inventory', 'apply', file, '--yes', '-o', 'ndjson'], 0)).stdout);
  const latest = await shop.json('history show latest --json');
  expect(applied.map(({ run }) => run)).toEqual([latest.run, latest.run]);
  expect(latest.rows[0].run).toBeUndefined();
});
