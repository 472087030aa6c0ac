import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Journal } from '../../src/history/journal.ts';
import { type ResumedRun, resumeJournal } from '../../src/history/resume.ts';
import { readRun } from '../../src/history/run-file.ts';
import { ConflictError, FailureError, NotFoundError, UsageError } from '../../src/shared/errors.ts';
import { change, changes, createRig, type Rig } from './rig.ts';

/** A run of two rows, the first applied and the second under way, whose process was killed. */
async function broken(rig: Rig, pid = 10): Promise<string> {
  const journal = await rig.open({ pid });
  await journal.plan(changes(2), 0);
  await journal.intent(1);
  await journal.outcome({ row: 1, result: 'applied', quantity: 8 });
  await journal.intent(2);
  return journal.run;
}

const resume = (rig: Rig, run: string, pid: number) => resumeJournal(rig.stateFolder, run, rig.machine(pid));

/** Cuts off the file what this process holds of it, as if it had been another one that was killed. */
async function killed(rig: Rig, pid = 10): Promise<string> {
  const run = await broken(rig, pid);
  const copy = `${run.slice(0, -4)}copy`;
  writeFileSync(rig.path(copy), rig.text(run).replaceAll(run, copy));
  return copy;
}

test('goes on where a killed process stopped', async () => {
  const rig = await createRig();
  const run = await killed(rig);
  const { recorded, journal } = await resume(rig, run, 20);
  expect(recorded.rows.map(({ state }) => state)).toEqual(['applied', 'open']);
  expect(journal.run).toBe(run);
  await journal.intent(2);
  await journal.outcome({ row: 2, result: 'applied', quantity: 8 });
  await journal.close();
  expect(readRun(rig.stateFolder, run).rows.map(({ state }) => state)).toEqual(['applied', 'applied']);
});

test('may be done again and again, by the last four characters too', async () => {
  const rig = await createRig();
  const run = await killed(rig);
  for (const pid of [20, 30, 40]) {
    const { journal } = await resume(rig, 'copy', pid);
    await journal.close();
  }
  expect(rig.text(run).match(/"type":"resume"/g)).toHaveLength(3);
});

test('torn at any byte of its last record, no later record is glued to what is torn', async () => {
  const rig = await createRig();
  const run = await killed(rig);
  const whole = rig.text(run);
  const last = whole.lastIndexOf('{"type":"intent"');
  for (let length = last; length <= whole.length; length += 1) {
    writeFileSync(rig.path(run), whole);
    truncateSync(rig.path(run), length);
    const before = readRun(rig.stateFolder, run).rows;
    const { recorded, journal } = await resume(rig, run, 20);
    expect(recorded.rows).toEqual(before);
    await journal.outcome({ row: 2, result: 'conflict' });
    await journal.close();
    expect(readRun(rig.stateFolder, run).rows).toMatchObject([before[0], { state: 'conflict' }]);
  }
});

describe('while its process lives', () => {
  test('it is refused, and the run goes on unharmed', async () => {
    const rig = await createRig();
    const run = await killed(rig, 10);
    rig.alive.add(10);
    const attempt = resume(rig, run, 20);
    await expect(attempt).rejects.toThrow(ConflictError);
    await expect(attempt).rejects.toThrow(`Run ${run} is still going on in process 10`);
    appendFileSync(rig.path(run), '{"type":"outcome","row":2,"result":"applied"}\n');
    expect(readRun(rig.stateFolder, run).rows).toMatchObject([{ state: 'applied' }, { state: 'applied' }]);
    rig.alive.delete(10);
    await (await resume(rig, run, 20)).journal.close();
  });

  test('but not where it has ended, or the machine has been started since', async () => {
    const rig = await createRig();
    rig.alive.add(10);
    const journal = await rig.open({ pid: 10 });
    await journal.plan(changes(1), 0);
    await journal.close();
    await (await resume(rig, journal.run, 20)).journal.close();
    const other = await rig.open({ pid: 10, boot: 'the one before' });
    await other.plan(changes(1), 0);
    const copy = `${other.run.slice(0, -4)}boot`;
    writeFileSync(rig.path(copy), rig.text(other.run).replaceAll(other.run, copy));
    await (await resume(rig, copy, 20)).journal.close();
  });

  test('nor where the number is that of this process, which does not write it: one before had it', async () => {
    const rig = await createRig();
    const run = await killed(rig, 1);
    await (await resume(rig, run, 1)).journal.close();
  });

  test('also where that is this process itself', async () => {
    const rig = await createRig();
    const run = await broken(rig, 1);
    await expect(resume(rig, run, 1)).rejects.toThrow(`still going on in process 1`);
    await expect(resume(rig, run, 1)).rejects.toThrow(ConflictError);
  });
});

