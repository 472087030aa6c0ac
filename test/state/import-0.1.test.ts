import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openExistingState } from '../../src/state/open-state.ts';
import { collect, createStateClock, FakeProcesses, temporaryFolder } from './rig.ts';

/** Written by petstock 0.1.0: `inventory apply` of three pets, `inventory adjust` of one of them, its undo, and a run that was killed. */
const apply = `{"type":"run","version":1,"run":"20261121T120327Z-2f5d","at":"2026-11-21T12:03:27.723Z","pid":21833,"boot":"88d81e3c","command":"inventory apply","file":"f.csv","env":"staging","baseUrl":"http://127.0.0.1:4010/v1","key":"208e99a63cf6b39ed7b0a5efb9466c66"}
{"type":"change","row":1,"line":2,"before":12,"after":7,"reason":"count","petId":"1"}
{"type":"change","row":2,"line":3,"before":0,"after":8,"reason":"count","petId":"2"}
{"type":"change","row":3,"line":4,"before":0,"after":8,"reason":"count","petId":"9007199254740993"}
{"type":"ready","at":"2026-11-21T12:03:27.732Z","changes":3,"unchanged":2}
{"type":"intent","at":"2026-11-21T12:03:27.735Z","row":1}
{"type":"intent","at":"2026-11-21T12:03:27.735Z","row":2}
{"type":"outcome","at":"2026-11-21T12:03:27.743Z","row":1,"result":"applied","quantity":7}
{"type":"outcome","at":"2026-11-21T12:03:27.749Z","row":2,"result":"failed","error":{"code":"pet_not_found","message":"no such pet","status":404}}
{"type":"intent","at":"2026-11-21T12:03:27.750Z","row":3}
`;
const adjust = `{"type":"run","version":1,"run":"20261121T120328Z-xuky","at":"2026-11-21T12:03:28.008Z","pid":21844,"boot":"88d81e3c","command":"inventory adjust","user":"ann","env":"sandbox","baseUrl":"http://127.0.0.1:44693/v1","key":"208e99a63cf6b39ed7b0a5efb9466c66"}
{"type":"change","row":1,"line":1,"before":7,"after":9,"petId":"1"}
{"type":"ready","at":"2026-11-21T12:03:28.015Z","changes":1,"unchanged":0}
{"type":"intent","at":"2026-11-21T12:03:28.020Z","row":1}
{"type":"outcome","at":"2026-11-21T12:03:28.026Z","row":1,"result":"applied","quantity":9}
{"type":"end","at":"2026-11-21T12:03:28.028Z","pid":21844,"boot":"88d81e3c"}
`;
const undo = `{"type":"run","version":1,"run":"20261121T120328Z-aaaa","at":"2026-11-21T12:03:28.900Z","pid":21850,"boot":"88d81e3c","command":"undo","undoes":"20261121T120328Z-xuky","env":"sandbox","baseUrl":"http://127.0.0.1:44694/v1","key":"208e99a63cf6b39ed7b0a5efb9466c66"}
{"type":"change","row":1,"line":1,"before":9,"after":7,"petId":"1"}
{"type":"ready","at":"2026-11-21T12:03:28.915Z","changes":1,"unchanged":0}
{"type":"intent","at":"2026-11-21T12:03:28.920Z","row":1}
{"type":"outcome","at":"2026-11-21T12:03:28.926Z","row":1,"result":"applied","quantity":7}
{"type":"outcome","at":"2026-11-21T12:03:28.9
`;
const unplanned = `{"type":"run","version":1,"run":"20261121T120330Z-bbbb","at":"2026-11-21T12:03:30.000Z","pid":1,"boot":"88d81e3c","command":"inventory apply","env":"staging","baseUrl":"http://127.0.0.1:4010/v1","key":"abc"}
{"type":"change","row":1,"line":2,"after":7,"petId":"-5"}
`;
const ledger = `
1724d074 {"type":"start","boot":"88d81e3c-9d0d-4e69-8c94-3b19110c8bee","env":"sandbox","at":2698705.529809,"wall":1795262607441}
21b66d74 {"type":"intent","id":"21825.b398da9a14ad-1","at":2698706.079023,"expires":2729706.079023,"bulk":false}
5b2365ce {"type":"answer","id":"21825.b398da9a14ad-1","at":2698726.819682,"wall":1795262607463,"status":200,"date":1795262607000,"limit":1000,"remaining":999,"reset":1795262640000}
db7c97ad {"type":"intent","id":"21844.c39cfc69f760-2","at":2699286.499153,"expires":2730286.499153,"bul`;

function leftBehind(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  for (const name of ['limits', 'history']) mkdirSync(join(folder, name));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
}

