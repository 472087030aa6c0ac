import type { Format, Renderer } from './view.ts';

/** Returns the renderer of a format, which is loaded with what it needs. */
export async function loadRenderer(format: Format): Promise<Renderer> {
  if (format === 'table') return (await import('./table.ts')).table;
  if (format === 'html') return (await import('./html.ts')).html;
  if (format === 'json' || format === 'ndjson') return (await import('./json.ts'))[format];
  return (await import('./delimited.ts'))[format];
}
