import { appendFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatVersion } from '../../src/history/file-records.ts';
import type { Outcome } from '../../src/history/records.ts';
import { readRun } from '../../src/history/run-file.ts';
import { FailureError, NotFoundError, UsageError } from '../../src/shared/errors.ts';
import { change, changes, createRig, head } from './rig.ts';

const failed: Outcome = { row: 2, result: 'failed', error: { code: 'pet_not_found', message: 'No.', status: 404 } };

describe('what is written is read', () => {
  test('with every digit of an id, and what the run was about', async () => {
    const rig = await createRig();
    const ids = [0n, -1n, 9_007_199_254_740_993n, 2n ** 63n - 1n, -(2n ** 63n)];
    const plan = ids.map((petId, index) =>
      change(index + 1, { petId, reason: 'Ümläut "x"\n\u2028', before: undefined }),
    );
    const run = await rig.record([], { head: { undoes: '20260101T000000Z-0000' }, changes: plan });
    const recorded = readRun(rig.stateFolder, run);
    expect(recorded).toMatchObject({ ...head, undoes: '20260101T000000Z-0000', run, at: '2026-01-15T12:00:01.000Z' });
    expect(recorded.rows).toEqual(
      plan.map((row) => ({ ...row, state: 'pending', quantity: undefined, error: undefined })),
    );
  });

  test('any plan and any text', async () => {
    const rig = await createRig();
    const text = fc.option(fc.string({ unit: 'binary' }), { nil: undefined });
    const quantity = fc.maxSafeInteger();
    const fields = fc.record({
      line: fc.nat(),
      petId: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
      before: fc.option(quantity, { nil: undefined }),
      after: quantity,
      reason: text,
      ref: text,
    });
    await fc.assert(
      fc.asyncProperty(fc.array(fields, { maxLength: 20 }), fc.nat(), async (plan, unchanged) => {
        const rows = plan.map((planned, index) => ({ row: index + 1, ...planned }));
        const journal = await rig.open();
        await journal.plan(rows, unchanged);
        await journal.close();
        const recorded = readRun(rig.stateFolder, journal.run);
        expect(recorded.unchanged).toBe(unchanged);
        expect(recorded.rows).toMatchObject(rows);
      }),
      { numRuns: 15 },
    );
  });
});

describe('where a row stands', () => {
  const i = (row: number) => ({ intent: row });
  const o = (result: Outcome['result'], quantity?: number) => ({ row: 1, result, quantity });
  test.each([
    ['never sent', [], 'pending', undefined],
    ['sent, and no answer', [i(1)], 'open', undefined],
    ['sent, and the answer unknown', [i(1), o('unknown')], 'open', undefined],
    ['void', [i(1), o('void')], 'pending', undefined],
    ['applied', [i(1), o('applied', 8)], 'applied', 8],
    ['a later outcome replaces an earlier', [i(1), o('unknown', 4), o('conflict', 9)], 'conflict', 9],
    ['sent again after an unknown', [i(1), o('unknown', 5), i(1)], 'open', undefined],
    ['sent again and applied', [i(1), o('unknown'), i(1), o('applied', 8)], 'applied', 8],
    ['sent again after a void', [i(1), o('void'), i(1)], 'open', undefined],
    ['found unchanged, without being sent', [o('unchanged', 8)], 'unchanged', 8],
    ['the row of nobody', [i(77), { row: 78, result: 'applied' } as const], 'pending', undefined],
  ])('%s', async (_name, steps, state, quantity) => {
    const rig = await createRig();
    const journal = await rig.open();
    await journal.plan([change(1)], 0);
    for (const step of steps) await ('intent' in step ? journal.intent(step.intent) : journal.outcome(step));
    expect(readRun(rig.stateFolder, journal.run).rows).toMatchObject([{ state, quantity }]);
    await journal.close();
  });

  test('a run that broke off in its plan is not planned', async () => {
    const rig = await createRig();
    const run = await rig.record([{ row: 1, result: 'applied' }]);
    writeFileSync(rig.path(run), rig.text(run).split('{"type":"ready"')[0] ?? '');
    expect(readRun(rig.stateFolder, run)).toMatchObject({ planned: false, rows: [{ state: 'pending' }] });
  });
});

