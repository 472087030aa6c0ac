import { exactJson } from '../../output/json-format.ts';
import { drawsLive, type Paint, plainPaint } from '../../output/terminal.ts';
import { barred, messageLines, truncate, visibleWidth } from '../../output/text-width.ts';
import { formatDuration, localTime } from '../../output/time.ts';
import type { WaitReason } from '../../rate-limit/key-state.ts';
import { sentence } from '../../shared/parsed.ts';
import { singleLine, stripControls } from '../../shared/sanitize.ts';
import type { Context, Output } from '../context.ts';
import { createLiveLine, type LiveLine } from '../progress/live-line.ts';
import type { Progress } from '../progress/progress.ts';

/** One output stream of a command. Messages have one sink, results another. */
export class Sink {
  /** @param clear removes the line drawn at the bottom of the terminal, before anything is written */
  constructor(
    private readonly output: Output,
    readonly paint: () => Promise<Paint>,
    private readonly clear: () => Promise<void>,
  ) {}

  /** The width of the terminal, or 80 if it is unknown; undefined if the stream is not a terminal. */
  get width(): number | undefined {
    const { isTerminal, columns = 80 } = this.output;
    return isTerminal ? columns : undefined;
  }

  /** Hides keys. Call this before text is truncated or wrapped, because half of a key could not be recognized. */
  redact(text: string): string {
    return this.output.redact?.(text) ?? text;
  }

  async write(chunk: string | Uint8Array): Promise<void> {
    await this.clear();
    await this.output.write(chunk);
  }
}

export interface MessagesOptions {
  readonly quiet?: boolean | undefined;
  readonly verbose?: boolean | undefined;
  readonly isDebug?: boolean;
  /** Whether messages are a log (`--debug=json`), in which each line is a JSON object with its time. */
  readonly isLog: boolean;
  paint(): Promise<Paint>;
}

/** Off a terminal, a wait of more than this many milliseconds is reported in any case. */
const longWait = 10_000;

/**
 * Prints messages on stderr as they occur. Prints only warnings, debug lines, and messages marked `always` with
 * `--quiet`, and where stderr is no terminal unless `--verbose` or `--debug` is given, so that a nightly job that went
 * well sends no mail.
 */
export class Messages {
  readonly #sink: Sink;
  /** Undefined if stderr is not a terminal that can redraw lines, or if messages are a log. */
  readonly #line: LiveLine | undefined;
  #progress: Progress | undefined;
  /** Lines that are kept while a pager has the terminal; undefined otherwise. */
  #held: string[] | undefined;
  /** Whether notes are left out. */
  readonly isQuiet: boolean;
  /** Until when the last reported wait lasts, by the monotonic clock. */
  #toldUntil = 0;

  constructor(
    private readonly context: Context,
    private readonly options: MessagesOptions,
  ) {
    const { quiet, verbose, isDebug } = options;
    this.isQuiet = quiet ?? !(context.stderr.isTerminal || verbose || isDebug);
    this.#sink = new Sink(context.stderr, options.paint, () => this.clear());
    this.#line = drawsLive(context) && !options.isLog ? createLiveLine(context) : undefined;
  }

  async note(line: string): Promise<void> {
    if (!this.isQuiet) await this.#say('note', line);
  }

  /** Prints where a server listens; not on a terminal with `--quiet`. */
  async announce(line: string): Promise<void> {
    if (!this.isQuiet || !this.context.stderr.isTerminal) await this.#say('note', line);
  }

  /**
   * Prints a warning, which starts with `Warning:` unless messages are a log. A missing period is added.
   * @param words text to quote below the warning
   */
  async warn(line: string, words?: string): Promise<void> {
    // No period follows a command, because users copy the line.
    const text = /:(?: petstock .*)?$/s.test(line) ? line : sentence(line);
    await this.#say('warning', this.options.isLog ? text : `Warning: ${text}`);
    if (words !== undefined) await this.quote(words, { always: true });
  }

