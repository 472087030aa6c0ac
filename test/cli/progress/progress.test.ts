import { beforeEach, describe, expect, it, onTestFinished, test } from 'vitest';
import type { Context } from '../../../src/cli/context.ts';
import { Messages } from '../../../src/cli/invocation/messages.ts';
import { createLiveLine, type LiveLine } from '../../../src/cli/progress/live-line.ts';
import {
  createProgress,
  createRateMeter,
  type Progress,
  type ProgressOptions,
} from '../../../src/cli/progress/progress.ts';
import { plainPaint } from '../../../src/output/terminal.ts';
import { createVirtualClock, type VirtualClock } from '../../rate-limit/virtual-clock.ts';
import fc, { property } from '../../support/properties.ts';

let clock: VirtualClock;
let writes: string[];
let notes: string[];

beforeEach(() => {
  clock = createVirtualClock();
  writes = [];
  notes = [];
});

interface Rig extends Partial<ProgressOptions> {
  /** Undefined without a terminal. */
  readonly columns?: number;
  /** Resolves when the terminal accepts more output. */
  readonly taken?: Promise<void>;
}

function start({ columns, taken, ...options }: Rig = {}) {
  const mine = writes;
  const stderr = {
    isTerminal: columns !== undefined,
    columns,
    write: async (text: string | Uint8Array) => {
      mine.push(`${text}`);
      await taken;
    },
  };
  const note = (line: string) => notes.push(line);
  const line: LiveLine | undefined = columns === undefined ? undefined : createLiveLine({ clock, stderr });
  const progress = createProgress(clock, line, { total: 1200, note, ...options });
  onTestFinished(() => progress.stop());
  return { ...progress, stderr, wipe: async () => line?.wipe() };
}

