import { loadRenderer } from '../../src/cli/invocation/results.ts';
import type { InventoryItem } from '../../src/inventory/items.ts';
import { inventoryListView } from '../../src/output/inventory-view.ts';
import { createPaint } from '../../src/output/terminal.ts';
import { chosenFields, type Format, type Row, type View } from '../../src/output/view.ts';

export interface RenderTestOptions {
  readonly header?: boolean;
  readonly width?: number;
  readonly color?: boolean;
  readonly raw?: boolean;
}

/**
 * Returns the pieces of a renderer as text.
 * @param pieces receives the pieces, even if the renderer fails
 */
export async function renderPieces(
  format: Format,
  view: View,
  options: RenderTestOptions = {},
  pieces: string[] = [],
): Promise<string[]> {
  const paint = await createPaint(options.color ?? false);
  const renderOptions = { ...options, header: options.header, width: options.width, paint };
  // As with real output, a piece is still being written while the next one is made.
  let writing: string | Uint8Array | undefined;
  const written = () => writing !== undefined && pieces.push(Buffer.from(writing).toString('utf8'));
  try {
    for await (const piece of (await loadRenderer(format))(view, renderOptions)) {
      written();
      writing = piece;
    }
  } finally {
    written();
  }
  return pieces;
}

export async function render(format: Format, view: View, options?: RenderTestOptions): Promise<string> {
  return (await renderPieces(format, view, options)).join('');
}

/** Returns a list whose columns are the fields of its first row. */
export function rowsView(...batches: readonly (readonly Row[])[]): View {
  const fields = Object.keys(batches.flat()[0] ?? {});
  return { shape: 'list', columns: fields.map((field) => ({ field, title: field })), rows: batches };
}

/** Returns a list of items in these batches, in which a stock of 5 or less is low. */
export function itemsView(...batches: readonly (readonly InventoryItem[])[]): View {
  return inventoryListView(batches, { low: { standard: 5 } });
}

/** Returns a view with only these fields. */
export function withFields(view: View, ...fields: readonly string[]): View {
  const chosen = chosenFields(view, fields);
  if (!chosen.ok) throw new Error(chosen.problem);
  return chosen.value;
}

/** Makes escape characters visible, for snapshots. */
export function visible(text: string): string {
  return text.replaceAll('\x1b', '␛');
}
