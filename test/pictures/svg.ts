import { wipeLine } from '../../src/output/terminal.ts';

/** Text in one style. Its column is a number of characters; the styles are those of `Paint`. */
interface Run {
  readonly text: string;
  readonly column: number;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly color: 'red' | 'green' | 'yellow' | 'cyan' | undefined;
}

const colorCodes = { 31: 'red', 32: 'green', 33: 'yellow', 36: 'cyan' } as const;
const plain = { bold: false, dim: false, color: undefined };

/** Returns the lines that a terminal shows after this text was written to it. */
export function screenOf(written: string): readonly (readonly Run[])[] {
  const lines = written.split('\n').map((line) => line.slice(line.lastIndexOf(wipeLine) + 1).replace(/^\x1b\[K/, ''));
  if (lines.at(-1) === '') lines.pop();
  let style: Pick<Run, 'bold' | 'dim' | 'color'> = plain;
  return lines.map((line) => {
    const runs: Run[] = [];
    let column = 0;
    for (const part of line.split(/(\x1b\[\d+m)/)) {
      const code = /^\x1b\[(\d+)m$/.exec(part)?.[1];
      if (code !== undefined) style = styled(style, Number(code));
      else if (part !== '') runs.push({ ...style, text: part, column });
      if (code === undefined) column += [...part].length;
    }
    return runs;
  });
}

function styled(style: Pick<Run, 'bold' | 'dim' | 'color'>, code: number): typeof style {
  if (code === 1) return { ...style, bold: true };
  if (code === 2) return { ...style, dim: true };
  if (code === 22) return { ...style, bold: false, dim: false };
  if (code === 39) return { ...style, color: undefined };
  if (code in colorCodes) return { ...style, color: colorCodes[code as keyof typeof colorCodes] };
  throw new Error(`a picture does not know the code ${code}`);
}

/** Sizes in pixels. A character is as wide as in most monospaced fonts of this size; each text is stretched to it. */
const size = { font: 14, character: 8.4, line: 19, edge: 16, bar: 30 };
const colors = {
  paper: '#1b1f24',
  bar: '#2b3138',
  text: '#d6dce2',
  dim: '#7d8790',
  red: '#ff7b72',
  green: '#6fcf7f',
  yellow: '#e3b341',
  cyan: '#56c8d8',
};

interface Picture {
  /** The text alternative. */
  readonly title: string;
  readonly columns: number;
  readonly lines: readonly (readonly Run[])[];
}

/** Returns a terminal as SVG: selectable text, sharp at any size, and always the same bytes. */
export function svgOf({ title, columns, lines }: Picture): string {
  const width = Math.ceil(columns * size.character + 2 * size.edge);
  const height = size.bar + lines.length * size.line + 2 * size.edge;
  const buttons = [0, 1, 2].map(
    (at) => `<circle cx="${20 + 18 * at}" cy="${size.bar / 2}" r="5" fill="${colors.dim}"/>`,
  );
  const texts = lines.flatMap((runs, row) => {
    const y = size.bar + size.edge + row * size.line + size.font;
    return runs.flatMap((run) => textsOf(run, y));
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" rx="8" fill="${colors.paper}"/>`,
    `<path d="M0 ${size.bar}V8a8 8 0 0 1 8-8h${width - 16}a8 8 0 0 1 8 8v${size.bar - 8}z" fill="${colors.bar}"/>`,
    ...buttons,
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="${size.font}" fill="${colors.text}">`,
    ...texts,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

/** Returns a text element for each word, at its own position, because fonts differ in width. */
function textsOf({ text, column, bold, dim, color }: Run, y: number): string[] {
  const look = [
    ...(bold ? ['font-weight="bold"'] : []),
    ...(color === undefined && !dim ? [] : [`fill="${colors[color ?? 'dim']}"`]),
  ];
  return [...text.matchAll(/\S+/g)].map(({ 0: word, index }) => {
    const start = column + [...text.slice(0, index)].length;
    const place = [
      `x="${fixed(size.edge + start * size.character)}"`,
      `y="${y}"`,
      `textLength="${fixed([...word].length * size.character)}"`,
    ];
    return `<text ${[...place, ...look].join(' ')}>${escaped(word)}</text>`;
  });
}

function fixed(value: number): string {
  return value.toFixed(1).replace(/\.0$/, '');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
