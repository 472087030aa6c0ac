import { visibleWidth } from '../../output/text-width.ts';
import { withoutSecrets } from '../../settings/variables.ts';
import { ClosedPipeError } from '../../shared/errors.ts';
import type { Context, Pager, PagerCommand } from '../context.ts';
import type { Messages } from './messages.ts';

interface PagedOutputOptions {
  readonly context: Context;
  readonly messages: Messages;
  readonly pager: PagerCommand;
  /** A variable names it: a warning says if it can't be run. */
  readonly isChosen: boolean;
  /** Characters of a line of the terminal, and its lines. */
  readonly columns: number;
  readonly rows: number;
}

/** A program that can't be run has read nothing by the time that so many characters are on their way to it. */
const mostRepeated = 1024 * 1024;

/** A table on its way to a terminal: held back as long as it may fit the screen, then through a pager, if that can be run. */
export class PagedOutput {
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  /** Output that was not shown yet, or may have to be repeated without the pager. */
  #kept: string[] = [];
  #keptLength = 0;
  /** Lines of the terminal that are still free; the last is for the prompt of the shell. */
  #room: number;
  #pager: Pager | undefined;
  /** Resolves once the messages are shown that came while the pager had the terminal. */
  #released: Promise<void> | undefined;
  /** Rejects when the person has left the pager, or on Ctrl-C. */
  #over: Promise<never> = new Promise(() => {});
  /** Goes straight to the terminal. */
  #isPlain = false;

  constructor(private readonly options: PagedOutputOptions) {
    this.#room = options.rows - 1;
  }

  /** @param chunk whole lines @throws ClosedPipeError once the person has left the pager; the reason of an interruption */
  async write(chunk: string | Uint8Array): Promise<void> {
    const { context } = this.options;
    const text = typeof chunk === 'string' ? chunk : this.#decoder.decode(chunk, { stream: true });
    if (this.#isPlain) return context.stdout.write(text);
    this.#keep(text);
    if (this.#pager !== undefined) return this.#page(this.#pager, text);
    this.#room -= this.#linesOf(text);
    if (this.#room < 0) await this.#open();
  }

  /** Shows what was held back, or waits until the person has left the pager. */
  async close(): Promise<void> {
    if (this.#pager === undefined) return this.#showPlain();
    this.#pager.end();
    const how = await this.#pager.ended;
    await this.#released;
    if (how === 'missing') await this.#doWithout();
  }

  /** The pieces as they come, until the person leaves the pager. @throws ClosedPipeError then */
  async *whileRead<Piece>(pieces: AsyncIterable<Piece>): AsyncGenerator<Piece, void> {
    const source = pieces[Symbol.asyncIterator]();
    for (;;) {
      const next = source.next();
      // It may wait for the service, and has its end with the command.
      next.catch(() => {});
      const result = await Promise.race([next, this.#over]);
      if (result.done) return;
      yield result.value;
    }
  }

  #keep(text: string): void {
    if (this.#keptLength > mostRepeated) return;
    this.#keptLength += text.length;
    if (this.#keptLength > mostRepeated) this.#kept = [];
    else this.#kept.push(text);
  }

  /** Looks no further than it takes to know that they do not fit. */
  #linesOf(text: string): number {
    let lines = 0;
    for (let at = 0; at < text.length && lines <= this.#room; ) {
      const end = text.indexOf('\n', at);
      const line = text.slice(at, end < 0 ? text.length : end);
      lines += Math.max(1, Math.ceil(visibleWidth(line) / this.options.columns));
      at += line.length + 1;
    }
    return lines;
  }

  async #open(): Promise<void> {
    const { context, messages, pager } = this.options;
    // Without a keyboard it could not be left.
    if (!context.stdin.isTerminal) return this.#showPlain();
    await messages.clear();
    const opened = context.openPager(pager);
    this.#released = messages.holdUntil(opened.then(({ ended }) => ended));
    this.#pager = await opened;
    this.#over = overOf(this.#pager, context.interrupted);
    this.#over.catch(() => {});
    await this.#page(this.#pager, this.#kept.join(''));
  }

  async #page(pager: Pager, text: string): Promise<void> {
    try {
      await Promise.race([pager.write(text), this.#over]);
    } catch (error) {
      if (!(error instanceof ClosedPipeError) || (await pager.ended) === 'left') throw error;
      await this.#doWithout();
    }
  }

  async #doWithout(): Promise<void> {
    const { messages, pager, isChosen } = this.options;
    this.#pager = undefined;
    await this.#released;
    if (isChosen)
      await messages.warn(`the pager ${JSON.stringify(pager.command)} can't be run; PETSTOCK_PAGER names another`);
    await this.#showPlain();
  }

  async #showPlain(): Promise<void> {
    this.#isPlain = true;
    const text = this.#kept.splice(0).join('');
    if (text === '') return;
    await this.options.messages.clear();
    await this.options.context.stdout.write(text);
  }
}

/** Never resolves. One that is missing is found out by the next write. */
function overOf(pager: Pager, interrupted: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = () => reject(interrupted.reason);
    interrupted.addEventListener('abort', stop, { once: true });
    void pager.ended.then((how) => {
      interrupted.removeEventListener('abort', stop);
      if (how === 'left') reject(new ClosedPipeError('The pager was left'));
    });
  });
}

/** The output of a table that may be longer than the terminal; undefined if no pager is wanted. */
export function openPagedOutput(context: Context, messages: Messages, place: string): PagedOutput | undefined {
  const { env, stdout } = context;
  const { columns, rows } = stdout;
  const chosen = env.PETSTOCK_PAGER ?? env.PAGER;
  const command = (chosen ?? 'less').trim();
  const isOff = command === '' || command === 'cat' || env.TERM === 'dumb';
  if (isOff || columns === undefined || rows === undefined) return undefined;
  // As git starts less: it ends by itself if all fits, keeps colours, and leaves the last rows on the screen.
  const less = env.LESS ?? `FRX${lessPrompt(place)}`;
  // What is typed ahead, such as the next command, is no order to save a file or to start a program.
  const lessSecure = env.LESSSECURE ?? '1';
  const pager = { command, env: { ...withoutSecrets(env), LESS: less, LESSSECURE: lessSecure, LV: env.LV ?? '-c' } };
  return new PagedOutput({ context, messages, pager, isChosen: chosen !== undefined, columns, rows });
}

/** The option of less for a prompt that says which store it is and what to press. */
function lessPrompt(place: string): string {
  const name = place.replace(/[\\?:.%$]/g, '\\$&');
  return `Ps${name}  ?eq close:SPACE more, q close.$`;
}
