import { execFileSync } from 'node:child_process';
import { constants, openSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { AppendFile } from '../../src/history/append-file.ts';
import { type Journal, journalOn, openJournal } from '../../src/history/journal.ts';
import { readRun } from '../../src/history/run-file.ts';
import { FailureError } from '../../src/shared/errors.ts';
import { change, changes, createRig, head, type Rig } from './rig.ts';

describe('the file of a run', () => {
  test('has a record a line: what it is about, its changes, what is about to be sent, and what became of it', async () => {
    const rig = await createRig();
    const journal = await rig.open();
    await journal.plan([change(1, { reason: 'new arrivals', ref: 'D-1' }), change(2, { before: undefined })], 3);
    await journal.intent(1);
    await journal.outcome({ row: 1, result: 'applied', quantity: 8 });
    await journal.close();
    const records = rig.text(journal.run).trimEnd().split('\n');
    const at = '2026-01-15T12:00:01.000Z';
    expect(records.map((line) => JSON.parse(line))).toEqual([
      { type: 'run', version: 1, run: '20260115T120001Z-0001', at, pid: 1, boot: 'this', ...head },
      {
        ...{ type: 'change', row: 1, line: 2, petId: '9007199254740994', before: 5, after: 8 },
        ...{ reason: 'new arrivals', ref: 'D-1' },
      },
      { type: 'change', row: 2, line: 3, petId: '9007199254740995', after: 8 },
      { type: 'ready', at, changes: 2, unchanged: 3 },
      { type: 'intent', at, row: 1 },
      { type: 'outcome', at, row: 1, result: 'applied', quantity: 8 },
      { type: 'end', at, pid: 1, boot: 'this' },
    ]);
  });

  test('is 0600 in a folder of 0700', async () => {
    const rig = await createRig();
    const { run } = await rig.open();
    const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
    const folder = join(rig.stateFolder, 'history');
    expect([rig.stateFolder, folder, rig.path(run)].map(mode)).toEqual(['700', '700', '600']);
  });

  test('has a name of its own, also where another run of the same second drew the same', async () => {
    const rig = await createRig();
    const options = { ...rig.machine(), stateFolder: rig.stateFolder, random: () => 0.5 };
    const journals = await Promise.all([0, 1, 2].map(() => openJournal(head, options)));
    expect(new Set(journals.map(({ run }) => run)).size).toBe(3);
    for (const { run } of journals) expect(run).toMatch(/^20260115T120000Z-[0-9a-z]{4}$/);
  });

  test('has any plan, in pieces, before it says that it is ready', async () => {
    const rig = await createRig();
    const journal = await rig.open();
    let taken = 0;
    function* many() {
      for (let row = 1; row <= 20_000; row += 1) {
        taken = row;
        yield change(row);
      }
    }
    const planned = journal.plan(many(), 0);
    // All of a million rows at once would fill the memory.
    expect(taken).toBeLessThan(10_000);
    await planned;
    expect(rig.text(journal.run).trimEnd().split('\n')).toHaveLength(20_002);
    expect(readRun(rig.stateFolder, journal.run)).toMatchObject({ planned: true, rows: { length: 20_000 } });
  });
});

describe('what has resolved is in the file, in the order of the calls', () => {
  const step = fc.record({ row: fc.integer({ min: 1, max: 50 }), turns: fc.nat(3), isIntent: fc.boolean() });
  type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

  /** Writes one after the other, with some turns of the event loop before each, and looks for each in the file. */
  async function write(rig: Rig, journal: Journal, steps: readonly Step[], called: string[]): Promise<void> {
    for (const { row, turns, isIntent } of steps) {
      for (let turn = 0; turn < turns; turn += 1) await nextTurn();
      const mark = `mark ${called.length}`;
      const upToHere = called.push(isIntent ? `intent ${row}` : mark);
      if (isIntent) await journal.intent(row);
      else await journal.outcome({ row, result: 'failed', error: { code: 'no', message: mark } });
      expect(written(rig.text(journal.run)).slice(0, upToHere)).toEqual(called.slice(0, upToHere));
    }
  }

  function written(text: string): string[] {
    // What stands behind the last line end is on its way.
    const records = text.split('\n').slice(52, -1);
    return records.map((line) => {
      const { type, row, error } = JSON.parse(line);
      return error?.message ?? `${type} ${row}`;
    });
  }

  test('however many write at once', async () => {
    const rig = await createRig();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(step, { maxLength: 8 }), { minLength: 1, maxLength: 16 }), async (writers) => {
        const journal = await rig.open();
        await journal.plan(changes(50), 0);
        const called: string[] = [];
        await Promise.all(writers.map((steps) => write(rig, journal, steps, called)));
        expect(written(rig.text(journal.run))).toEqual(called);
        await journal.close();
      }),
      { numRuns: 15 },
    );
  });

  test('many that come together are few writes', async () => {
    const rig = await createRig();
    const journal = await rig.open();
    await journal.plan(changes(100), 0);
    const length = () => rig.text(journal.run).length;
    const before = length();
    const sizes = new Set<number>();
    await Promise.all(
      changes(100).map(async ({ row }) => journal.intent(row).then(() => sizes.add(length() - before))),
    );
    expect(sizes.size).toBeLessThanOrEqual(2);
    await journal.close();
  });
});

