import type { Paint } from '../../output/paint.ts';
import { drawsLive } from '../../output/terminal.ts';
import { barred, messageLines, truncate } from '../../output/text-width.ts';
import { formatDuration, localTime } from '../../output/time.ts';
import type { WaitReason } from '../../rate-limit/key-state.ts';
import { singleLine, stripControls } from '../../shared/sanitize.ts';
import type { Context } from '../context.ts';
import { createLiveLine, type LiveLine } from '../progress/live-line.ts';
import type { Progress } from '../progress/progress.ts';

/** What a command says to the person on stderr, as it happens. */
export interface Messages {
  /** A line for the person; silent with `--quiet`. */
  note(line: string): Promise<void>;
  /** A line that starts with `Warning:`; not silenced by `--quiet`. */
  warn(line: string): Promise<void>;
  /** The same: a promise is weakened. */
  alert(line: string): Promise<void>;
  /** Words that are not ours, with a bar in front of each line. Silent with `--quiet`, unless `always`. */
  quote(words: string, options?: { readonly always: boolean }): Promise<void>;
  /** Lines that may be painted; what they repeat must be harmless already. Silent with `--quiet`, unless `always`. */
  show(
    lines: (paint: Paint, width: number) => readonly string[],
    options?: { readonly always: boolean },
  ): Promise<void>;
  /** A line for `--debug`. */
  debug(line: string): Promise<void>;
  /** Says that nothing is sent for so many milliseconds, and why. */
  waiting(ms: number, reason: WaitReason): void;
  /**
   * Says why a command has to wait and what it does next, without a period: on a terminal in a line that changes in place.
   * @param attempt counts tries of the same from 1; elsewhere only the first is told
   */
  delayed(sentence: string, attempt?: number): void;
  /** The same for a request that is sent again. */
  retrying(retry: Retry): void;
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

/** One more try of a request. */
export interface Retry {
  /** `No connection to https://shop.example`, `GET /inventory: the service answered 503`; without a period. */
  readonly reason: string;
  /** Counts from 1. */
  readonly attempt: number;
  readonly of: number;
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
  /** Undefined: the terminal, if there is one, can't draw. */
  readonly #line: LiveLine | undefined;
  #progress: Progress | undefined;
  /** Defined while a pager has the terminal. */
  #held: string[] | undefined;

  constructor(context: Context, options: MessagesOptions) {
    this.#context = context;
    this.#options = options;
    this.#line = drawsLive(context) ? createLiveLine(context) : undefined;
  }

  async note(line: string): Promise<void> {
    if (!this.#options.quiet) await this.#say(line);
  }

  async warn(line: string): Promise<void> {
    await this.#say(`Warning: ${line}`);
  }

  alert(line: string): Promise<void> {
    return this.warn(line);
  }

  async quote(words: string, { always } = { always: false }): Promise<void> {
    if (this.#options.quiet && !always) return;
    for (const line of barred(this.#redacted(singleLine(words)), this.#width)) await this.#print(line);
  }

  async show(lines: (paint: Paint, width: number) => readonly string[], { always } = { always: false }): Promise<void> {
    if (this.#options.quiet && !always) return;
    for (const line of lines(await this.#options.paint(), this.#width)) await this.#print(line);
  }

  async debug(line: string): Promise<void> {
    const [first = '', ...rest] = messageLines(this.#redacted(line), this.#width);
    const words = rest.map((part) => part.trimStart()).join(' ');
    await this.#print([first, ...(words === '' ? [] : barred(words, this.#width))].join('\n'));
  }

  waiting(ms: number, reason: WaitReason): void {
    if (this.#options.quiet || this.#held !== undefined) return;
    if (this.#progress !== undefined) {
      this.#progress.waiting(ms, reason);
      return;
    }
    const { clock, interrupted } = this.#context;
    const until = clock.monotonic() + ms;
    const left = () => until - clock.monotonic();
    const text = () => waitText(left(), reason, clock.now());
    if (this.#line === undefined) void this.note(text());
    else {
      this.#line.show({
        text: (width) => truncate(text(), width),
        countsFor: () => (left() > 0 && !interrupted.aborted ? left() : undefined),
      });
    }
  }

  delayed(sentence: string, attempt = 1): void {
    if (this.#options.quiet) return;
    const isDrawn = this.#line !== undefined && this.#progress === undefined && this.#held === undefined;
    if (isDrawn) this.#draw(sentence);
    else if (attempt === 1) void this.note(`${sentence}.`);
  }

  retrying({ reason, attempt, of }: Retry): void {
    this.delayed(`${reason}, trying again (${attempt} of ${of})`, attempt);
  }

  slow(line: string): void {
    // The line of a bulk run shows already how far it is, and the countdown what it waits for.
    if (this.#held === undefined && !this.#options.quiet && this.#progress === undefined) this.#draw(line);
  }

  /** Shows a text on the last line until something else is written. Where nothing can be drawn it would stay. */
  #draw(line: string): void {
    const text = this.#redacted(singleLine(line));
    this.#line?.show({ text: (width) => truncate(text, width), countsFor: () => undefined });
  }

  hold(): void {
    this.#held ??= [];
  }

  async release(): Promise<void> {
    const lines = this.#held ?? [];
    this.#held = undefined;
    for (const line of lines) await this.#print(line);
  }

  async clear(): Promise<void> {
    await this.#line?.stop();
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

  /** Infinite: nothing is wrapped. */
  get #width(): number {
    const { isTerminal, columns = 80 } = this.#context.stderr;
    return isTerminal ? columns : Number.POSITIVE_INFINITY;
  }

  /** Without keys, before it is cut or wrapped: half of a key could not be found. */
  #redacted(text: string): string {
    return this.#context.stderr.redact?.(text) ?? text;
  }

  async #say(line: string): Promise<void> {
    await this.#print(messageLines(this.#redacted(stripControls(line)), this.#width).join('\n'));
  }

  async #print(line: string): Promise<void> {
    if (this.#held !== undefined) {
      this.#held.push(line);
      return;
    }
    await this.clear();
    await this.#context.stderr.write(`${line}\n`);
  }
}

function waitText(ms: number, reason: WaitReason, now: number): string {
  const wait = formatDuration(Math.ceil(ms / 1000));
  const why = reason === 'refused' ? 'Rate limited' : 'The service is unavailable';
  return `${why}: continuing in ${wait} (${localTime(now + ms, now)}). Ctrl-C stops; nothing is lost.`;
}

const silentProgress: Progress = { update: () => {}, waiting: () => {}, wipe: async () => {}, stop: async () => {} };
