import { stripControls } from '../../shared/sanitize.ts';
import type { Context } from '../context.ts';
import { type Countdown, createCountdown } from '../progress/countdown.ts';

/** What a command says to the person on stderr. */
export interface Messages {
  readonly countdown: Countdown;
  /** Notes are being kept back. */
  readonly holding: boolean;
  /** A line as it is, at once. */
  say(line: string): Promise<void>;
  /** A line that may be painted, unless `--quiet`. */
  banner(line: string): Promise<void>;
  /** A line without control characters, unless `--quiet`. */
  note(line: string): Promise<void>;
  warn(line: string): Promise<void>;
  /** Shows what was held back, and holds nothing back from here on. */
  release(): Promise<void>;
}

export interface MessagesOptions {
  readonly quiet: boolean;
  /** Keeps notes back until `release`: where a program reads stderr, an error has to be the only thing there. */
  readonly hold: boolean;
  /** Takes away what is drawn on the last line of the terminal. */
  wipe(): Promise<void>;
}

export function createMessages(context: Context, { quiet, hold, wipe }: MessagesOptions): Messages {
  const held: string[] = [];
  let holding = hold;
  const countdown = createCountdown(context, (line) => void note(line));

  const say = async (line: string): Promise<void> => {
    await countdown.stop();
    await wipe();
    await context.stderr.write(`${line}\n`);
  };
  const sayOrHold = async (line: string): Promise<void> => {
    if (quiet) return;
    if (holding) held.push(line);
    else await say(line);
  };
  const note = (line: string) => sayOrHold(stripControls(line));

  return {
    countdown,
    get holding() {
      return holding;
    },
    say,
    banner: sayOrHold,
    note,
    warn: (line) => note(`Warning: ${line}`),
    release: async () => {
      holding = false;
      for (const line of held.splice(0)) await say(line);
    },
  };
}
