import { drawsLive, liveWidth, wipeLine } from '../../output/terminal.ts';
import { formatDuration, localTime } from '../../output/time.ts';
import type { WaitReason } from '../../rate-limit/key-state.ts';
import type { Context } from '../context.ts';

/** Says what a command waits for, and until when. */
export interface Countdown {
  /** Begins a wait of so many milliseconds. */
  start(ms: number, reason: WaitReason): void;
  /** Takes the line away again. To be called before anything else is written. */
  stop(): Promise<void>;
}

/** On a terminal that can draw, a line that counts down and goes away; elsewhere one line. */
export function createCountdown({ clock, stderr, env, interrupted }: Context, note: (line: string) => void): Countdown {
  let shown: AbortController | undefined;

  const count = async (until: number, reason: WaitReason, signal: AbortSignal): Promise<void> => {
    for (let left = until - clock.monotonic(); left > 0; left = until - clock.monotonic()) {
      await stderr.write(`${wipeLine}${waitLine(left, reason, clock.now()).slice(0, liveWidth(stderr.columns))}`);
      await clock.sleep(Math.min(1000, left), signal);
    }
  };

  const stop = async (): Promise<void> => {
    if (shown === undefined) return;
    shown.abort();
    shown = undefined;
    await stderr.write(wipeLine);
  };

  const start = (ms: number, reason: WaitReason): void => {
    if (!drawsLive({ stderr, env })) {
      note(waitLine(ms, reason, clock.now()));
      return;
    }
    const mine = new AbortController();
    shown = mine;
    interrupted.addEventListener('abort', () => mine.abort(), { once: true });
    // It ends by an abort, which needs no report.
    count(clock.monotonic() + ms, reason, mine.signal).catch(() => {});
  };

  return { start, stop };
}

function waitLine(ms: number, reason: WaitReason, now: number): string {
  const wait = formatDuration(Math.ceil(ms / 1000));
  const why = reason === 'refused' ? 'Rate limited' : 'The service is unavailable';
  return `${why}: continuing in ${wait} (${localTime(now + ms, now)}). Ctrl-C stops; nothing is lost.`;
}
