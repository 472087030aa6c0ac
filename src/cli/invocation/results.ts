import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Paint } from '../../output/paint.ts';
import { loadRenderer } from '../../output/renderers.ts';
import type { Format, View } from '../../output/view.ts';
import { UsageError } from '../../shared/errors.ts';
import { stripControlsFromBody } from '../../shared/sanitize.ts';
import type { Context } from '../context.ts';
import type { Messages } from './messages.ts';

/** The result of a command, on stdout. */
export interface Results {
  /** True where a program reads it: `json` and `ndjson`. */
  readonly wantsJson: boolean;
  /** The chosen one. */
  readonly format: Format;
  /**
   * Writes a view in the chosen format, piece by piece.
   * @throws the reason of an interruption, and what writing to stdout throws
   */
  print(view: View, options?: PrintOptions): Promise<void>;
  /** Writes lines that may be painted; what they repeat must be harmless already. */
  show(lines: (paint: Paint) => readonly string[]): Promise<void>;
  /** Writes text without paint, or bytes, for a result that has no format of its own. */
  write(text: string | Uint8Array): Promise<void>;
}

export interface PrintOptions {
  /** It is the report of what was done until then. */
  readonly inSpiteOfInterruption?: boolean;
  /** Instead of the chosen one. */
  readonly format?: Format;
  /** Instead of the chosen one: for what is printed after something else. */
  readonly header?: boolean | undefined;
  /** Whether an empty table is said to be one; default: yes. */
  readonly sayWhenEmpty?: boolean;
}

export interface ResultsOptions {
  readonly format: Format;
  readonly header: boolean | undefined;
  readonly stringIds: boolean;
  /** CSV: text that a spreadsheet would take for a formula stays as it is. */
  readonly raw: boolean;
  /** Its signal ends it between two pieces. */
  readonly context: Context;
  readonly messages: Messages;
  /** The values of `--fields`; undefined: all fields. */
  readonly fields: readonly string[] | undefined;
  /** A table that is longer than the terminal goes through a pager. */
  readonly pages: boolean;
  /** `north/production`, for the prompt of the pager. */
  readonly place: string;
  paint(): Promise<Paint>;
}

export function createResults(options: ResultsOptions): Results {
  const { format, stringIds, raw, context, messages, paint } = options;
  const { stdout } = context;
  // A terminal of unknown width is still a terminal: nothing harmful may reach it.
  const width = () => (stdout.isTerminal ? (stdout.columns ?? 80) : undefined);
  const write = async (chunk: string | Uint8Array): Promise<void> => {
    await messages.clear();
    await stdout.write(chunk);
  };

  const writePieces = async (
    view: View,
    { format = options.format, header = options.header, inSpiteOfInterruption = false }: PrintOptions,
  ): Promise<boolean> => {
    const interrupted = inSpiteOfInterruption ? undefined : context.interrupted;
    const paged = interrupted !== undefined && format === 'table' ? await openPaged() : undefined;
    const render = await loadRenderer(format);
    const redact = stdout.isTerminal ? stdout.redact : undefined;
    const pieces = render(view, { header, stringIds, raw, width: width(), paint: await paint(), redact });
    let isEmpty = true;
    // The next piece is made while this one is being written.
    let writing = Promise.resolve();
    try {
      for await (const piece of paged?.whileRead(pieces) ?? pieces) {
        // Making and writing pieces may never wait for anything: Ctrl-C comes with a turn of the event loop.
        await nextTurn();
        interrupted?.throwIfAborted();
        await writing;
        isEmpty = false;
        writing = paged?.write(piece) ?? write(piece);
        // It is waited for soon enough, but until then Node takes a failure for one that is not handled.
        writing.catch(() => {});
      }
    } finally {
      try {
        // What was written comes before what is said about a failure; but an interruption does not wait for a pipe.
        if (!interrupted?.aborted) await writing;
      } finally {
        await paged?.close();
      }
    }
    return isEmpty;
  };

  const openPaged = async () => {
    if (!options.pages || !stdout.isTerminal) return undefined;
    const { openPagedOutput } = await import('./paged-output.ts');
    return openPagedOutput(context, messages, options.place);
  };

  return {
    wantsJson: format === 'json' || format === 'ndjson',
    format,
    // What comes from outside has no colours on a terminal.
    write: (chunk) => write(stdout.isTerminal && typeof chunk === 'string' ? stripControlsFromBody(chunk) : chunk),
    show: async (lines) => write(`${lines(await paint()).join('\n')}\n`),
    print: async (whole, printing = {}) => {
      const { sayWhenEmpty = true, format = options.format } = printing;
      const view = options.fields === undefined ? whole : await withFields(whole, options.fields);
      const isEmpty = await writePieces(view, printing);
      if (isEmpty && sayWhenEmpty && format === 'table') await messages.note('Nothing to show.');
    },
  };
}

/** The fields of items in columns were chosen by their command. @throws UsageError for a field that the view does not have */
async function withFields(view: View, values: readonly string[]): Promise<View> {
  if (view.items !== undefined) return view;
  const { chosenFields } = await import('../../output/chosen-fields.ts');
  const chosen = chosenFields(view, values);
  if (chosen.ok) return chosen.value;
  throw new UsageError(`--fields: ${chosen.fault}.`);
}
