import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Paint } from '../../output/terminal.ts';
import { barred } from '../../output/text-width.ts';
import type { Format, Renderer, RenderOptions, View } from '../../output/view.ts';
import { UsageError } from '../../shared/errors.ts';
import { singleLine, stripControlsFromBody } from '../../shared/sanitize.ts';
import type { Context } from '../context.ts';
import type { GlobalOptions } from './globals.ts';
import type { Messages } from './messages.ts';

export interface PrintOptions {
  /** The report of work already done: Ctrl-C does not end it. */
  readonly ignoreInterrupt?: boolean;
  /** Instead of the chosen one. */
  readonly format?: Format;
  /** Instead of the chosen one: for a view that follows another. */
  readonly header?: boolean | undefined;
  /** Whether a message says that a table is empty; default: yes. */
  readonly noteWhenEmpty?: boolean;
}

export interface ResultsOptions {
  readonly context: Context;
  readonly globals: GlobalOptions;
  readonly format: Format;
  /** An option, a variable or a setting has named the format. */
  readonly isFormatNamed: boolean;
  readonly messages: Messages;
  /** `north/production`, for the prompt of the pager. */
  readonly place: string;
  paint(): Promise<Paint>;
}

/** In code units. */
const quotedAtOnce = 65_536;

export class Results {
  readonly format: Format;
  /** A program reads it: `json` and `ndjson`. */
  readonly wantsJson: boolean;
  /** Where it is false, a command whose result is a sentence has no other. */
  readonly isFormatNamed: boolean;

  constructor(private readonly options: ResultsOptions) {
    this.format = options.format;
    this.isFormatNamed = options.isFormatNamed;
    this.wantsJson = this.format === 'json' || this.format === 'ndjson';
  }

  /** Writes a view in the chosen format, piece by piece. @throws the reason of an interruption, and what writing to stdout throws */
  async print(view: View, options: PrintOptions = {}): Promise<void> {
    const { globals, messages } = this.options;
    const { noteWhenEmpty = true, format = this.format } = options;
    const shown = globals.fields === undefined ? view : await withFields(view, globals.fields);
    const isEmpty = await this.#writePieces(shown, { ...options, format });
    if (isEmpty && noteWhenEmpty && format === 'table') await messages.note('Nothing to show.');
  }

  /** Writes lines that may be painted; what they repeat must be harmless already. */
  async show(textOf: (options: Omit<RenderOptions, 'header'>) => string): Promise<void> {
    const { stdout } = this.options.context;
    const redact = stdout.isTerminal ? stdout.redact : undefined;
    await this.#write(textOf({ width: this.#width, paint: await this.options.paint(), redact }));
  }

  /** Writes the service's words, whatever they are: for a person at a terminal with a bar in front of each line. */
  async quote(text: string): Promise<void> {
    if (this.#width === undefined || this.wantsJson) return await this.write(`${text}\n`);
    const { redact = (same) => same } = this.options.context.stdout;
    const clean = singleLine(redact(text));
    // In pieces: the lines of a long text would take several times its size.
    for (let start = 0; start < clean.length; start += quotedAtOnce) {
      await this.write(`${barred(clean.slice(start, start + quotedAtOnce), this.#width).join('\n')}\n`);
    }
  }

  /** Undefined off a terminal. A terminal of unknown width is still a terminal: nothing harmful may reach it. */
  get #width(): number | undefined {
    const { isTerminal, columns = 80 } = this.options.context.stdout;
    return isTerminal ? columns : undefined;
  }

  /** Writes text without paint, or bytes, for a result that has no format of its own. */
  async write(text: string | Uint8Array): Promise<void> {
    // What comes from outside has no colours on a terminal.
    const isPainted = this.options.context.stdout.isTerminal && typeof text === 'string';
    await this.#write(isPainted ? stripControlsFromBody(text) : text);
  }

  async #write(chunk: string | Uint8Array): Promise<void> {
    await this.options.messages.clear();
    await this.options.context.stdout.write(chunk);
  }

  /** @returns whether there was nothing to write */
  async #writePieces(view: View, options: PrintOptions & { readonly format: Format }): Promise<boolean> {
    const { context, globals, messages, place, paint } = this.options;
    const { stdout } = context;
    const { format, header = globals.header } = options;
    const interrupted = options.ignoreInterrupt ? undefined : context.interrupted;
    const render = await loadRenderer(format);
    const rendered = render(view, {
      header,
      stringIds: globals.stringIds === true,
      raw: globals.raw === true,
      width: this.#width,
      paint: await paint(),
      redact: stdout.isTerminal ? stdout.redact : undefined,
    });
    let isEmpty = true;
    const pieces = async function* () {
      for await (const piece of rendered) {
        // Making and writing pieces may never wait for anything: Ctrl-C comes with a turn of the event loop.
        await nextTurn();
        interrupted?.throwIfAborted();
        isEmpty = false;
        yield piece;
      }
    };
    const isPaged = interrupted !== undefined && format === 'table' && globals.pager !== false && !globals.quiet;
    const paged = isPaged && stdout.isTerminal ? await import('./paged-output.ts') : undefined;
    const page = paged?.pagerFor(context, messages, place);
    await (page?.(pieces()) ?? this.#writeInStep(pieces(), interrupted));
    return isEmpty;
  }

  /** Writes pieces, the next of which is made meanwhile. */
  async #writeInStep(pieces: AsyncIterable<string | Uint8Array>, interrupted: AbortSignal | undefined): Promise<void> {
    let writing = Promise.resolve();
    try {
      for await (const piece of pieces) {
        await writing;
        writing = this.#write(piece);
        // Awaited with the next piece: until then Node would treat a failure as unhandled.
        writing.catch(() => {});
      }
    } finally {
      // What was written comes before a message about a failure; but an interruption does not wait for a pipe.
      if (!interrupted?.aborted) await writing;
    }
  }
}

/** The fields of items in columns were chosen by their command. @throws UsageError for a field that the view does not have */
async function withFields(view: View, values: readonly string[]): Promise<View> {
  if (view.items !== undefined) return view;
  const { chosenFields } = await import('../../output/view.ts');
  const chosen = chosenFields(view, values);
  if (chosen.ok) return chosen.value;
  throw new UsageError(`--fields: ${chosen.problem}.`);
}

export async function loadRenderer(format: Format): Promise<Renderer> {
  if (format === 'table') return (await import('../../output/table.ts')).table;
  if (format === 'html') return (await import('../../output/html.ts')).html;
  if (format === 'json' || format === 'ndjson') return (await import('../../output/json.ts'))[format];
  return (await import('../../output/delimited.ts'))[format];
}