describe('a disk that takes no more', () => {
  const fullJournal = async () => {
    const rig = await createRig();
    const options = { ...rig.machine(), stateFolder: rig.stateFolder };
    const journal = journalOn(openSync('/dev/full', 'a'), '20260115T120000Z-full', options);
    return { rig, journal };
  };
  const words = /^The history in .*\/history can't be written \(ENOSPC/;

  test('fails the call in words, each call after it, and the close', async () => {
    const { journal } = await fullJournal();
    for (const attempt of [
      () => journal.plan([change(1)], 0),
      () => journal.intent(1),
      () => journal.outcome({ row: 1, result: 'applied' }),
      () => journal.close(),
      () => journal.close(),
    ]) {
      const error = await attempt().then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error).toBeInstanceOf(FailureError);
      expect((error as Error).message).toMatch(words);
    }
  });

  test('takes a part that is written for no more than a part', async () => {
    const rig = await createRig();
    await rig.record([]);
    // A pipe that nobody reads takes 64 KiB, and then nothing.
    const pipe = `${rig.stateFolder}/pipe`;
    execFileSync('mkfifo', [pipe]);
    const file = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
    const records = new AppendFile(file, (cause) => cause as Error);
    await records.append('x'.repeat(50_000), false);
    await expect(records.append('x'.repeat(50_000), false)).rejects.toThrow('EAGAIN');
    await expect(records.append('x', false)).rejects.toThrow('EAGAIN');
    await records.close();
  });

  test('leaves no rejection behind that nobody handles', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', note);
    onTestFinished(() => void process.off('unhandledRejection', note));
    const { journal } = await fullJournal();
    for (let row = 1; row <= 10; row += 1) void journal.outcome({ row, result: 'applied' });
    await nextTurn();
    void journal.outcome({ row: 11, result: 'applied' });
    await expect(journal.close()).rejects.toThrow(words);
    void journal.outcome({ row: 12, result: 'applied' });
    await nextTurn();
    expect(unhandled).toEqual([]);
  });

  test('a folder that takes no file is a failure in words, before anything is sent', async () => {
    const rig = await createRig();
    await mkdir(dirname(rig.stateFolder), { recursive: true });
    for (const stateFolder of ['/proc/self/state', '/dev/null/state']) {
      const opening = openJournal(head, { ...rig.machine(), stateFolder, random: () => 0 });
      await expect(opening).rejects.toThrow(`The history in ${stateFolder}/history can't be written (`);
    }
    writeFileSync(rig.stateFolder, 'a file where the folder should be');
    await expect(rig.open()).rejects.toThrow(/can't be written \((EEXIST|ENOTDIR)/);
  });
});

describe('closing', () => {
  test('writes out what is waiting, once, however often it is called', async () => {
    const rig = await createRig();
    const journal = await rig.open();
    void journal.plan([change(1)], 0);
    void journal.intent(1);
    void journal.outcome({ row: 1, result: 'applied', quantity: 8 });
    await Promise.all([journal.close(), journal.close()]);
    await journal.close();
    const text = rig.text(journal.run);
    expect(text.match(/"type":"end"/g)).toHaveLength(1);
    expect(text.trimEnd().split('\n').at(-2)).toContain('"result":"applied"');
  });

  test('what is written behind it is refused, and in no file', async () => {
    const rig = await createRig();
    const journal = await rig.open();
    await journal.close();
    const before = rig.text(journal.run);
    await expect(journal.intent(1)).rejects.toThrow('it is closed');
    expect(rig.text(journal.run)).toBe(before);
    expect(readdirSync(join(rig.stateFolder, 'history'))).toHaveLength(1);
  });
});

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
