import { describe, expect, it, test } from 'vitest';
import type { RecordedRow, RunRecord } from '../../src/inventory/run-records.ts';
import { historyListView } from '../../src/output/history-views.ts';
import type { Format } from '../../src/output/view.ts';
import { largeRun, rowOf, runOf, streamed } from './history-runs.ts';
import { type RenderTestOptions, render, visible } from './render.ts';

const only = rowOf(1, { petId: 22n, before: 2, after: 3 });
type ListOptions = RenderTestOptions & { readonly isShared?: boolean; readonly rows?: readonly RecordedRow[] };

function list(format: Format, runs: readonly RunRecord[], { rows = [only], isShared, ...options }: ListOptions = {}) {
  const given = {
    target: 'staging',
    rows: () => streamed(rows),
    now: Date.parse('2026-01-16T12:00:00Z'),
    ...(isShared && { isShared }),
  };
  return render(
    format,
    historyListView(() => streamed(runs), given),
    options,
  );
}

const largeJson =
  '{"run":"20260115T120020Z-k3x9","at":"2026-01-15T12:00:20.123Z","env":"production","store":"north","baseUrl":"https://shop.example/v1","command":"inventory apply","user":"anna","host":"till-1","file":"stock.csv","reason":"stock-take","undoes":null,"undoneBy":["20260115T130000Z-aaaa","20260115T140000Z-bbbb"],"changes":1203,"units":4000,"pets":[4,9007199254740993,9223372036854775807],"counts":{"applied":1195,"unchanged":7,"failed":2,"conflict":3,"notAttempted":0,"unknown":2,"differs":1,"skipped":0,"notEdited":0,"planned":0,"pending":0},"state":"done"}';
describe('historyListView', () => {
  it('prints runs as JSON and NDJSON', async () => {
    expect(await list('json', [largeRun])).toBe(`[\n${largeJson}\n]\n`);
    expect(await list('ndjson', [largeRun])).toBe(`${largeJson}\n`);
    expect(await list('json', [])).toBe('[]\n');
    expect(await list('ndjson', [runOf({ pets: [7n] })])).toContain('"pets":[7]');
  });

  it('prints a list of runs as flat CSV', async () => {
    expect(await list('csv', [largeRun, runOf()])).toBe(
      [
        'run,at,env,store,baseUrl,command,user,host,file,reason,undoes,undoneBy,changes,units,pets,applied,unchanged,failed,conflict,notAttempted,unknown,differs,skipped,notEdited,planned,pending,state',
        '20260115T120020Z-k3x9,2026-01-15T12:00:20.123Z,production,north,https://shop.example/v1,inventory apply,anna,till-1,stock.csv,stock-take,,20260115T130000Z-aaaa 20260115T140000Z-bbbb,1203,4000,4 9007199254740993 9223372036854775807,1195,7,2,3,0,2,1,0,0,0,0,done',
        '20260114T140000Z-0001,2026-01-14T14:00:00.000Z,staging,,https://shop.example/v1,inventory set,,till-1,,,,,1,1,22,1,0,0,0,0,0,0,0,0,0,0,done\n',
      ].join('\n'),
    );
  });

  it('shows the change of each run in a table', async () => {
    const four = { changes: 4, units: 10n, pets: [1n, 2n, 3n, 4n], counts: { applied: 4 } };
    const few = runOf({ command: 'inventory adjust', ...four });
    const rows = [
      only,
      rowOf(2, { petId: 5n, before: 9, after: 8, quantity: 8 }),
      rowOf(3, { before: 0, quantity: 12 }),
    ];
    expect(await list('table', [largeRun, few, runOf()], { width: 160, rows })).toMatchInlineSnapshot(`
      "At            Change          Command  Result                                                                       Run   Env               By      Reason
      15 Jan 07:00  1,203 pets      apply    1,195 undone, 2 unknown, 1 differs, 2 failed, 3 conflicts, 1,195 of 1,203 …  k3x9  north/production  anna    │ stock-take
      14 Jan 09:00  4 pets: +22 −1  adjust   4 applied                                                                    0001  staging           till-1
      14 Jan 09:00  22: 2 → 3       set      applied                                                                      0001  staging           till-1
      "
    `);
    const others = [{ ...few, user: 'anna', reason: 'delivery N-881' }, runOf({ store: 'north', env: 'production' })];
    const some = [largeRun, ...others];
    expect(await list('table', some, { width: 60, isShared: true, rows })).toMatchInlineSnapshot(`
      "At           Change        Result        Run  Env
      15 Jan 07:00 1,203 pets    1,195 undone… k3x9 north/produc…
      14 Jan 09:00 4 pets: +22 … 4 applied     0001 staging
      14 Jan 09:00 22: 2 → 3     applied       0001 north/produc…
      "
    `);
  });

  test.each<[Parameters<typeof runOf>[0], string]>([
    [{}, 'applied'],
    [{ counts: { conflict: 1 } }, '␛[33mconflict␛[39m'],
    [{ counts: { differs: 1 } }, '␛[33mdiffers␛[39m'],
    [
      { changes: 2004, counts: { unknown: 3, pending: 2000, applied: 1 }, state: 'incomplete' },
      '␛[33m1 of 2,004 applied, incomplete, 3 unknown, 2,000 pending␛[39m',
    ],
    [{ counts: { pending: 1 }, state: 'running' }, '␛[33mrunning, pending␛[39m'],
    [{ counts: { pending: 1 }, state: 'incomplete' }, '␛[33mnothing applied␛[39m'],
    [{ undoneBy: ['x'], undone: 1 }, '␛[33mundone␛[39m'],
    [{ undoneBy: ['x'], undone: 1, changes: 3, counts: { applied: 3 } }, '␛[33m1 undone, 3 of 3 applied␛[39m'],
    [{ counts: { unchanged: 1 } }, 'unchanged'],
    [{ changes: 0, counts: {} }, 'unchanged'],
  ])('shows the result of a run with %j: %s', async (changes, result) => {
    const line = await list('table', [runOf(changes)], { color: true, header: false });
    expect(visible(line).trim().split(/ {2,}/)[3]).toBe(result);
  });

  test.each<[readonly RecordedRow[], string]>([
    [[rowOf(1, { before: 2, quantity: 3 }), rowOf(2, { before: 1, after: 5, quantity: undefined })], '2 pets: +5'],
    [[rowOf(1, { before: 5, quantity: 1 }), rowOf(2, { before: 1, quantity: 0 })], '2 pets: −5'],
    [[rowOf(1, { before: 5, quantity: 1, result: 'conflict' }), rowOf(2, { before: 1, quantity: 1 })], '2 pets'],
  ])('shows the units added and removed in a run of two pets', async (rows, change) => {
    const line = await list('table', [runOf({ changes: 2 })], { rows, header: false });
    expect(line.trim().split(/ {2,}/)[1]).toBe(change);
  });

  it('shows "?" for the unknown stock before a plain set', async () => {
    const row = rowOf(1, { petId: 22n, before: undefined, after: 3 });
    expect(await list('table', [runOf({ reason: 'sold' })], { rows: [row] })).toMatch(/22: \? → 3 +set .* sold$/m);
  });

  it('reads at most 1,000 runs if the reader stops early', async () => {
    let read = 0;
    async function* endless() {
      for (;;) {
        read += 1;
        yield runOf();
      }
    }
    const view = historyListView(endless, { target: '', rows: () => streamed([only]), now: 0 });
    for await (const _lines of view.rows) break;
    expect(read).toBeLessThanOrEqual(1000);
  });
});
