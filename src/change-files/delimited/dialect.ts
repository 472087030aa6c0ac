import type { FieldNames } from '../field-names.ts';
import { scanRecord } from './record.ts';

/** What may stand between two cells, and its name. The order decides where the header line leaves it open. */
const delimiters: ReadonlyMap<string, string> = new Map([
  [',', 'comma'],
  [';', 'semicolon'],
  ['\t', 'tab'],
  ['|', 'vertical bar'],
]);

/** For people: `semicolon`. */
export function delimiterName(delimiter: string): string {
  return delimiters.get(delimiter) ?? delimiter;
}

/**
 * The delimiter that makes the most known columns of the header line at `start`, and of several that do, the one that
 * makes the most columns at all.
 * @param last whether the text is all there is
 * @returns undefined where the header line may go on after the text
 */
export function delimiterOf(
  text: string,
  start: number,
  { last, names }: { readonly last: boolean; readonly names: Pick<FieldNames, 'knows'> },
): string | undefined {
  let best = ',';
  let bestScore = -1;
  for (const delimiter of delimiters.keys()) {
    const header = scanRecord(text, start, delimiter);
    if (header.kind === 'open' && !last) return undefined;
    const cells = header.kind === 'record' ? header.cells : [];
    const known = cells.filter((cell) => names.knows(cell)).length;
    // No header line has a million columns.
    const score = known * 1_000_000 + cells.length;
    if (score > bestScore) {
      best = delimiter;
      bestScore = score;
    }
  }
  return best;
}

/** Excel's way to name the delimiter in a line before the header: `sep=;`. */
export function declaredDelimiter(line: string): string | undefined {
  return /^"?sep=([^"\w\r\n])"? *$/i.exec(line)?.[1];
}
