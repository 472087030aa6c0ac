import { describe, expect, it, test } from 'vitest';
import type { RecordedRunFacts, RunFacts, RunRowFacts } from '../../src/output/history-facts.ts';
import { historyListView, historyRunLines, historyRunView } from '../../src/output/history-view.ts';
import { render, visible } from './render.ts';

const none = { applied: 0, failed: 0, conflict: 0, open: 0, pending: 0 };
const done: RunFacts = {
  run: '20260115T120020Z-k3x9',
  at: '2026-01-15T12:00:20.123Z',
  env: 'production',
  command: 'inventory apply',
  user: 'anna',
  file: 'stock.csv',
  undoes: undefined,
  undoneBy: ['20260115T130000Z-aaaa', '20260115T140000Z-bbbb'],
  undone: 1195,
  changes: 1200,
  counts: { ...none, applied: 1195, failed: 2, conflict: 3 },
  planned: true,
  state: 'done',
};
const single: RunFacts = {
  ...{ run: '20260114T090000Z-0001', at: '2026-01-14T09:00:00Z', env: 'staging', command: 'inventory set' },
  ...{ undoneBy: [], undone: 0, changes: 1, counts: { ...none, applied: 1 }, planned: true, state: 'done' },
};

describe('the list of runs', () => {
  it('is whole in JSON', async () => {
    expect(await render('json', historyListView([done, single]))).toBe(
      '[{"run":"20260115T120020Z-k3x9","at":"2026-01-15T12:00:20.123Z","env":"production","command":"inventory apply","user":"anna","file":"stock.csv","undoes":null,"undoneBy":["20260115T130000Z-aaaa","20260115T140000Z-bbbb"],"changes":1200,"counts":{"applied":1195,"failed":2,"conflict":3,"open":0,"pending":0},"state":"done"},' +
        '{"run":"20260114T090000Z-0001","at":"2026-01-14T09:00:00Z","env":"staging","command":"inventory set","user":null,"file":null,"undoes":null,"undoneBy":[],"changes":1,"counts":{"applied":1,"failed":0,"conflict":0,"open":0,"pending":0},"state":"done"}]\n',
    );
    expect((await render('ndjson', historyListView([done, single]))).split('\n')).toHaveLength(3);
    expect(await render('json', historyListView([]))).toBe('[]\n');
  });

  it('is flat in CSV and TSV', async () => {
    expect(await render('csv', historyListView([done, single]))).toBe(
      [
        'run,at,env,command,user,changes,applied,failed,conflict,open,state,undoneBy',
        '20260115T120020Z-k3x9,2026-01-15T12:00:20.123Z,production,inventory apply,anna,1200,1195,2,3,0,done,20260115T130000Z-aaaa 20260115T140000Z-bbbb',
        '20260114T090000Z-0001,2026-01-14T09:00:00Z,staging,inventory set,,1,1,0,0,0,done,\n',
      ].join('\n'),
    );
  });

  it('has local time and the result in words in a table', async () => {
    expect(await render('table', historyListView([done, single]), { width: 120 })).toMatchInlineSnapshot(`
      "Run                    At                Env         Command  Result
      20260115T120020Z-k3x9  2026-01-15 07:00  production  apply    undone, 2 failed, 3 conflicts, 1,195 applied
      20260114T090000Z-0001  2026-01-14 04:00  staging     set      1 applied
      "
    `);
    expect(await render('table', historyListView([done, single]), { width: 80 })).toMatchInlineSnapshot(`
      "Run                   At               Env        Command Result
      20260115T120020Z-k3x9 2026-01-15 07:00 production apply   undone, 2 failed, 3 c…
      20260114T090000Z-0001 2026-01-14 04:00 staging    set     1 applied
      "
    `);
  });

  test.each<[Partial<RunFacts>, string]>([
    [{}, '1 applied'],
    [{ counts: { ...none, conflict: 1 } }, '␛[33m1 conflict␛[39m'],
    [
      { counts: { ...none, open: 3, pending: 2000, applied: 1 }, state: 'incomplete' },
      '␛[33mincomplete, 3 not known, 2,000 not sent, 1 applied␛[39m',
    ],
    [{ counts: { ...none, pending: 1 }, state: 'running' }, '␛[33mrunning, 1 not sent␛[39m'],
    [{ counts: { ...none, pending: 1 }, state: 'incomplete', planned: false }, '␛[33mnothing sent␛[39m'],
    [{ counts: { ...none, pending: 1 }, state: 'running', planned: false }, '␛[33mrunning, 1 not sent␛[39m'],
    [{ undoneBy: ['x'], undone: 1 }, '␛[33mundone, 1 applied␛[39m'],
    [{ undoneBy: ['x'], undone: 1, counts: { ...none, applied: 3 } }, '␛[33m1 undone, 3 applied␛[39m'],
  ])('%j: %s', async (changes, result) => {
    const line = await render('table', historyListView([{ ...single, ...changes }]), { color: true, header: false });
    expect(visible(line).trimEnd().split(/ {2,}/).at(-1)).toBe(result);
  });
});

