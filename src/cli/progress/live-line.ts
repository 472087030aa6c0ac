import { liveWidth, wipeLine } from '../../output/terminal.ts';
import type { Context } from '../context.ts';

/** The last line of the terminal, drawn again and again in its place. */
export interface LiveLine {
  /** What it shows has changed. Costs next to nothing while a drawing is due anyway. */
  changed(): void;
  /** Takes it away, so that something else can be written; the next change brings it back. */
  wipe(): Promise<void>;
  /** Takes it away for good. */
  stop(): Promise<void>;
}

export interface LiveLineOptions {
  /** At most `width` characters of text that may be painted. */
  text(width: number): string;
  /** For how many milliseconds it goes on changing by itself; undefined: it does not. */
  countsFor(): number | undefined;
}

/** In milliseconds: how far two drawings are apart at least, and at most while it changes by itself. */
const drawEvery = 100;
const countEvery = 1000;

export function createLiveLine(
  { clock, stderr }: Pick<Context, 'clock' | 'stderr'>,
  options: LiveLineOptions,
): LiveLine {
  const stopped = new AbortController();
  let drawnAt = Number.NEGATIVE_INFINITY;
  let visible = false;
  let drawing = false;
  /** Something has changed since the last drawing. */
  let stale = false;

  /** Draws until there is nothing new to show. One at a time, so that a terminal that is held up gathers no drawings. */
  const keepDrawn = async (): Promise<void> => {
    try {
      while (stale) {
        await drawInTime();
        for (let left = options.countsFor(); left !== undefined; left = options.countsFor()) {
          await clock.sleep(Math.min(countEvery, left), stopped.signal);
          await drawInTime();
        }
      }
    } finally {
      // At once, so that no change is lost between the last look and the end.
      drawing = false;
    }
  };

  const drawInTime = async (): Promise<void> => {
    const untilNext = () => drawnAt + drawEvery - clock.monotonic();
    for (let ms = untilNext(); ms > 0; ms = untilNext()) await clock.sleep(ms, stopped.signal);
    await draw();
  };

  const draw = async (): Promise<void> => {
    stopped.signal.throwIfAborted();
    drawnAt = clock.monotonic();
    stale = false;
    visible = true;
    // Never wider than the terminal, since only the row that the cursor is in can be taken away again.
    await stderr.write(`${wipeLine}${options.text(liveWidth(stderr.columns))}`);
  };

  const wipe = async (): Promise<void> => {
    if (!visible) return;
    visible = false;
    // Whoever takes it away is about to write: it stays away for a moment.
    drawnAt = clock.monotonic();
    await stderr.write(wipeLine);
  };

  return {
    changed: () => {
      stale = true;
      if (drawing || stopped.signal.aborted) return;
      drawing = true;
      // Being stopped ends it, and a terminal that is gone: neither is anything to tell.
      keepDrawn().catch(() => {});
    },
    wipe,
    stop: async () => {
      stopped.abort();
      await wipe();
    },
  };
}
