import { liveWidth, wipeDrawn } from '../../output/terminal.ts';
import { visibleWidth } from '../../output/text-width.ts';
import type { Context } from '../context.ts';

/** The last line of the terminal, redrawn in place. */
export interface LiveLine {
  /**
   * Shows a text in place of the previous one. Call this again if the same object returns another text now. A call is
   * cheap if a drawing is already due.
   */
  show(text: LiveText): void;
  /** Clears the line, so that something else can be printed; `show` draws the line again. */
  wipe(): Promise<void>;
  /** Clears the line until another text is shown. */
  stop(): Promise<void>;
}

export interface LiveText {
  /** Returns at most `width` columns of text that may contain colours. */
  text(width: number): string;
  /** How long the text keeps changing by itself, in milliseconds; undefined if it does not. */
  countsFor(): number | undefined;
}

/** Minimum time between two drawings, in milliseconds. */
const drawEvery = 100;
/** Maximum time between two drawings while the text changes by itself, in milliseconds. */
const countEvery = 1000;

export function createLiveLine({ clock, stderr }: Pick<Context, 'clock' | 'stderr'>): LiveLine {
  let shown: LiveText | undefined;
  let stopped = new AbortController();
  let drawnAt = Number.NEGATIVE_INFINITY;
  /** Columns of the drawn line; undefined if there is none. */
  let drawn: number | undefined;
  let drawing = false;
  /** Whether the text has changed since the last drawing. */
  let stale = false;

  /**
   * Draws until there is nothing new to show. There is only one drawing at a time, so that drawings don't pile up on a
   * blocked terminal.
   */
  const keepDrawn = async (signal: AbortSignal): Promise<void> => {
    try {
      while (stale) {
        await drawInTime(signal);
        for (let left = shown?.countsFor(); left !== undefined; left = shown?.countsFor()) {
          await clock.sleep(Math.min(countEvery, left), signal);
          await drawInTime(signal);
        }
      }
    } finally {
      // Nothing is awaited after the last check of `stale`, so no change is lost.
      if (!signal.aborted) drawing = false;
    }
  };

  const drawInTime = async (signal: AbortSignal): Promise<void> => {
    const untilNext = () => drawnAt + drawEvery - clock.monotonic();
    for (let ms = untilNext(); ms > 0; ms = untilNext()) await clock.sleep(ms, signal);
    signal.throwIfAborted();
    drawnAt = clock.monotonic();
    stale = false;
    const { columns = 80 } = stderr;
    const before = wipeDrawn(drawn ?? 0, columns);
    // The line is never wider than the terminal, so that it takes only one row.
    const line = shown?.text(liveWidth(columns)) ?? '';
    drawn = visibleWidth(line);
    await stderr.write(`${before}${line}`);
  };

  const wipe = async (): Promise<void> => {
    if (drawn === undefined) return;
    const before = wipeDrawn(drawn, stderr.columns ?? 80);
    drawn = undefined;
    // Something else is about to be printed, so the line stays cleared for a moment.
    drawnAt = clock.monotonic();
    await stderr.write(before);
  };

  return {
    show: (text) => {
      shown = text;
      stale = true;
      if (drawing) return;
      drawing = true;
      // Stopping the line or closing the terminal makes the drawing fail. Neither is an error.
      keepDrawn(stopped.signal).catch(() => {});
    },
    wipe,
    stop: async () => {
      shown = undefined;
      stopped.abort();
      stopped = new AbortController();
      drawing = false;
      await wipe();
    },
  };
}
