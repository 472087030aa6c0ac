import { describe, expect, it, test } from 'vitest';
import type { RecordedRow, RunRecord } from '../../src/inventory/run-records.ts';
import { historyExportView, historyRunFacts, historyRunHints, historyRunView } from '../../src/output/history-views.ts';
import type { Format } from '../../src/output/view.ts';
import { largeRun, rowOf, runOf, streamed } from './history-runs.ts';
import { render } from './render.ts';

const error = { code: 'NOT_FOUND', message: 'no such pet', status: 404 };
const timeout = { code: 'timeout', message: 'no response within 30 s' };
const rows = [
  rowOf(1, { line: 2, reason: 'count' }),
  rowOf(2, { line: 3, petId: 9007199254740993n, before: undefined, result: 'failed', quantity: undefined, error }),
  rowOf(3, { line: 5, result: 'conflict', quantity: 0, ref: 'D-17' }),
  rowOf(4, { line: 6, result: 'unknown', quantity: undefined, error: timeout }),
  rowOf(5, { line: 7, result: 'pending', quantity: undefined, at: undefined }),
  rowOf(6, { line: 8, result: 'differs', quantity: 100, undoneBy: '20260115T130000Z-aaaa' }),
];
const show = (format: Format, run: RunRecord, some: readonly RecordedRow[], width?: number) =>
  render(
    format,
    historyRunView(run, () => streamed(some)),
    { ...(width !== undefined && { width }) },
  );

describe('historyRunView', () => {
  it('prints a run with its rows as JSON', async () => {
    const lines = (await show('json', largeRun, rows.slice(1, 4))).split('\n');
    expect(lines[0]).toMatch(/^\{"run":"20260115T120020Z-k3x9",.*"state":"done","rows":\[$/);
    expect(lines.slice(1)).toEqual([
      '{"row":2,"line":3,"petId":9007199254740993,"before":null,"after":12,"result":"failed","quantity":null,"error":{"code":"NOT_FOUND","message":"no such pet","status":404},"reason":null,"ref":null,"at":"2026-01-15T12:00:21.000Z"},',
      '{"row":3,"line":5,"petId":42,"before":7,"after":12,"result":"conflict","quantity":0,"error":null,"reason":null,"ref":"D-17","at":"2026-01-15T12:00:21.000Z"},',
      '{"row":4,"line":6,"petId":42,"before":7,"after":12,"result":"unknown","quantity":null,"error":{"code":"timeout","message":"no response within 30 s"},"reason":null,"ref":null,"at":"2026-01-15T12:00:21.000Z"}',
      ']}',
      '',
    ]);
    expect((await show('ndjson', largeRun, rows)).trim().split('\n')).toHaveLength(6);
  });

  it('prints the rows of a run as CSV', async () => {
    expect(await show('csv', largeRun, rows.slice(1, 3))).toBe(
      [
        'row,line,petId,before,after,result,quantity,error,reason,ref,at',
        '2,3,9007199254740993,,12,failed,,no such pet,,,2026-01-15T12:00:21.000Z',
        '3,5,42,7,12,conflict,0,,,D-17,2026-01-15T12:00:21.000Z\n',
      ].join('\n'),
    );
  });

  it('prints a run as a table of only those columns that have values', async () => {
    expect(await show('table', largeRun, rows, 160)).toMatchInlineSnapshot(`
      "Line            Pet ID  Before  After  Wanted  Result    Found  Error                                                        Undone by  Reason   Ref
         2                42       7     12          applied                                                                                  │ count
         3  9007199254740993                     12  failed           │ no such pet
         5                42       7             12  conflict      0                                                                                   │ D-17
         6                42       7             12  unknown          │ not known whether it was written: no response within 30 s
         7                42       7             12  pending
         8                42       7    100      12  differs                                                                       aaaa
      "
    `);
    expect(await show('table', runOf(), [rowOf(1)], 80)).toMatchInlineSnapshot(`
      "Row  Pet ID  Before  After  Result
        1      42       7     12  applied
      "
    `);
    expect(await show('table', runOf({ reason: 'undo' }), [rowOf(1, { reason: 'undo' })], 80)).not.toContain('Reason');
    expect(await show('table', runOf(), [], 80)).toBe('');
  });

  it('returns the facts of a run apart from its user, file, URL and reason', () => {
    expect(historyRunFacts(largeRun)).toEqual({
      own: [
        'Run 20260115T120020Z-k3x9: inventory apply',
        '2026-01-15 07:00, north/production',
        '1,196 of 1,203 changes written, 2 unknown',
        '1,195 of 1,198 rows undone by runs 20260115T130000Z-aaaa, 20260115T140000Z-bbbb',
      ],
      words: ['By anna on till-1, from stock.csv', 'At https://shop.example/v1', 'stock-take'],
    });
    expect(historyRunFacts(runOf({ command: 'undo', undoes: 'r1', host: 'a\x1b[2Jb', reason: 'N-1' }))).toEqual({
      own: ['Run 20260114T140000Z-0001: undo', '2026-01-14 09:00, staging', '1 change, 1 unit', 'Undoes run r1'],
      words: ['By ab', 'At https://shop.example/v1', 'N-1'],
    });
    expect(historyRunFacts(runOf({ file: '-' })).words[0]).toMatch(/, from stdin$/);
    expect(historyRunFacts(runOf({ undoneBy: ['r2'], undone: 1 })).own).toContain('Undone by run r2');
  });

  const resume = 'To resume: petstock inventory apply --resume 20260114T140000Z-0001 --env staging';
  const undo = 'Undo: petstock undo 20260114T140000Z-0001 --env staging';

  test.each<[Parameters<typeof runOf>[0], string[]]>([
    [{}, [undo]],
    [{ counts: { pending: 1, applied: 1 }, state: 'incomplete' }, [resume, undo]],
    [{ counts: { unknown: 1 }, state: 'incomplete' }, [resume]],
    [{ counts: { differs: 1 } }, [undo]],
    [{ undone: 1, undoneBy: ['r2'] }, []],
    [{ counts: { failed: 1 } }, []],
    [{ counts: { pending: 1, applied: 1 }, state: 'running' }, []],
    [{ store: 'north' }, [undo.replace('--env', '--store north --env')]],
  ])('suggests how to resume and undo a run with %j: %j', (changes, hints) => {
    expect(historyRunHints(runOf(changes))).toEqual(hints);
  });
});

it('exports each row with the details of its run', async () => {
  const row = rowOf(1, { line: 2, reason: 'count', undoneBy: 'r2' });
  expect(
    await render(
      'ndjson',
      historyExportView(() => streamed([{ run: largeRun, row }])),
    ),
  ).toBe(
    '{"run":"20260115T120020Z-k3x9","env":"production","store":"north","baseUrl":"https://shop.example/v1","command":"inventory apply","user":"anna","host":"till-1","file":"stock.csv","undoes":null,"runAt":"2026-01-15T12:00:20.123Z","row":1,"line":2,"petId":42,"before":7,"after":12,"result":"applied","quantity":12,"error":null,"reason":"count","ref":null,"at":"2026-01-15T12:00:21.000Z","seq":1}\n',
  );
});
