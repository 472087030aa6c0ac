import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Outcome } from '../../src/history/records.ts';
import { listRuns, undoneRows } from '../../src/history/runs.ts';
import { change, changes, createRig } from './rig.ts';

const applied: Outcome = { row: 1, result: 'applied', quantity: 8 };

describe('the list of runs', () => {
  test('is empty where there is no history', async () => {
    const rig = await createRig();
    expect(listRuns(rig.stateFolder, {}, rig.machine())).toEqual({ runs: [], problems: [] });
  });

  test('tells the newest first, with what became of the rows', async () => {
    const rig = await createRig();
    const first = await rig.record([applied], { head: { command: 'inventory set', file: undefined } });
    const second = await rig.record([
      applied,
      { row: 2, result: 'failed' },
      { row: 3, result: 'conflict' },
      { row: 4, result: 'unknown' },
      { row: 5, result: 'void' },
      { row: 6, result: 'unchanged' },
    ]);
    const { runs } = listRuns(rig.stateFolder, {}, rig.machine());
    const none = { applied: 0, unchanged: 0, failed: 0, conflict: 0, open: 0, pending: 0 };
    const same = { env: 'staging', user: 'ana', undoes: undefined, undoneBy: [], undone: 0, planned: true };
    const file = 'delivery.csv';
    expect(runs).toEqual([
      {
        ...{ ...same, run: second, at: '2026-01-15T12:00:02.000Z', command: 'inventory apply', file },
        ...{ changes: 6, counts: { applied: 1, unchanged: 1, failed: 1, conflict: 1, open: 1, pending: 1 } },
        state: 'incomplete',
      },
      {
        ...{ ...same, run: first, at: '2026-01-15T12:00:01.000Z', command: 'inventory set', file: undefined },
        ...{ changes: 1, counts: { ...none, applied: 1 }, state: 'done' },
      },
    ]);
  });

  test('tells which are going on', async () => {
    const rig = await createRig();
    rig.alive.add(10);
    await (await rig.open({ pid: 10 })).plan(changes(1), 0);
    await (await rig.open({ pid: 11 })).plan(changes(1), 0);
    await (await rig.open({ pid: 10, boot: 'the one before' })).plan(changes(1), 0);
    await (await rig.open({ pid: 1 })).plan(changes(1), 0);
    const states = () => listRuns(rig.stateFolder, {}, rig.machine()).runs.map(({ state }) => state);
    expect(states()).toEqual(['running', 'incomplete', 'incomplete', 'running']);
    rig.alive.delete(10);
    expect(states()).toEqual(['running', 'incomplete', 'incomplete', 'incomplete']);
  });

  test('takes a process that had our number before for gone', async () => {
    const rig = await createRig();
    const journal = await rig.open({ pid: 1 });
    await journal.plan(changes(1), 0);
    const before = '20260101T000000Z-gone';
    writeFileSync(rig.path(before), rig.text(journal.run).replaceAll(journal.run, before));
    const { runs } = listRuns(rig.stateFolder, {}, rig.machine(1));
    expect(runs.map(({ state }) => state)).toEqual(['running', 'incomplete']);
    await journal.close();
  });

  test('a run that broke off in its plan is one that was not planned', async () => {
    const rig = await createRig();
    const run = await rig.record([applied]);
    writeFileSync(rig.path(run), rig.text(run).split('{"type":"ready"')[0] ?? '');
    const { runs } = listRuns(rig.stateFolder, {}, rig.machine());
    expect(runs).toMatchObject([{ planned: false, state: 'incomplete', changes: 1 }]);
  });

  test('tells by environment, pet and time', async () => {
    const rig = await createRig();
    const first = await rig.record([applied], { changes: [change(1, { petId: 7n })] });
    const second = await rig.record([applied], { head: { env: 'production' }, changes: [change(1, { petId: 8n })] });
    const found = (filter: Parameters<typeof listRuns>[1]) =>
      listRuns(rig.stateFolder, filter, rig.machine()).runs.map(({ run }) => run);
    expect(found({ env: 'production' })).toEqual([second]);
    expect(found({ petId: 7n })).toEqual([first]);
    expect(found({ petId: 9n })).toEqual([]);
    const at = Date.UTC(2026, 0, 15, 12, 0, 2);
    expect(found({ since: at })).toEqual([second]);
    expect(found({ since: at + 1 })).toEqual([]);
    expect(found({ until: at })).toEqual([second, first]);
    expect(found({ until: at - 1 })).toEqual([first]);
  });

  test('one that can not be read hides no other', async () => {
    const rig = await createRig();
    const run = await rig.record([applied]);
    writeFileSync(rig.path('20260101T000000Z-bad1'), 'garbage');
    mkdirSync(rig.path('20260101T000000Z-bad2'));
    writeFileSync(rig.path('20260101T000000Z-bad3'), rig.text(run).replace('"petId"', '"pet\0d"'));
    writeFileSync(`${rig.stateFolder}/history/notes.txt`, 'mine');
    mkdirSync(`${rig.stateFolder}/history/claims`);
    const { runs, problems } = listRuns(rig.stateFolder, {}, rig.machine());
    expect(runs.map(({ changes: count }) => count)).toEqual([1, 0]);
    expect(problems).toEqual([
      expect.stringMatching(/^Run 20260101T000000Z-bad1 in .* can't be read \(its first line is damaged\)$/),
      expect.stringMatching(/^Run 20260101T000000Z-bad2 in .* can't be read \(it is not a file\)$/),
      expect.stringMatching(/^Run 20260101T000000Z-bad3 in .* is damaged: 1 of its changes can't be read$/),
    ]);
  });
});

describe('undo', () => {
  const undo = (undoes: string, rows: readonly number[]) => ({
    head: { command: 'undo', undoes },
    changes: rows.map((line, index) => change(index + 1, { line })),
  });

  test('is told by row, with the run that did it; what failed was not taken back', async () => {
    const rig = await createRig();
    const run = await rig.record([applied, { row: 2, result: 'applied' }, { row: 3, result: 'applied' }]);
    const first = await rig.record([applied, { row: 2, result: 'conflict' }], undo(run, [3, 1]));
    expect(undoneRows(rig.stateFolder, run)).toEqual(new Map([[3, first]]));
    const second = await rig.record([applied], undo(run, [1]));
    await rig.record([applied], undo(first, [1]));
    writeFileSync(rig.path('20260101T000000Z-bad1'), 'garbage');
    expect(undoneRows(rig.stateFolder, run)).toEqual(
      new Map([
        [3, first],
        [1, second],
      ]),
    );
  });

  test('is told in the list, where it has taken back a row, whatever the filter', async () => {
    const rig = await createRig();
    const run = await rig.record([applied]);
    await rig.record([{ row: 1, result: 'conflict' }], undo(run, [1]));
    const done = await rig.record([applied], undo(run, [1]));
    const at = Date.UTC(2026, 0, 15, 12, 0, 1);
    const { runs } = listRuns(rig.stateFolder, { until: at }, rig.machine());
    expect(runs).toMatchObject([{ run, undoneBy: [done] }]);
  });
});