describe('two that resume at once', () => {
  test('the second is told who was first', async () => {
    const rig = await createRig();
    const run = await killed(rig);
    for (const pid of [20, 30]) rig.alive.add(pid);
    const record = (pid: number) => `\n{"type":"resume","at":"2026-01-15T12:00:00.000Z","pid":${pid},"boot":"this"}\n`;
    appendFileSync(rig.path(run), record(20));
    await expect(resume(rig, run, 30)).rejects.toThrow('still going on in process 20');
    // Whoever lost has said that it stopped.
    rig.alive.delete(20);
    await (await resume(rig, run, 40)).journal.close();
  });

  test('whatever the order in which they come, end and die: never two at a time', async () => {
    const rig = await createRig();
    const template = rig.text(await killed(rig));
    const run = '20260115T130000Z-race';
    const step = fc.record({ pid: fc.integer({ min: 20, max: 23 }), what: fc.constantFrom('go', 'end', 'die') });
    const working = new Map<number, Journal>();
    const go = async (pid: number) => {
      rig.alive.add(pid);
      const gone = await resume(rig, run, pid).catch((error: unknown) => error);
      if (working.size > 0) expect(gone).toBeInstanceOf(ConflictError);
      else working.set(pid, (gone as ResumedRun).journal);
    };
    const leave = async (pid: number, dies: boolean) => {
      const text = rig.text(run);
      await working.get(pid)?.close();
      working.delete(pid);
      if (!dies) return;
      // One that dies does not say so.
      writeFileSync(rig.path(run), text);
      rig.alive.delete(pid);
    };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
        writeFileSync(rig.path(run), template.replaceAll(/2026\w+-copy/g, run));
        for (const { pid, what } of steps) {
          if (working.has(pid)) await leave(pid, what === 'die');
          else if (what === 'go') await go(pid);
        }
        for (const pid of working.keys()) await leave(pid, false);
        for (const pid of [20, 21, 22, 23]) rig.alive.delete(pid);
      }),
      { numRuns: 40 },
    );
  });
});

describe('is refused', () => {
  test('where nothing was sent', async () => {
    const rig = await createRig();
    const run = await killed(rig);
    writeFileSync(rig.path(run), rig.text(run).split('{"type":"ready"')[0] ?? '');
    await expect(resume(rig, run, 20)).rejects.toThrow(UsageError);
    await expect(resume(rig, run, 20)).rejects.toThrow('nothing of it was sent; apply the file again');
  });

  test('where a change of the plan can not be read any more', async () => {
    const rig = await createRig();
    const run = await killed(rig);
    writeFileSync(rig.path(run), rig.text(run).replace('"petId"', '"pet\0d"'));
    await expect(resume(rig, run, 20)).rejects.toThrow(FailureError);
    await expect(resume(rig, run, 20)).rejects.toThrow('1 of its changes can');
  });

  test('where there is no such run, and none is made', async () => {
    const rig = await createRig();
    await expect(resume(rig, '20260115T120020Z-k3x9', 20)).rejects.toThrow(NotFoundError);
    expect(() => readFileSync(rig.path('20260115T120020Z-k3x9'))).toThrow('ENOENT');
  });

  test('where a later version has written it, which is left as it is', async () => {
    const rig = await createRig();
    const run = await rig.record([{ row: 1, result: 'applied' }], { changes: [change(1)] });
    const later = rig.text(run).replace('"version":1', '"version":2');
    writeFileSync(rig.path(run), later);
    await expect(resume(rig, run, 20)).rejects.toThrow('a later version of petstock');
    expect(rig.text(run)).toBe(later);
  });
});
