/** Rows a second over the last ten seconds in which they could go on; waits for the rate limit don't count. */
export interface RateMeter {
  /** @param at milliseconds; never less than before */
  record(at: number, done: number): void;
  /** From so many milliseconds on, and for that long, nothing goes on. A wait that is still on is replaced. */
  pause(at: number, ms: number): void;
  /** What is left of the wait, in milliseconds; undefined while nothing waits. */
  pauseLeft(at: number): number | undefined;
  /** undefined until something is done and a moment has passed. */
  rate(at: number, done: number): number | undefined;
}

const span = 10_000;
/** How far two samples are apart, so that there are never many of them. */
const grain = 500;
/** Before so much time has passed, a rate is chance. */
const first = 500;

export function createRateMeter(begin: number): RateMeter {
  /** By the time in which rows could go on. */
  const samples = [{ at: 0, done: 0 }];
  let paused = { from: begin, until: begin };
  let idle = 0;

  /** How long rows could go on since the beginning. */
  const active = (at: number): number => at - begin - idle - Math.max(0, Math.min(at, paused.until) - paused.from);

  return {
    record: (at, done) => {
      const now = active(at);
      const newest = samples.at(-1);
      if (newest !== undefined && now - newest.at < grain) return;
      samples.push({ at: now, done });
      while (samples.length > 2 && now - (samples[1]?.at ?? 0) >= span) samples.shift();
    },
    pause: (at, ms) => {
      idle += Math.max(0, Math.min(at, paused.until) - paused.from);
      paused = { from: at, until: at + ms };
    },
    pauseLeft: (at) => (at < paused.until ? paused.until - at : undefined),
    rate: (at, done) => {
      const [oldest] = samples;
      if (oldest === undefined) return undefined;
      const passed = active(at) - oldest.at;
      return passed < first || done <= oldest.done ? undefined : ((done - oldest.done) * 1000) / passed;
    },
  };
}