/** Returns the last line of the terminal. */
const shown = () =>
  writes
    .join('')
    .split(/\r\x1b\[K|\n/)
    .at(-1);

/** Reports this many rows as done, one by one, `every` milliseconds apart. */
async function proceed(progress: Progress, rows: number, every: number, from = 0): Promise<void> {
  for (let row = 1; row <= rows; row += 1) {
    await clock.sleep(every);
    progress.update({ done: from + row, failed: 0 });
  }
}

test('counts a wait down to "continuing", not to 0 s', async () => {
  const stderr = { isTerminal: true, columns: 80, write: async (text: string) => void writes.push(text) };
  const context = { clock, stderr, env: {}, interrupted: new AbortController().signal } as unknown as Context;
  new Messages(context, { quiet: false, isLog: false, paint: async () => plainPaint }).waiting(2500, 'refused');
  await clock.sleep(3000);
  expect(writes.join()).toMatch(/continuing in 3 s .*continuing in 1 s /s);
  expect(shown()).toBe('Rate limited: continuing. Ctrl-C stops; nothing is lost.');
});

describe('progress on a terminal', () => {
  it('draws progress at most ten times a second, and the latest numbers afterwards', async () => {
    const progress = start({ columns: 80 });
    await proceed(progress, 1000, 0.5);
    expect(writes.length).toBeGreaterThanOrEqual(5);
    expect(writes.length).toBeLessThanOrEqual(6);
    await clock.sleep(100);
    expect(shown()).toMatch(/^\[█+░+\] {2}1,000\/1,200 {2}/);
    expect(writes.every((text) => /^\r\x1b\[K[^\n]{0,79}$/.test(text))).toBe(true);
    await progress.stop();
    expect(shown()).toBe('');
    expect(notes).toEqual([]);
  });

  it('draws progress at once, and bases the time left on the rate limit if that is slower', async () => {
    const progress = start({ columns: 80 });
    expect(writes).toEqual([]);
    progress.update({ done: 1, failed: 1 });
    expect(shown()).toMatch(/ 1\/1,200 {2}1 failed$/);
    await proceed(progress, 200, 100);
    expect(shown()).toBe('[██░░░░░░░░░░░░]  200/1,200  10/s  about 1 min 40 s left');
    start({ columns: 80, limitSeconds: (rows) => rows }).update({ done: 1, failed: 0 });
    expect(shown()).toContain('about 20 min left');
  });

  it('counts a wait down in the progress line, and still shows new responses', async () => {
    const progress = start({ columns: 80 });
    await proceed(progress, 58, 10);
    progress.waiting(42_000, 'refused');
    await clock.sleep(200);
    expect(shown()).toMatch(/ 58\/1,200 {2}… waiting for the rate limit: 42 s$/);
    await clock.sleep(10_000);
    expect(shown()).toMatch(/: 32 s$/);
    progress.update({ done: 61, failed: 0 });
    await clock.sleep(1000);
    expect(shown()).toMatch(/ 61\/1,200 {2}… waiting for the rate limit: 31 s$/);
    const drawn = writes.length;
    await clock.sleep(29_000);
    expect(writes.length - drawn).toBeLessThanOrEqual(30);
    await clock.sleep(1900);
    expect(shown()).toMatch(/ 61\/1,200 {2}105\/s {2}about 11 s left$/);
    const after = writes.length;
    await clock.sleep(60_000);
    expect(writes.length).toBe(after);
    progress.waiting(42_000, 'refused');
    progress.waiting(2000, 'refused');
    await clock.sleep(3000);
    expect(shown()).not.toContain('waiting');
  });

  it('removes the progress line for other output, and draws the line again after the next update', async () => {
    const progress = start({ columns: 80 });
    progress.update({ done: 1, failed: 0 });
    await progress.wipe();
    expect(shown()).toBe('');
    const before = writes.length;
    await progress.wipe();
    await clock.sleep(5000);
    expect(writes.length).toBe(before);
    progress.update({ done: 2, failed: 0 });
    expect(shown()).toContain('2/1,200');
    await clock.sleep(200);
    await progress.wipe();
    progress.update({ done: 3, failed: 0 });
    expect(shown(), 'somebody is writing').toBe('');
    await clock.sleep(100);
    expect(shown()).toContain('3/1,200');
  });

  it('draws nothing after progress is stopped', async () => {
    const progress = start({ columns: 80 });
    for (const done of [1, 2]) progress.update({ done, failed: 0 });
    progress.waiting(100_000, 'refused');
    await progress.stop();
    const count = writes.length;
    progress.update({ done: 3, failed: 0 });
    progress.waiting(1000, 'refused');
    await clock.sleep(200_000);
    await progress.stop();
    expect(writes.length).toBe(count);
    expect(shown()).toBe('');
  });

  test.each([20, 9, 2])('keeps progress on one line of %i columns', async (columns) => {
    const progress = start({ columns });
    progress.update({ done: 512, failed: 51 });
    progress.waiting(42_000, 'refused');
    await clock.sleep(3000);
    expect(writes.length).toBeGreaterThan(2);
    for (const text of writes) expect(text.slice(4).length).toBeLessThan(columns);
  });

  it('drops drawings while the terminal is stalled, and draws the latest afterwards', async () => {
    let take = () => {};
    const taken = new Promise<void>((resolve) => {
      take = resolve;
    });
    const [progress, ended] = [start({ columns: 80, taken }), start({ columns: 80, taken })];
    ended.update({ done: 7, failed: 0 });
    await proceed(progress, 100, 100);
    expect(writes).toHaveLength(2);
    ended.update({ done: 8, failed: 0 });
    const end = ended.stop();
    await clock.sleep(200);
    take();
    await end;
    await clock.sleep(100);
    expect(writes).toHaveLength(4);
    expect(shown()).toContain('100/1,200');
  });

  it('clears a progress line that a narrower terminal has wrapped', async () => {
    const progress = start({ columns: 80 });
    progress.update({ done: 1, failed: 0 });
    await clock.sleep(200);
    const width = (writes[0] ?? '').replace('\r\x1b[K', '').length;
    progress.stderr.columns = Math.ceil(width / 3);
    progress.update({ done: 2, failed: 0 });
    await clock.sleep(200);
    expect(writes[1]).toMatch(/^\r\x1b\[K(\x1b\[A\x1b\[K){2}(?!\x1b)/);
    progress.stderr.columns = 200;
    await progress.stop();
    expect(writes.at(-1)).toBe('\r\x1b[K');
  });
});

describe('progress without a terminal', () => {
  it('prints progress every ten seconds without a terminal, and nothing for a short run', async () => {
    const progress = start();
    await proceed(progress, 90, 100);
    expect(notes).toEqual([]);
    await proceed(progress, 260, 100, 90);
    await progress.stop();
    expect(notes).toEqual([
      '100 of 1,200 done, about 1 min 50 s left.',
      '200 of 1,200 done, about 1 min 40 s left.',
      '300 of 1,200 done, about 1 min 30 s left.',
    ]);
    expect(writes).toEqual([]);
  });

  it('reports each long wait once without a terminal', async () => {
    const progress = start({ limitSeconds: (rows) => rows });
    progress.update({ done: 58, failed: 2 });
    progress.waiting(999, 'refused');
    progress.waiting(40_000, 'refused');
    await clock.sleep(1000);
    progress.waiting(39_000, 'refused');
    await clock.sleep(60_000);
    progress.waiting(60_000, 'refused');
    await progress.stop();
    // The time zone of the tests is New York.
    expect(notes).toEqual([
      'Waiting for the rate limit: 40 s, until 07:01:00. 58 of 1,200 done, 2 failed, about 20 min left.',
      'Waiting for the rate limit: 1 min, until 07:02:21. 58 of 1,200 done, 2 failed, about 20 min left.',
    ]);
  });
});

describe('the rate', () => {
  it('measures the rate of a run over the last ten seconds', () => {
    const meter = createRateMeter(0);
    for (let at = 0; at <= 60_000; at += 100) meter.record(at, at / 100);
    // Ten rows a second are done for a minute, then one a second.
    for (let at = 61_000; at <= 80_000; at += 1000) meter.record(at, 600 + (at - 60_000) / 1000);
    expect(meter.rate(80_000, 620)).toBe(1);
  });

  it('lowers the rate of a run while nothing finishes, but not during waits', () => {
    const meter = createRateMeter(0);
    meter.record(1000, 10);
    expect(meter.rate(5000, 10)).toBe(2);
    meter.pause(1000, 40_000);
    expect(meter.pauseLeft(11_000)).toBe(30_000);
    meter.pause(11_000, 5000);
    expect(meter.rate(13_000, 10)).toBe(10);
    expect(meter.pauseLeft(15_999)).toBe(1);
    expect(meter.pauseLeft(16_000)).toBeUndefined();
    expect(meter.rate(17_000, 20)).toBe(10);
    meter.pause(17_000, 1000);
    meter.pause(20_000, 1000);
    expect(meter.rate(21_000, 40)).toBe(10);
  });

  const steps = fc.array(fc.oneof(fc.constant(undefined), fc.integer({ min: 0, max: 100_000 })), { minLength: 20 });

  property(
    'measures the steady rate of a run despite waits',
    [steps, fc.integer({ min: 1, max: 50 })],
    (waits, perStep) => {
      const meter = createRateMeter(0);
      let [at, done] = [0, 0];
      for (const wait of waits) {
        if (wait === undefined) {
          [at, done] = [at + 250, done + perStep];
          meter.record(at, done);
        } else {
          meter.pause(at, wait);
          at += wait;
        }
      }
      const rate = meter.rate(at, done);
      if (rate !== undefined) expect(rate).toBeCloseTo(perStep * 4, 6);
    },
  );
});
