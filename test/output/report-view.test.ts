import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it, test } from 'vitest';
import type { BulkReport, BulkRow } from '../../src/inventory/change.ts';
import { bulkReportView, countsSentence } from '../../src/output/report-view.ts';
import { bulkRow } from './fixtures.ts';
import { render, visible } from './render.ts';

const refused = { code: 'INVALID_QUANTITY', message: 'too many, by "far"', status: 400 };
const conflict = { code: 'conflict', message: 'the stock is 9, not 7' };
const rows = [
  bulkRow(1n, 5, 8, { result: 'applied' }),
  bulkRow(9223372036854775807n, 5, 5, { line: 3, result: 'unchanged' }),
  bulkRow(3n, 0, -1, { line: 4, result: 'failed', error: refused }),
  bulkRow(4n, 9, undefined, { line: 5, result: 'conflict', error: conflict }),
  bulkRow(5n, 2, 3, { line: 6, result: 'notAttempted' }),
  bulkRow(6n, 1, 2, { line: 7, result: 'unknown', error: { code: 'timeout', message: 'no response within 30 s' } }),
  bulkRow(7n, 1, 500, { line: 8, result: 'differs', quantity: 100 }),
];
const report: BulkReport = { run: '20260115T120020Z-k3x9', env: 'staging', dryRun: false, rows };
const view = bulkReportView(report);

describe('bulkReportView', () => {
  it('prints a report as one JSON object, and as NDJSON with one row per line', async () => {
    const text = await render('json', view);
    expect(text).toBe(
      [
        '{"run":"20260115T120020Z-k3x9","env":"staging","dryRun":false,"counts":{"applied":1,"unchanged":1,"failed":1,"conflict":1,"notAttempted":1,"unknown":1,"differs":1,"skipped":0,"notEdited":0,"planned":0},"rows":[',
        '{"line":2,"petId":1,"before":5,"after":8,"result":"applied"},',
        '{"line":3,"petId":9223372036854775807,"before":5,"after":5,"result":"unchanged"},',
        '{"line":4,"petId":3,"before":0,"after":-1,"result":"failed","error":{"code":"INVALID_QUANTITY","message":"too many, by \\"far\\"","status":400}},',
        '{"line":5,"petId":4,"before":9,"after":null,"result":"conflict","error":{"code":"conflict","message":"the stock is 9, not 7"}},',
        '{"line":6,"petId":5,"before":2,"after":3,"result":"notAttempted"},',
        '{"line":7,"petId":6,"before":1,"after":2,"result":"unknown","error":{"code":"timeout","message":"no response within 30 s"}},',
        '{"line":8,"petId":7,"before":1,"after":500,"result":"differs","quantity":100}',
        ']}\n',
      ].join('\n'),
    );
    const lines = text.split('\n').slice(1, -2);
    const withRun = lines.map((line) => `${line.replace(/,$/, '').replace('{', `{"run":"${report.run}",`)}\n`);
    expect(await render('ndjson', view)).toBe(withRun.join(''));
  });

  it('renders an empty report without rows', async () => {
    const nothing = bulkReportView({ ...report, run: null, dryRun: true, rows: [] });
    expect(await render('json', nothing)).toMatch(/^\{"run":null,"env":"staging","dryRun":true,.*"rows":\[\]\}\n$/);
    expect([await render('ndjson', nothing), await render('table', nothing)]).toEqual(['', '']);
  });

  it('prints a report as CSV and TSV, with the messages of errors', async () => {
    const lines = (await render('csv', view)).split('\n');
    const failed = '4,3,0,-1,failed,"too many, by ""far""",';
    expect(lines.slice(0, 4)).toEqual([
      'line,petId,before,after,result,error,quantity',
      '2,1,5,8,applied,,',
      '3,9223372036854775807,5,5,unchanged,,',
      failed,
    ]);
    expect(lines.slice(-2)).toEqual(['8,7,1,500,differs,,100', '']);
    expect(await render('tsv', view)).toMatch(/^2\t1\t5\t8\tapplied\t\t\n/);
  });

  it('omits unchanged rows and empty columns from the table of a report', async () => {
    const painted = await render('table', view, { width: 120, color: true, header: false });
    expect(visible(painted)).toMatchInlineSnapshot(`
      "2  1  5    8       ␛[32mapplied␛[39m
      4  3  0        -1  ␛[31mfailed␛[39m         │ too many, by "far"
      5  4  9            ␛[33mconflict␛[39m       │ the stock is 9, not 7
      6  5  2         3  ␛[2mnot attempted␛[22m
      7  6  1         2  ␛[33munknown␛[39m        │ not known whether it was written: no response within 30 s
      8  7  1  100  500  ␛[33mdiffers␛[39m        │ the service wrote 100
      "
    `);
    const [head, ...lines] = (await render('table', view, { width: 120 })).split('\n');
    expect(head).toBe('Line  Pet ID  Before  After  Wanted  Result         Error');
    const cells = (line: string) => line.trim().split(/ {2,}/);
    expect(lines.map(cells)).toEqual(stripVTControlCharacters(painted).split('\n').map(cells));
    const some = bulkReportView({ ...report, rows: rows.slice(0, 2) });
    expect(await render('table', some)).toBe('Pet ID  Before  After  Result\n     1       5      8  applied\n');
  });
});

test('shows an error only below its row if there is no room beside the row', async () => {
  const lines = (await render('table', view, { width: 64 })).split('\n');
  expect(lines.slice(0, 5)).toMatchInlineSnapshot(`
    [
      "Line  Pet ID  Before  After  Wanted  Result",
      "   2       1       5      8          applied",
      "   4       3       0             -1  failed",
      "  │ too many, by "far"",
      "   5       4       9                 conflict",
    ]
  `);
});

test('counts results in one sentence', () => {
  const all = '1 applied, 1 unchanged, 1 failed, 1 conflict, 1 not attempted, 1 unknown, 1 differs.';
  expect(countsSentence(rows, {})).toBe(all);
  const applied = Array<BulkRow>(1195).fill(bulkRow(1n, 1, 2, { result: 'applied' }));
  const many = [...rows, ...rows.slice(3, 5), ...applied];
  expect(countsSentence(many, { skipped: 2, notEdited: 0 })).toBe(
    '1,196 applied, 1 unchanged, 2 skipped, 1 failed, 2 conflicts, 2 not attempted, 1 unknown, 1 differs.',
  );
  expect(countsSentence([], {})).toBe('No rows.');
  const planned = [bulkRow(1n, 5, 8), bulkRow(2n, 5, 8), ...rows.slice(1, 2)];
  expect(countsSentence(planned, {})).toBe('2 changes, 1 unchanged.');
});

test('does not repeat "Interrupted" in each row of a table', async () => {
  const error = { code: 'interrupted', message: 'Interrupted' };
  const left = rows.map((row) => ({ ...row, result: 'notAttempted' as const, error }));
  const table = await render('table', bulkReportView({ ...report, rows: left }), { width: 80 });
  expect(table).toContain('not attempted');
  expect(table).not.toContain('Interrupted');
});
