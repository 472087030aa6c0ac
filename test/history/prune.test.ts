import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type PruneOptions, removeRuns, runsToPrune } from '../../src/history/prune.ts';
import type { Outcome } from '../../src/history/records.ts';
import { resumeJournal } from '../../src/history/resume.ts';
import { change, changes, createRig, type Rig } from './rig.ts';

const applied: Outcome = { row: 1, result: 'applied', quantity: 8 };
const second = (n: number) => Date.UTC(2026, 0, 15, 12, 0, n);

function plan(rig: Rig, options: Partial<PruneOptions>) {
  const { runs, kept } = runsToPrune(rig.stateFolder, { ...rig.machine(), ...options });
  return { runs: runs.map(({ run }) => run), kept: kept.map(({ run }) => run) };
}

describe('what may go', () => {
  test('by age and by number, and by both only what is past both', async () => {
    const rig = await createRig();
    const [a = '', b = '', c = ''] = [
      await rig.record([applied]),
      await rig.record([applied]),
      await rig.record([applied]),
    ];
    expect(plan(rig, { before: second(3) }).runs).toEqual([b, a]);
    expect(plan(rig, { before: second(1) }).runs).toEqual([]);
    expect(plan(rig, { keep: 1 }).runs).toEqual([b, a]);
    expect(plan(rig, { keep: 0 }).runs).toEqual([c, b, a]);
    expect(plan(rig, { keep: 2, before: second(3) }).runs).toEqual([a]);
    expect(plan(rig, { keep: 1, before: second(2) }).runs).toEqual([a]);
    expect(plan(rig, {})).toEqual({ runs: [], kept: [] });
  });

  test('not what could be resumed, unless that is wanted, and never what is going on', async () => {
    const rig = await createRig();
    const open = await rig.record([{ row: 1, result: 'unknown' }]);
    const running = await rig.open();
    await running.plan(changes(1), 0);
    expect(plan(rig, { keep: 0 })).toEqual({ runs: [], kept: [running.run, open] });
    expect(plan(rig, { keep: 0, incomplete: true })).toEqual({ runs: [open], kept: [running.run] });
    await running.close();
  });

  test('what was never planned whole: nothing of it was sent', async () => {
    const rig = await createRig();
    const journal = await rig.open();
    await journal.close();
    expect(plan(rig, { keep: 0 }).runs).toEqual([journal.run]);
  });

  test('no undo of a run that stays: it could be undone twice', async () => {
    const rig = await createRig();
    const run = await rig.record([applied, { row: 2, result: 'unknown' }]);
    const undo = await rig.record([applied], { head: { undoes: run }, changes: [change(1, { line: 1 })] });
    const redo = await rig.record([applied], { head: { undoes: undo }, changes: [change(1, { line: 1 })] });
    expect(plan(rig, { keep: 0 })).toEqual({ runs: [], kept: [redo, undo, run] });
    expect(plan(rig, { keep: 0, incomplete: true }).runs).toEqual([redo, undo, run]);
  });
});

test('the files are removed, but of a run that somebody has gone on with since', async () => {
  const rig = await createRig();
  const done = await rig.record([applied]);
  const gone = await rig.record([applied]);
  const open = await rig.record([{ row: 1, result: 'unknown' }]);
  const { runs } = runsToPrune(rig.stateFolder, { ...rig.machine(), keep: 0, incomplete: true });
  removeRuns(rig.stateFolder, [{ run: gone }], rig.machine());
  const { journal } = await resumeJournal(rig.stateFolder, open, rig.machine());
  expect(removeRuns(rig.stateFolder, runs, rig.machine())).toEqual([done]);
  expect([done, gone, open].map((run) => existsSync(rig.path(run)))).toEqual([false, false, true]);
  await journal.close();
});
