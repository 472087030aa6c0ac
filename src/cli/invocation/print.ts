import type { Paint } from '../../output/paint.ts';
import { renderers } from '../../output/renderers.ts';
import type { Format, View } from '../../output/view.ts';
import type { Output } from '../context.ts';

export interface PrintOptions {
  readonly format: Format;
  readonly header: boolean | undefined;
  readonly stdout: Output;
  /** Ends it between two pieces. */
  readonly interrupted: AbortSignal | undefined;
  paint(): Promise<Paint>;
  write(text: string | Uint8Array): Promise<void>;
}

/**
 * Writes a view in the chosen format, piece by piece.
 * @returns whether there was anything to show
 */
export async function printView(view: View, options: PrintOptions): Promise<boolean> {
  const { format, header, stdout, interrupted } = options;
  // A terminal that does not tell its width is one all the same: nothing harmful may reach it.
  const width = stdout.isTerminal ? (stdout.columns ?? 80) : undefined;
  let shown = false;
  // The next piece is made while this one is being written.
  let writing = Promise.resolve();
  try {
    for await (const piece of renderers[format](view, { header, width, paint: await options.paint() })) {
      interrupted?.throwIfAborted();
      await writing;
      shown = true;
      writing = options.write(piece);
      // It is waited for soon enough, but until then Node takes a failure for one that nobody handles.
      writing.catch(() => {});
    }
  } finally {
    // What was written comes before what is said about a failure; but somebody who interrupts does not wait for a pager.
    if (!interrupted?.aborted) await writing;
  }
  return shown;
}