const row = (number: number, rest: Partial<RunRowFacts> = {}): RunRowFacts => ({
  ...{ row: number, line: number, petId: 42n, before: 7, after: 12, state: 'applied', quantity: 12 },
  ...{ error: undefined, reason: undefined, ref: undefined, ...rest },
});
const { counts: _counts, changes: _changes, planned: _planned, state: _state, ...head } = done;
const recorded: RecordedRunFacts = { ...head, baseUrl: 'https://shop.example/v1', rows: [] };
const error = { code: 'NOT_FOUND', message: 'no such pet', status: 404 };

describe('one run', () => {
  const rows = [
    row(1, { line: 2, reason: 'count' }),
    row(2, { line: 3, petId: 9007199254740993n, before: undefined, state: 'failed', quantity: undefined, error }),
    row(3, { line: 5, state: 'conflict', quantity: 0, ref: 'D-17' }),
    row(4, { line: 6, state: 'open', quantity: undefined }),
    row(5, { line: 7, state: 'pending', quantity: undefined }),
  ];

  it('is an object with rows in JSON', async () => {
    expect(await render('json', historyRunView({ ...recorded, rows: rows.slice(1, 3) }))).toBe(
      [
        '{"run":"20260115T120020Z-k3x9","at":"2026-01-15T12:00:20.123Z","env":"production","baseUrl":"https://shop.example/v1","command":"inventory apply","user":"anna","file":"stock.csv","undoes":null,"undoneBy":["20260115T130000Z-aaaa","20260115T140000Z-bbbb"],"rows":[',
        '{"row":2,"line":3,"petId":9007199254740993,"before":null,"after":12,"state":"failed","quantity":null,"reason":null,"ref":null,"error":{"code":"NOT_FOUND","message":"no such pet","status":404}},',
        '{"row":3,"line":5,"petId":42,"before":7,"after":12,"state":"conflict","quantity":0,"reason":null,"ref":"D-17"}',
        ']}\n',
      ].join('\n'),
    );
  });

  it('is its rows in the other formats', async () => {
    const view = historyRunView({ ...recorded, rows: rows.slice(1, 3) });
    expect((await render('ndjson', view)).split('\n').map((line) => line.slice(0, 17))).toEqual([
      ...['{"row":2,"line":3', '{"row":3,"line":5', ''],
    ]);
    expect(await render('csv', view)).toBe(
      'row,line,petId,before,after,state,quantity,error,reason,ref\n2,3,9007199254740993,,12,failed,,no such pet,,\n3,5,42,7,12,conflict,0,,,D-17\n',
    );
  });

  it('is a table with the columns that say something', async () => {
    expect(await render('table', historyRunView({ ...recorded, rows }), { width: 100 })).toMatchInlineSnapshot(`
      "Row  Line            Pet ID  Before  After  State      Found  Error        Reason  Ref
        1     2                42       7     12  applied       12               count
        2     3  9007199254740993             12  failed            no such pet
        3     5                42       7     12  conflict       0                       D-17
        4     6                42       7     12  not known
        5     7                42       7     12  not sent
      "
    `);
    expect(
      await render('table', historyRunView({ ...recorded, rows: [row(1)] }), { width: 80 }),
    ).toMatchInlineSnapshot(`
      "Row  Pet ID  Before  After  State
        1      42       7     12  applied
      "
    `);
  });

  it('has a head for people', () => {
    expect(historyRunLines(recorded)).toEqual([
      'Run 20260115T120020Z-k3x9: inventory apply, from stock.csv',
      '2026-01-15 07:00 by anna, production (https://shop.example/v1)',
      'Taken back by run 20260115T130000Z-aaaa, 20260115T140000Z-bbbb',
    ]);
    const undo = { ...recorded, ...{ command: 'undo', file: undefined, user: undefined, undoes: 'r1', undoneBy: [] } };
    expect(historyRunLines({ ...undo, at: 'yesterday\x1b[2J' })).toEqual([
      'Run 20260115T120020Z-k3x9: undo',
      'yesterday, production (https://shop.example/v1)',
      'Takes back run r1',
    ]);
    expect(historyRunLines({ ...recorded, file: '-' })[0]).toMatch(/, from stdin$/);
  });
});
