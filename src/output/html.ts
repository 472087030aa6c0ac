import { singleLine } from '../shared/sanitize.ts';
import { tableCells } from './layout.ts';
import { plainPaint } from './terminal.ts';
import { chunksOf, inTable, type RenderOptions, type View } from './view.ts';

/**
 * Renders a self-contained page to print, without scripts or external resources, with all text escaped. It is streamed.
 */
export async function* html(whole: View, options: RenderOptions): AsyncIterable<string> {
  const plain = { ...options, width: undefined, paint: plainPaint, bars: false };
  const view = await inTable(whole, plain);
  const { columns, page = { title: 'petstock', facts: [] } } = view;
  const title = escaped(page.title);
  const lines = page.facts.map((fact) => `<p>${escaped(fact)}</p>\n`).join('');
  const classOf = columns.map(({ align, whole }) =>
    align === 'right' ? ' class="number"' : whole ? ' class="whole"' : '',
  );
  const cells = (tag: string, texts: readonly string[]) =>
    texts.map((text, index) => `<${tag}${classOf[index]}>${escaped(text)}</${tag}>`).join('');
  yield `<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width">\n`;
  yield `<title>${title}</title>\n<style>${style}</style>\n</head>\n<body>\n<h1>${title}</h1>\n${lines}<table>\n`;
  const titles = columns.map((column) => column.title);
  if (options.header !== false) yield `<thead><tr>${cells('th', titles)}</tr></thead>\n`;
  yield '<tbody>\n';
  let count = 0;
  yield* chunksOf(view.rows, (row) => {
    count += 1;
    const mark = page.mark?.(row);
    const texts = tableCells(columns, row, plain).map(({ text }) => text);
    return `<tr${mark === undefined ? '' : ` class="${mark}"`}>${cells('td', texts)}</tr>\n`;
  });
  yield `</tbody>\n</table>\n${count === 0 ? '<p>Nothing to show.</p>\n' : ''}</body>\n</html>\n`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return singleLine(text).replace(/[&<>"']/g, (character) => entities[character] ?? '');
}

/** The style sheet. Marks are also visible without colour, because most shops print in black and white. */
const style = `
body{font:14px/1.4 system-ui,sans-serif;margin:2em auto;max-width:60em;padding:0 1em;color:#111;background:#fff}
h1{font-size:1.5em;margin:0 0 .2em}p{margin:.1em 0}
table{border-collapse:collapse;margin-top:1.2em;max-width:100%}
th,td{padding:.3em 1.2em .3em .2em;text-align:left;vertical-align:top;overflow-wrap:break-word;border-bottom:1px solid #ccc}
th{border-bottom:2px solid #111}.number{text-align:right;font-variant-numeric:tabular-nums}.number,.whole{white-space:nowrap}
tr.low td{font-weight:bold;background:#fff3cd}tr.bad td{font-weight:bold;background:#f8d7da}
thead{display:table-header-group}tr{break-inside:avoid}
@page{margin:1.5cm}
@media print{body{margin:0;max-width:none;padding:0;font-size:10pt}tr.low td,tr.bad td{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
`;
