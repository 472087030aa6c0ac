import type { Output } from '../context.ts';
import type { Paint } from '../output/paint.ts';
import { renderers } from '../output/renderers.ts';
import type { Format, View } from '../output/view.ts';

export interface PrintOptions {
  readonly format: Format;
  readonly header: boolean | undefined;
  readonly stdout: Output;
  readonly interrupted: AbortSignal;
  paint(): Promise<Paint>;
  write(text: string): Promise<void>;
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
  for await (const text of renderers[format](view, { header, width, paint: await options.paint() })) {
    interrupted.throwIfAborted();
    shown = true;
    await options.write(text);
  }
  return shown;
}