describe('a file that was torn', () => {
  test('at any byte: what was whole counts, and nothing else', async () => {
    const rig = await createRig();
    const run = await rig.record([{ row: 1, result: 'applied', quantity: 8 }, failed]);
    const whole = Buffer.from(rig.text(run));
    const headLength = whole.indexOf('\n');
    // Where a record ends, there the states of the rows change.
    const expected = (length: number) => {
      const lines = whole.toString('utf8', 0, length).split('\n');
      // Without its line feed a record is whole still.
      const last = lines.at(-1) ?? '';
      const whole_ = last.endsWith('}') && isJson(last) ? lines : lines.slice(0, -1);
      const has = (part: string) => whole_.some((line) => line.includes(part));
      const stateOf = (row: number, result: string) =>
        has(`"row":${row},"result"`)
          ? result
          : has(`"at":"2026-01-15T12:00:01.000Z","row":${row}}`)
            ? 'open'
            : 'pending';
      const rows = [1, 2].filter((row) => has(`"type":"change","row":${row},`));
      return {
        planned: has('"type":"ready"'),
        states: rows.map((row) => stateOf(row, row === 1 ? 'applied' : 'failed')),
      };
    };
    for (let length = whole.length; length >= headLength; length -= 1) {
      truncateSync(rig.path(run), length);
      const { planned, rows } = readRun(rig.stateFolder, run);
      expect({ planned, states: rows.map(({ state }) => state) }).toEqual(expected(length));
    }
    truncateSync(rig.path(run), headLength - 1);
    expect(() => readRun(rig.stateFolder, run)).toThrow(/can't be read \(its first line is damaged\)/);
  });

  test.each([
    ['a torn record', '{"type":"outcome","row":1,"resu'],
    ['NULs of a crash', '\0'.repeat(5000)],
    ['garbage without an end', 'x'.repeat(3_000_000)],
    ['what is no record', '[]\nnull\n7\n"text"\n{}\n{"type":7}'],
    ['a record of wrong types', '{"type":"outcome","row":"1","result":"failed"}\n{"type":"intent","row":-1}'],
    ['an unknown result', '{"type":"outcome","row":1,"result":"maybe"}'],
    ['a type of a later version', '{"type":"later","row":1,"result":"failed"}'],
  ])('%s is passed over', async (_name, garbage) => {
    const rig = await createRig();
    const journal = await rig.open();
    await journal.plan(changes(1), 0);
    appendFileSync(rig.path(journal.run), `${garbage}\n`);
    await journal.outcome({ row: 1, result: 'applied', quantity: 8 });
    await journal.close();
    expect(readRun(rig.stateFolder, journal.run).rows).toMatchObject([{ state: 'applied', quantity: 8 }]);
  });

  test('a line that no record is as long as is passed over, and not kept in memory', async () => {
    const rig = await createRig();
    const journal = await rig.open();
    await journal.plan(changes(2), 0);
    const long = { type: 'outcome', row: 1, result: 'failed', error: { code: 'x', message: 'x'.repeat(3_000_000) } };
    appendFileSync(rig.path(journal.run), `${JSON.stringify(long)}\n`);
    await journal.outcome({ row: 2, result: 'applied' });
    await journal.close();
    expect(readRun(rig.stateFolder, journal.run).rows.map(({ state }) => state)).toEqual(['pending', 'applied']);
  });

  test('fields of a later version are passed over', async () => {
    const rig = await createRig();
    const run = await rig.record([{ row: 1, result: 'applied' }]);
    writeFileSync(rig.path(run), rig.text(run).replaceAll('{"type"', '{"later":{"x":1},"type"'));
    expect(readRun(rig.stateFolder, run).rows).toMatchObject([{ state: 'applied' }]);
  });

  test('a later version of the format is an error in words', async () => {
    const rig = await createRig();
    const run = await rig.record([]);
    writeFileSync(rig.path(run), rig.text(run).replace('"version":1', `"version":${formatVersion + 1}`));
    const read = () => readRun(rig.stateFolder, run);
    expect(read).toThrow(FailureError);
    expect(read).toThrow(/a later version of petstock has written it/);
  });

  test('what is not a file is an error in words', async () => {
    const rig = await createRig();
    await rig.record([]);
    symlinkSync('/dev/zero', rig.path('20260101T000000Z-zero'));
    expect(() => readRun(rig.stateFolder, 'zero')).toThrow(/can't be read \(it is not a file\)/);
  });
});

describe('which run is meant', () => {
  test('its whole id, or the last four characters of it in either case', async () => {
    const rig = await createRig();
    const first = await rig.record([]);
    const second = await rig.record([]);
    expect(readRun(rig.stateFolder, first).run).toBe(first);
    expect(readRun(rig.stateFolder, second.slice(-4).toUpperCase()).run).toBe(second);
  });

  test('none: not found', async () => {
    const rig = await createRig();
    for (const run of ['k3x9', '20260115T120020Z-k3x9']) {
      const read = () => readRun(rig.stateFolder, run);
      expect(read).toThrow(NotFoundError);
      expect(read).toThrow(`There is no run ${run} in the history`);
    }
  });

  test('more than one: the candidates are named', async () => {
    const rig = await createRig();
    const run = await rig.record([]);
    const twin = `20250101T000000Z-${run.slice(-4)}`;
    writeFileSync(rig.path(twin), rig.text(run));
    const read = () => readRun(rig.stateFolder, run.slice(-4));
    expect(read).toThrow(UsageError);
    expect(read).toThrow(`${run.slice(-4)} may be ${twin} or ${run}`);
  });

  test.each([
    '../x',
    '',
    '/etc/passwd',
    '20260115T120020Z-../',
    'k3x',
    '..',
    'k3x9.ndjson',
    '*',
    '20260115T120020Z-k3x9\0',
  ])('%j is no id, and no path either', async (run) => {
    const rig = await createRig();
    await rig.record([]);
    expect(() => readRun(rig.stateFolder, run)).toThrow(UsageError);
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
