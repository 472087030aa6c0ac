import { blocker, type ProgressNumbers, progressLine, progressSentence } from '../../output/progress-line.ts';
import { type Paint, plainPaint } from '../../output/terminal.ts';
import { formatDuration, localTime } from '../../output/time.ts';
import type { WaitReason } from '../../rate-limit/key-state.ts';
import type { Clock } from '../../shared/clock.ts';
import type { LiveLine, LiveText } from './live-line.ts';

export interface Progress {
  /** Shows new counts. A call costs almost nothing, so every change may be reported. */
  update(count: ProgressCount): void;
  /** Shows that nothing is sent for `ms` milliseconds. Replaces a wait that is still in progress. */
  waiting(ms: number, reason: WaitReason): void;
  /**
   * Clears the line for good. This must be called at the end in any case, because a countdown would keep the process
   * alive.
   */
  stop(): Promise<void>;
}

export interface ProgressCount {
  /** Rows with an outcome, including failed ones. */
  readonly done: number;
  /** Rows that did not get the requested stock, for any reason. */
  readonly failed: number;
}

export interface ProgressOptions {
  readonly total: number;
  /** Prints a line if there is no terminal to draw on. */
  note(line: string): void;
  readonly paint?: Paint | undefined;
  /** Returns the seconds that the rate limit alone requires for more rows. Default: 0. */
  limitSeconds?(rows: number): number;
}

/** Minimum time before the next sentence about progress if nothing can be drawn, in milliseconds. */
const sayEvery = 10_000;
/** A wait is announced if it lasts this much longer than the wait that is in progress, in milliseconds. */
const announcedWait = 1000;

/**
 * Creates the display of a bulk write: a line that is redrawn in place, or a sentence at intervals.
 * @param line undefined if the terminal can't redraw it
 */
export function createProgress(clock: Clock, line: LiveLine | undefined, options: ProgressOptions): Progress {
  const { total, limitSeconds, note, paint = plainPaint } = options;
  const meter = createRateMeter(clock.monotonic());
  let count: ProgressCount = { done: 0, failed: 0 };
  let waitReason: WaitReason = 'refused';

  const facts = (): ProgressNumbers => {
    const at = clock.monotonic();
    const rate = meter.rate(at, count.done);
    const byRate = rate === undefined ? undefined : (total - count.done) / rate;
    const byLimit = limitSeconds?.(total - count.done) ?? 0;
    // Some rows are written while others wait for the limit, so the longer of the two estimates counts.
    const left = byRate === undefined && byLimit === 0 ? undefined : Math.max(byRate ?? 0, byLimit);
    return { total, ...count, rate, left, waiting: meter.pauseLeft(at), waitReason };
  };

  const text: LiveText = {
    text: (width) => progressLine(facts(), width, paint),
    countsFor: () => meter.pauseLeft(clock.monotonic()),
  };
  let saidAt = clock.monotonic();
  let hasEnded = false;

  const draw = (): void => {
    if (!hasEnded) line?.show(text);
  };

  const say = (sentence: string): void => {
    saidAt = clock.monotonic();
    note(sentence);
  };

  return {
    update: (latest) => {
      const at = clock.monotonic();
      count = latest;
      meter.record(at, latest.done);
      if (line !== undefined) draw();
      else if (at - saidAt >= sayEvery) say(progressSentence(facts()));
    },
    waiting: (ms, reason) => {
      const at = clock.monotonic();
      waitReason = reason;
      const known = meter.pauseLeft(at) ?? 0;
      meter.pause(at, ms);
      if (line !== undefined) draw();
      else if (ms - known >= announcedWait) {
        const wait = `${formatDuration(ms / 1000)}, until ${localTime(clock.now() + ms, clock.now())}`;
        say(`Waiting for ${blocker(facts())}: ${wait}. ${progressSentence(facts())}`);
      }
    },
    stop: async () => {
      hasEnded = true;
      await line?.stop();
    },
  };
}

/** How far back samples reach, in milliseconds. */
const sampledTime = 10_000;
/** The minimum time between two samples, in milliseconds. It limits the number of samples. */
const sampleInterval = 500;
/** The shortest time over which a rate is measured, in milliseconds. */
const minMeasured = 500;

/**
 * Creates a meter of the rows per second over the last ten seconds in which rows could be sent; waits for the rate
 * limit don't count. Times are in milliseconds and never decrease.
 */
export function createRateMeter(begin: number) {
  /** Samples of the rows done, by the time in which rows could be sent. */
  const samples = [{ at: 0, done: 0 }];
  let paused = { from: begin, until: begin };
  let idle = 0;

  /** Returns for how long rows could be sent since the beginning. */
  const active = (at: number): number => at - begin - idle - Math.max(0, Math.min(at, paused.until) - paused.from);

  return {
    record: (at: number, done: number): void => {
      const now = active(at);
      const newest = samples.at(-1);
      if (newest !== undefined && now - newest.at < sampleInterval) return;
      samples.push({ at: now, done });
      while (samples.length > 2 && now - (samples[1]?.at ?? 0) >= sampledTime) samples.shift();
    },
    /** Notes that nothing is sent for `ms` milliseconds. Replaces a wait that is still in progress. */
    pause: (at: number, ms: number): void => {
      idle += Math.max(0, Math.min(at, paused.until) - paused.from);
      paused = { from: at, until: at + ms };
    },
    /** Returns the rest of the wait; undefined while nothing waits. */
    pauseLeft: (at: number): number | undefined => (at < paused.until ? paused.until - at : undefined),
    /** Returns the rows per second; undefined until something is done and `minMeasured` has passed. */
    rate: (at: number, done: number): number | undefined => {
      const [oldest] = samples;
      if (oldest === undefined) return undefined;
      const passed = active(at) - oldest.at;
      return passed < minMeasured || done <= oldest.done ? undefined : ((done - oldest.done) * 1000) / passed;
    },
  };
}
