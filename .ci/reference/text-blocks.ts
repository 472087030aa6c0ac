/** A part of a text of help: a paragraph, or lines that stay as they are, without their indent. */
export type TextBlock = { readonly text: string } | { readonly lines: readonly string[] };

/** Cuts a text of help where its lines are blank, or begin or end to be indented. */
export function textBlocks(text: string): readonly TextBlock[] {
  const blocks: TextBlock[] = [];
  let gathered: string[] = [];
  const end = () => {
    const [first = ''] = gathered;
    if (/^ /.test(first)) blocks.push({ lines: withoutIndent(gathered) });
    else if (first !== '') blocks.push({ text: gathered.join(' ') });
    gathered = [];
  };
  for (const line of text.split('\n')) {
    const [first] = gathered;
    if (line === '' || (first !== undefined && /^ /.test(first) !== /^ /.test(line))) end();
    if (line !== '') gathered.push(line);
  }
  end();
  return blocks;
}

function withoutIndent(lines: readonly string[]): readonly string[] {
  const least = Math.min(...lines.map((line) => line.length - line.trimStart().length));
  return lines.map((line) => line.slice(least));
}