  /** Prints quoted text, with a bar in front of each line unless messages are a log. */
  async quote(words: string, { always } = { always: false }): Promise<void> {
    if (this.isQuiet && !always) return;
    if (this.options.isLog) return this.#say('quote', singleLine(words));
    for (const line of barred(this.#sink.redact(singleLine(words)), this.#width)) await this.#print(line);
  }

  /**
   * Prints lines that may be painted; any text that they quote must already be safe.
   * @param lines returns the lines; the width is infinite if nothing is to be wrapped
   */
  async show(
    lines: (paint: Paint, width: number) => readonly string[] | Promise<readonly string[]>,
    { always } = { always: false },
  ): Promise<void> {
    if (this.isQuiet && !always) return;
    const { isLog, paint } = this.options;
    const shown = await lines(isLog ? plainPaint : await paint(), this.#width);
    for (const line of shown) await (isLog ? this.#say('note', line) : this.#print(line));
  }

  async debug(line: string): Promise<void> {
    if (this.options.isLog) return this.#print(this.#sink.redact(line));
    const [first = '', ...rest] = messageLines(this.#sink.redact(line), this.#width);
    const words = rest.map((part) => part.trimStart()).join(' ');
    await this.#print([first, ...(words === '' ? [] : barred(words, this.#width))].join('\n'));
  }

  /** Shows that nothing is sent for `ms` milliseconds, and why. */
  waiting(ms: number, reason: WaitReason): void {
    if (this.#held !== undefined) return;
    if (this.isQuiet) {
      this.#tellLongWait(ms, reason);
      return;
    }
    if (this.#progress !== undefined) {
      this.#progress.waiting(ms, reason);
      return;
    }
    const { clock, interrupted } = this.context;
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

  /** Prints one line of a wait that is long, if stderr is no terminal. */
  #tellLongWait(ms: number, reason: WaitReason): void {
    const { clock, stderr } = this.context;
    const until = clock.monotonic() + ms;
    if (stderr.isTerminal || ms <= longWait || until <= this.#toldUntil + longWait) return;
    this.#toldUntil = until;
    void this.show(() => [waitText(ms, reason, clock.now())], { always: true });
  }

  /**
   * Shows why a command waits and what it does next. On a terminal, the line is replaced by the next one.
   * @param sentence without a period
   * @param attempt the number of the attempt, from 1; if no line can be redrawn, only the first is printed
   */
  delayed(sentence: string, attempt = 1): void {
    if (this.isQuiet) return;
    if (this.#line !== undefined && this.#isFree) this.#draw(sentence);
    else if (attempt === 1) void this.note(`${sentence}.`);
  }

  /**
   * Shows which other command this one waits for.
   * @param sentence without a period
   * @param ms how long it will wait, in milliseconds, if that is known. A short wait is told like any other delay
   */
  waitingForOthers(sentence: string, ms = Number.POSITIVE_INFINITY): void {
    if (ms <= 10_000) this.delayed(sentence);
    else if (this.#line !== undefined && this.#isFree && !this.options.quiet) this.#draw(sentence);
    else if (!this.context.stderr.isTerminal || !this.options.quiet)
      void this.show(() => [`${sentence}.`], { always: true });
  }

  /** Shows on a terminal that a response is slow; the next message replaces the line. */
  slow(line: string): void {
    // A progress line already shows what the command waits for, and a pager has the whole terminal.
    if (!this.isQuiet && this.#isFree) this.#draw(line);
  }

  get #isFree(): boolean {
    return this.#progress === undefined && this.#held === undefined;
  }

  /**
   * Shows a text on the last line until something else is printed, if the terminal can redraw the line. The last
   * clause, which says what comes next, is never truncated.
   */
  #draw(line: string): void {
    const text = this.#sink.redact(singleLine(line));
    const [end = ''] = /[,;] [^,;]*$/.exec(text) ?? [];
    const reason = text.slice(0, text.length - end.length);
    this.#line?.show({
      text: (width) => truncate(`${truncate(reason, width - visibleWidth(end))}${end}`, width),
      countsFor: () => undefined,
    });
  }

  /**
   * Holds all lines back while a pager has the terminal, and prints them when `ended` resolves. Nothing is drawn
   * meanwhile.
   */
  async holdUntil(ended: Promise<unknown>): Promise<void> {
    this.#held = [];
    await ended;
    const lines = this.#held;
    this.#held = undefined;
    for (const line of lines) await this.#print(line);
  }

  /** Clears the line that was drawn last. Call this before writing to stdout. */
  async clear(): Promise<void> {
    // The progress line reappears with its next change.
    if (this.#progress !== undefined) await this.#line?.wipe();
    else await this.#line?.stop();
  }

  /**
   * Shows the progress of a bulk write until it is stopped. Returns undefined with `--quiet`.
   * @param limitSeconds returns for how many seconds the rate limits delay a number of requests
   */
  async startProgress(total: number, limitSeconds: (requests: number) => number): Promise<Progress | undefined> {
    if (this.isQuiet) return undefined;
    const { createProgress } = await import('../progress/progress.ts');
    const note = (line: string) => void this.note(line);
    const options = { total, note, paint: await this.#sink.paint(), limitSeconds };
    const shown = createProgress(this.context.clock, this.#line, options);
    this.#progress = shown;
    return {
      ...shown,
      stop: async () => {
        this.#progress = undefined;
        await shown.stop();
      },
    };
  }

  /** The width of the terminal; infinite if nothing is wrapped. */
  get #width(): number {
    return (this.options.isLog ? undefined : this.#sink.width) ?? Number.POSITIVE_INFINITY;
  }

  async #say(event: 'note' | 'warning' | 'quote', line: string): Promise<void> {
    const text = this.#sink.redact(stripControls(line));
    if (!this.options.isLog) return this.#print(messageLines(text, this.#width).join('\n'));
    // A blank line of a longer text is skipped, because it would be an empty message.
    if (text.trim() !== '') await this.#print(logLine(this.context.clock.now(), event, { message: text.trim() }));
  }

  async #print(line: string): Promise<void> {
    if (this.#held !== undefined) {
      this.#held.push(line);
      return;
    }
    await this.#sink.write(`${line}\n`);
  }
}

/** Returns one line of the log: `{"at":"…","event":"note","message":"…"}`. */
export function logLine(now: number, event: string, facts: object): string {
  return exactJson({ at: new Date(now).toISOString(), event, ...facts });
}

function waitText(ms: number, reason: WaitReason, now: number): string {
  const wait = ms > 0 ? ` in ${formatDuration(Math.ceil(ms / 1000))} (${localTime(now + ms, now)})` : '';
  const why = {
    refused: 'Rate limited',
    unavailable: 'Waiting for the service',
    pending: 'Waiting for requests of other commands',
  };
  return `${why[reason]}: continuing${wait}. Ctrl-C stops; nothing is lost.`;
}