async function opened(folder: string) {
  const warnings: string[] = [];
  const state = await openExistingState({
    folder,
    need: 'history',
    clock: createStateClock(),
    processes: new FakeProcesses().view(1),
    random: Math.random,
    command: 'test',
    warn: (line) => void warnings.push(line),
  });
  if (state === undefined) throw new Error('there is no state');
  onTestFinished(() => state.close());
  return { state, warnings };
}

const whole = {
  'history/20261121T120327Z-2f5d.ndjson': apply,
  'history/20261121T120328Z-xuky.ndjson': adjust,
  'history/20261121T120328Z-aaaa.ndjson': undo,
  'limits/208e99a63cf6b39ed7b0a5efb9466c66.1.ledger': ledger,
};

describe('what petstock 0.1.0 has left', () => {
  it('is listed as before', async () => {
    const { state, warnings } = await opened(leftBehind(whole));
    const zero = { pending: 0, applied: 0, unchanged: 0, failed: 0, conflict: 0, differs: 0, unknown: 0 };
    expect(await collect(state.history.runs())).toMatchObject([
      { run: '20261121T120328Z-aaaa', undoes: '20261121T120328Z-xuky', counts: { ...zero, applied: 1 }, state: 'done' },
      {
        run: '20261121T120328Z-xuky',
        at: Date.parse('2026-11-21T12:03:28.008Z'),
        user: 'ann',
        service: 'sandbox',
        undone: 1,
        undoneBy: ['20261121T120328Z-aaaa'],
        counts: { ...zero, applied: 1 },
        units: 2n,
      },
      {
        run: '20261121T120327Z-2f5d',
        file: 'f.csv',
        service: 'http://localhost:4010/v1',
        scope: '208e99a63cf6b39ed7b0a5efb9466c66',
        counts: { ...zero, applied: 1, unchanged: 2, failed: 1, unknown: 1 },
        pets: [1n, 2n, 9007199254740993n],
        state: 'incomplete',
      },
    ]);
    expect(warnings).toEqual([]);
    expect(await state.check()).toEqual([]);
  });

  it('has its rows, in the order of time', async () => {
    const { state } = await opened(leftBehind(whole));
    expect(await collect(state.history.rows('20261121T120327Z-2f5d'))).toMatchObject([
      {
        row: 1,
        line: 2,
        petId: 1n,
        before: 12,
        after: 7,
        reason: 'count',
        result: 'applied',
        quantity: 7,
        sequence: 1,
      },
      { row: 2, result: 'failed', error: { code: 'pet_not_found', message: 'no such pet', status: 404 }, sequence: 2 },
      { row: 3, petId: 9007199254740993n, result: 'unknown', expires: undefined, sequence: 3 },
    ]);
    const [row] = await collect(state.history.rows('20261121T120328Z-xuky'));
    expect(row).toMatchObject({ undoneBy: '20261121T120328Z-aaaa', sequence: 4 });
    expect(await state.history.lastKnownQuantities('sandbox', [{ petId: 1n }])).toEqual([7]);
    expect(await state.pets.mark()).toMatchObject({ sequence: 5 });
  });

  it('has the limits, and forgets a torn line', async () => {
    const { state } = await opened(leftBehind(whole));
    const [key] = await state.limits.list();
    expect(key).toMatchObject({
      scope: '208e99a63cf6b39ed7b0a5efb9466c66',
      state: { env: 'sandbox', windows: { minute: { limit: 1000, left: 999 } } },
    });
    expect(key?.state.inFlight.size).toBe(0);
  });

  it('is imported once, and keeps its content under another name', async () => {
    const folder = leftBehind(whole);
    await (await opened(folder)).state.close();
    expect(
      readdirSync(folder)
        .filter((name) => !name.startsWith('state.db'))
        .sort(),
    ).toEqual(['history.imported-0.1', 'limits.imported-0.1']);
    expect(readdirSync(join(folder, 'history.imported-0.1'))).toHaveLength(3);
    const { state } = await opened(folder);
    expect(await state.describe()).toMatchObject({ runs: 3, rows: 5 });
  });

  it('can’t be resumed where nothing was sent, since its plan is not whole', async () => {
    const { state } = await opened(leftBehind({ 'history/20261121T120330Z-bbbb.ndjson': unplanned }));
    const [run] = await collect(state.history.runs());
    expect(run).toMatchObject({ state: 'done', counts: { failed: 1, pending: 0 } });
  });

  it('and makes no sense is named, and left out', async () => {
    const broken = { 'history/20261121T120330Z-cccc.ndjson': 'garbage\n', 'limits/ab.2.ledger': '\ngarbage' };
    const { state, warnings } = await opened(leftBehind({ ...whole, ...broken }));
    expect(warnings).toEqual([expect.stringContaining('20261121T120330Z-cccc')]);
    expect(await state.describe()).toMatchObject({ runs: 3 });
  });
});
