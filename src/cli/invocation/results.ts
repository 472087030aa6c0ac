import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Paint } from '../../output/terminal.ts';
import { barred } from '../../output/text-width.ts';
import type { Format, Renderer, RenderOptions, View } from '../../output/view.ts';
import { UsageError } from '../../shared/errors.ts';
import { singleLine, stripControlsFromBody } from '../../shared/sanitize.ts';
import type { Context } from '../context.ts';
import type { GlobalOptions } from './globals.ts';
import type { Messages } from './messages.ts';
import { Sink } from './messages.ts';

export interface PrintOptions {
  /** Whether Ctrl-C must not cut off the output, because it is a report of finished work. */
  readonly ignoreInterrupt?: boolean;
  readonly format?: Format;
  /** Overrides the option `--header`, for a view that follows another. */
  readonly header?: boolean | undefined;
}

export interface ResultsOptions {
  readonly context: Context;
  readonly globals: GlobalOptions;
  readonly format: Format;
  readonly isFormatNamed: boolean;
  readonly messages: Messages;
  /** The target, such as `north/production`, for the prompt of the pager. */
  readonly target: string;
  paint(): Promise<Paint>;
}

/** How many code units of a long text are wrapped at a time. */
const quotedAtOnce = 65_536;

export class Results {
  readonly format: Format;
  /** Whether the format is `json` or `ndjson`. */
  readonly wantsJson: boolean;
  /**
   * Whether an option, a variable or a setting names the format. If not, a command whose result is a sentence prints
   * only that sentence.
   */
  readonly isFormatNamed: boolean;
  readonly #sink: Sink;

  constructor(private readonly options: ResultsOptions) {
    const { context, messages, paint } = options;
    this.#sink = new Sink(context.stdout, paint, () => messages.clear());
    this.format = options.format;
    this.isFormatNamed = options.isFormatNamed;
    this.wantsJson = this.format === 'json' || this.format === 'ndjson';
  }

  /**
   * Writes a view in the chosen format, piece by piece.
   * @throws the reason of an interruption, and errors of stdout
   */
  async print(view: View, options: PrintOptions = {}): Promise<void> {
    const { globals, messages } = this.options;
    const { format = this.format } = options;
    const shown = globals.fields === undefined ? view : await withFields(view, globals.fields);
    const isEmpty = await this.#writePieces(shown, { ...options, format });
    if (isEmpty && view.noteWhenEmpty !== false && format === 'table') await messages.note('Nothing to show.');
  }

  /**
   * Checks `--fields` before a request is sent.
   * @param view the result, still without rows
   * @throws UsageError for a field that the view does not have
   */
  async requireFields(view: View): Promise<void> {
    const { fields } = this.options.globals;
    if (fields !== undefined) await withFields(view, fields);
  }

  /** Writes lines that may contain colours; any text that they quote must already be safe. */
  async show(textOf: (options: Omit<RenderOptions, 'header'>) => string): Promise<void> {
    await this.#sink.write(textOf(await this.#renderOptions()));
  }

  /** Writes text of the service. On a terminal, each line has a bar in front, unless the format is JSON. */
  async quote(text: string): Promise<void> {
    if (this.#sink.width === undefined || this.wantsJson) return await this.write(`${text}\n`);
    const clean = singleLine(this.#sink.redact(text));
    // Writes in pieces, because the lines of a long text would take several times its size in memory.
    for (let start = 0; start < clean.length; start += quotedAtOnce) {
      await this.write(`${barred(clean.slice(start, start + quotedAtOnce), this.#sink.width).join('\n')}\n`);
    }
  }

  /** Writes plain text or bytes, for a result without a format. */
  async write(text: string | Uint8Array): Promise<void> {
    // Text from outside must not control the terminal.
    const isForTerminal = this.#sink.width !== undefined && typeof text === 'string';
    await this.#sink.write(isForTerminal ? stripControlsFromBody(text) : text);
  }

  async #renderOptions() {
    const { width, paint } = this.#sink;
    const redact = width === undefined ? undefined : (text: string) => this.#sink.redact(text);
    return { width, paint: await paint(), redact };
  }

  /**
   * Writes a view, on a terminal through a pager if it is long.
   * @returns whether there was nothing to write
   */
  async #writePieces(view: View, options: PrintOptions & { readonly format: Format }): Promise<boolean> {
    const { context, globals, messages, target } = this.options;
    const { stdout } = context;
    const { format, header = globals.header } = options;
    const interrupted = options.ignoreInterrupt ? undefined : context.interrupted;
    const render = await loadRenderer(format);
    const rendered = render(view, {
      header,
      stringIds: globals.stringIds === true,
      raw: globals.raw === true,
      ...(await this.#renderOptions()),
    });
    let isEmpty = true;
    const pieces = async function* () {
      for await (const piece of rendered) {
        // Rendering and writing might never wait for I/O, but Ctrl-C is noticed only when the event loop gets a turn.
        await nextTurn();
        interrupted?.throwIfAborted();
        isEmpty = false;
        yield piece;
      }
    };
    const isPaged = interrupted !== undefined && format === 'table' && globals.pager !== false && !globals.quiet;
    const paged = isPaged && stdout.isTerminal ? await import('./paged-output.ts') : undefined;
    const page = paged?.pagerFor({ context, messages, sink: this.#sink }, target);
    await (page?.(pieces()) ?? this.#writeInStep(pieces(), interrupted));
    return isEmpty;
  }

  /** Writes each piece while the next one is created. */
  async #writeInStep(pieces: AsyncIterable<string>, interrupted: AbortSignal | undefined): Promise<void> {
    let writing = Promise.resolve();
    try {
      for await (const piece of pieces) {
        await writing;
        writing = this.#sink.write(piece);
        // Awaited with the next piece; until then Node would report a rejection as unhandled.
        writing.catch(() => {});
      }
    } finally {
      // Written output precedes an error message, but an interruption does not wait for a pipe.
      if (!interrupted?.aborted) await writing;
    }
  }
}

/**
 * Returns a view with only the chosen fields.
 * @throws UsageError for an unknown field
 */
async function withFields(view: View, values: readonly string[]): Promise<View> {
  const { chosenFields } = await import('../../output/view.ts');
  const chosen = chosenFields(view, values);
  if (chosen.ok) return chosen.value;
  throw new UsageError(`--fields: ${chosen.problem}.`);
}

export async function loadRenderer(format: Format): Promise<Renderer> {
  if (format === 'table') return (await import('../../output/table.ts')).table;
  if (format === 'html') return (await import('../../output/html.ts')).html;
  if (format === 'json' || format === 'ndjson') return (await import('../../output/json-format.ts'))[format];
  return (await import('../../output/delimited.ts'))[format];
}
