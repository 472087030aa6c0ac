import { stripControlsFromBody } from '../shared/sanitize.ts';

/** Takes away the line that the cursor is in, so that another can be drawn in its place. */
export const wipeLine = '\r\x1b[K';

/**
 * The room for a line that is drawn again and again in its place: only the row that the cursor is in can be wiped, and Ctrl-C
 * leaves `^C` behind the line.
 */
export function liveWidth(columns = 80): number {
  return Math.max(1, columns - 3);
}
/** Rings, and shows nothing. Harmless where it is all that is written. */
export const bell = '\x07';

/** What `Paint` writes: colours and weights, none of which hides text. */
const paintCode = /(\x1b\[(?:1|2|22|31|32|33|36|39)m)/;
const suspect = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/**
 * What of a text may reach a terminal, whoever wrote it: its lines and tabs, paint, at its beginning `wipeLine`, and a `bell`
 * by itself. Every other control character, escape sequence and bidi control goes.
 */
export function harmless(text: string): string {
  if (!suspect.test(text) || text === bell) return text;
  const start = text.startsWith(wipeLine) ? wipeLine : '';
  const parts = text.slice(start.length).split(paintCode);
  return start + parts.map((part, index) => (index % 2 === 1 ? part : stripControlsFromBody(part))).join('');
}

/** Whether a line can be drawn again in its place: a terminal that only prints, and many a screen reader, says `TERM=dumb`. */
export function drawsLive({
  stderr,
  env,
}: {
  readonly stderr: { readonly isTerminal: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
}): boolean {
  return stderr.isTerminal && env.TERM !== 'dumb';
}
