import { wipeLine } from '../../src/output/terminal.ts';

/** A character of a terminal is one column; colours and weights are those that `Paint` has. */
export interface Run {
  readonly text: string;
  readonly column: number;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly color: 'red' | 'green' | 'yellow' | 'cyan' | undefined;
}

const colors = { 31: 'red', 32: 'green', 33: 'yellow', 36: 'cyan' } as const;
const plain = { bold: false, dim: false, color: undefined };

/** What stands on a terminal after all of this was written to it, as the lines of it. */
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
  if (code in colors) return { ...style, color: colors[code as keyof typeof colors] };
  throw new Error(`a picture does not know the code ${code}`);
}
