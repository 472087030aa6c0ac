import { liveWidth, wipeDrawn } from '../../output/terminal.ts';
import { visibleWidth } from '../../output/text-width.ts';
import type { Context } from '../context.ts';

/** The last line of the terminal, drawn again and again in its place. */
export interface LiveLine {
  /** Shows a text instead of the one before, or the same once it has changed. Costs next to nothing while a drawing is due anyway. */
  show(text: LiveText): void;
  /** Takes the line away, so that something else can be written; `show` brings it back. */
  wipe(): Promise<void>;
  /** Takes the line away until another text is shown. */
  stop(): Promise<void>;
}

export interface LiveText {
  /** Returns at most `width` columns of text that may be painted. */
  text(width: number): string;
  /** Milliseconds for which the text goes on changing by itself; undefined: it does not. */
  countsFor(): number | undefined;
}

/** In milliseconds: the least between two drawings, and the most while the text changes by itself. */
const drawEvery = 100;
const countEvery = 1000;

export function createLiveLine({ clock, stderr }: Pick<Context, 'clock' | 'stderr'>): LiveLine {
  let shown: LiveText | undefined;
  let stopped = new AbortController();
  let drawnAt = Number.NEGATIVE_INFINITY;
  /** Columns that the drawn line takes; undefined: there is none. */
  let drawn: number | undefined;
  let drawing = false;
  /** Something has changed since the last drawing. */
  let stale = false;

  /** Draws until there is nothing new to show. One at a time, so that a terminal that is held up gathers no drawings. */
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
      // At once, so that no change is lost between the last look and the end.
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
    // Never wider than the terminal: a row is what can be taken away again.
    const line = shown?.text(liveWidth(columns)) ?? '';
    drawn = visibleWidth(line);
    await stderr.write(`${before}${line}`);
  };

  const wipe = async (): Promise<void> => {
    if (drawn === undefined) return;
    const before = wipeDrawn(drawn, stderr.columns ?? 80);
    drawn = undefined;
    // Whoever takes it away is about to write: it stays away for a moment.
    drawnAt = clock.monotonic();
    await stderr.write(before);
  };

  return {
    show: (text) => {
      shown = text;
      stale = true;
      if (drawing) return;
      drawing = true;
      // Being stopped ends it, and a terminal that is gone: neither needs a report.
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
