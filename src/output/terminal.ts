import { stripControlsFromBody } from '../shared/sanitize.ts';

/** Takes away the row that the cursor is in, so that another can be drawn in its place. */
export const wipeLine = '\r\x1b[K';
/** Takes away the row above, too: a line that was drawn before the window became narrower takes several. */
const wipeAbove = '\x1b[A\x1b[K';

/**
 * Takes away a line that is drawn in place.
 * @param drawn its width
 * @param columns of the terminal as of now; terminals break a line anew that has become too long
 */
export function wipeDrawn(drawn: number, columns: number): string {
  const rows = Math.min(maxRows, Math.max(1, Math.ceil(drawn / Math.max(1, columns))));
  return wipeLine + wipeAbove.repeat(rows - 1);
}

const maxRows = 9;

/**
 * The room for a line that is drawn again and again in its place: a row, of which Ctrl-C takes two columns for the `^C` that it
 * leaves behind the line.
 */
export function liveWidth(columns = 80): number {
  return Math.max(1, columns - 3);
}

/** Makes a heading of help bold. Written here, since loading chalk for it would slow every start of help. */
export function bold(text: string): string {
  return `\x1b[1m${text}\x1b[22m`;
}

/** Rings, and shows nothing. Harmless if it is all that is written. */
export const bell = '\x07';

/** Matches what `Paint` writes: colours and weights, none of which hides text. */
const paintCode = /(\x1b\[(?:1|2|22|31|32|33|36|39)m)/;
const suspect = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const wipe = /^\r\x1b\[K(?:\x1b\[A\x1b\[K){0,8}/;

/**
 * Returns what of a text may reach a terminal, whoever wrote it: its lines and tabs, paint, at its beginning what wipes the
 * line, and a `bell` by itself. Every other control character, escape sequence and bidi control goes.
 */
export function harmless(text: string): string {
  if (!suspect.test(text) || text === bell) return text;
  const [start = ''] = wipe.exec(text) ?? [];
  const parts = text.slice(start.length).split(paintCode);
  return start + parts.map((part, index) => (index % 2 === 1 ? part : stripControlsFromBody(part))).join('');
}

/** Reports whether a line can be drawn again in its place: a terminal that only prints, and many a screen reader, says `TERM=dumb`. */
export function drawsLive(context: { readonly stderr: Pick<ColorSources, 'isTerminal'> } & Pick<ColorSources, 'env'>) {
  return context.stderr.isTerminal && context.env.TERM !== 'dumb';
}

const styles = ['bold', 'dim', 'red', 'yellow', 'green', 'cyan'] as const;

/** Colours and weights by their names. Without colour, each gives its text as it is. */
export type Paint = Readonly<Record<(typeof styles)[number], (text: string) => string>>;

function paintOf(styled: (style: keyof Paint) => (text: string) => string): Paint {
  return Object.fromEntries(styles.map((style) => [style, styled(style)])) as Paint;
}

export const plainPaint: Paint = paintOf(() => (text) => text);

/** The paint of one stream. Without colour, chalk is not even loaded. */
export async function createPaint(color: boolean): Promise<Paint> {
  if (!color) return plainPaint;
  const { Chalk } = await import('chalk');
  // The level is ours: chalk's own detection looks at the process. 1: the 16 colours that every terminal has.
  const chalk = new Chalk({ level: 1 });
  // chalk puts all its arguments into the text, the number of a line from `map` too.
  return paintOf((style) => (text) => chalk[style](text));
}

export interface ColorSources {
  /** `--color`; undefined: not given, which is `auto`. */
  readonly flag?: 'auto' | 'always' | 'never' | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether this very stream is a terminal. */
  readonly isTerminal: boolean;
}

/**
 * Reports whether one stream gets colour: the flag, FORCE_COLOR, NO_COLOR, CLICOLOR_FORCE, CLICOLOR=0, TERM=dumb, is it a terminal; the
 * first that says something counts, and a variable that is empty says nothing.
 */
export function wantsColor({ flag, env, isTerminal }: ColorSources): boolean {
  if (flag === 'always' || flag === 'never') return flag === 'always';
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  if (env.NO_COLOR) return false;
  if (env.CLICOLOR_FORCE && env.CLICOLOR_FORCE !== '0') return true;
  return env.CLICOLOR !== '0' && env.TERM !== 'dumb' && isTerminal;
}
