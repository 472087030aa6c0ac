import { messageLines } from '../../output/message-lines.ts';
import type { Paint } from '../../output/paint.ts';
import type { WaitReason } from '../../rate-limit/key-state.ts';
import { stripControls } from '../../shared/sanitize.ts';
import type { Context } from '../context.ts';
import { createCountdown } from '../progress/countdown.ts';
import type { Progress } from '../progress/progress.ts';
import { createWaitingLine } from '../progress/waiting-line.ts';

/** What a command says to the person on stderr, as it happens. */
export interface Messages {
  /** A line for the person; silent with `--quiet`. */
  note(line: string): Promise<void>;
  /** A line that starts with `Warning:`. */
  warn(line: string): Promise<void>;
  /** A warning that a promise is weakened: `--quiet` does not silence it. */
  alert(line: string): Promise<void>;
  /** Lines that may be painted; what they repeat must be harmless already. Silent with `--quiet`, unless `always`. */
  show(
    lines: (paint: Paint, width: number) => readonly string[],
    options?: { readonly always: boolean },
  ): Promise<void>;
  /** A line as it is, for `--debug`. */
  debug(line: string): Promise<void>;
  /** Says that nothing is sent for so many milliseconds, and why. */
  waiting(ms: number, reason: WaitReason): void;
  /** Says on a terminal that a request has had no answer for a while; the next message takes it away. */
  slow(line: string): void;
  /** While a pager has the terminal, lines are kept. Nothing that is drawn in place is drawn. */
  hold(): void;
  /** Shows the lines that were kept. */
  release(): Promise<void>;
  /** To be called before something is written to stdout: takes away what is drawn on the last line of the terminal. */
  clear(): Promise<void>;
  /**
   * Shows how far a bulk write has come, until it is stopped. With `--quiet` it shows nothing.
   * @param limitSeconds how long the limits make so many requests take
   */
  startProgress(total: number, limitSeconds: (requests: number) => number): Promise<Progress>;
}

export interface MessagesOptions {
  readonly quiet: boolean;
  paint(): Promise<Paint>;
}

export function createMessages(context: Context, options: MessagesOptions): Messages {
  return new StderrMessages(context, options);
}

class StderrMessages implements Messages {
  readonly #context: Context;
  readonly #options: MessagesOptions;
  readonly #countdown: ReturnType<typeof createCountdown>;
  readonly #slow: ReturnType<typeof createWaitingLine>;
  #progress: Progress | undefined;
  /** Defined while a pager has the terminal. */
  #held: string[] | undefined;

  constructor(context: Context, options: MessagesOptions) {
    this.#context = context;
    this.#options = options;
    this.#countdown = createCountdown(context, (line) => void this.note(line));
    this.#slow = createWaitingLine(context);
  }

  async note(line: string): Promise<void> {
    if (!this.#options.quiet) await this.alert(line, '');
  }

  async warn(line: string): Promise<void> {
    await this.alert(line);
  }

  async alert(line: string, prefix = 'Warning: '): Promise<void> {
    const { stderr } = this.#context;
    const { isTerminal, columns = 80 } = stderr;
    const said = prefix + stripControls(line);
    const text = stderr.redact?.(said) ?? said;
    if (!isTerminal || text.length <= columns) return this.debug(text);
    await this.debug(messageLines(text, columns).join('\n'));
  }

  async show(lines: (paint: Paint, width: number) => readonly string[], { always } = { always: false }): Promise<void> {
    if (this.#options.quiet && !always) return;
    const { stderr } = this.#context;
    const width = stderr.isTerminal ? (stderr.columns ?? 80) : Number.POSITIVE_INFINITY;
    for (const line of lines(await this.#options.paint(), width)) await this.debug(line);
  }

  async debug(line: string): Promise<void> {
    if (this.#held !== undefined) {
      this.#held.push(line);
      return;
    }
    await this.clear();
    await this.#context.stderr.write(`${line}\n`);
  }

  waiting(ms: number, reason: WaitReason): void {
    if (this.#options.quiet || this.#held !== undefined) return;
    if (this.#progress === undefined) this.#countdown.start(ms, reason);
    else this.#progress.waiting(ms, reason);
  }

  slow(line: string): void {
    if (this.#held !== undefined) return;
    // The line of a bulk run shows already how far it is, and the countdown what it waits for.
    if (!this.#options.quiet && this.#progress === undefined) {
      const said = stripControls(line);
      this.#slow.show(this.#context.stderr.redact?.(said) ?? said);
    }
  }

  hold(): void {
    this.#held ??= [];
  }

  async release(): Promise<void> {
    const lines = this.#held ?? [];
    this.#held = undefined;
    for (const line of lines) await this.debug(line);
  }

  async clear(): Promise<void> {
    await this.#slow.clear();
    await this.#countdown.stop();
    await this.#progress?.wipe();
  }

  async startProgress(total: number, limitSeconds: (requests: number) => number): Promise<Progress> {
    if (this.#options.quiet) return silentProgress;
    const { createProgress } = await import('../progress/progress.ts');
    const note = (line: string) => void this.note(line);
    const shown = createProgress(this.#context, { total, note, paint: await this.#options.paint(), limitSeconds });
    this.#progress = shown;
    return {
      ...shown,
      stop: async () => {
        this.#progress = undefined;
        await shown.stop();
      },
    };
  }
}

const silentProgress: Progress = { update: () => {}, waiting: () => {}, wipe: async () => {}, stop: async () => {} };
