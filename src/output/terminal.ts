import { stripControlsFromBody } from '../shared/sanitize.ts';

/** The sequence that clears the cursor's row, so that another line can be drawn there. */
export const wipeLine = '\r\x1b[K';
/** Also clears the row above: a line that was drawn before the window became narrower takes several rows. */
const wipeAbove = '\x1b[A\x1b[K';

/**
 * Returns the sequence that clears a drawn line.
 * @param drawn the width of the line
 * @param columns the current width of the terminal, because it wraps a line that has become too long
 */
export function wipeDrawn(drawn: number, columns: number): string {
  const rows = Math.min(maxRows, Math.max(1, Math.ceil(drawn / Math.max(1, columns))));
  return wipeLine + wipeAbove.repeat(rows - 1);
}

const maxRows = 9;

/**
 * Returns the width for a line that is redrawn in place: a row without its last column, and without the two columns
 * that Ctrl-C takes for its `^C`.
 */
export function liveWidth(columns = 80): number {
  return Math.max(1, columns - 3);
}

/** Makes a heading of help bold. chalk is not used, because loading it would slow down every start of help. */
export function bold(text: string): string {
  return `\x1b[1m${text}\x1b[22m`;
}

/** Rings the bell and shows nothing. `harmless` keeps it if it is the whole text. */
export const bell = '\x07';

/** Matches the output of `Paint`: colours and weights. They never hide text. */
const paintCode = /(\x1b\[(?:1|2|22|31|32|33|36|39)m)/;
const suspect = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const wipe = /^\r\x1b\[K(?:\x1b\[A\x1b\[K){0,8}/;

/**
 * Removes everything from a text that must not be sent to a terminal: control characters, escape sequences and bidi
 * controls. Keeps line feeds, tabs, paint, and a line-clearing sequence at the start. A text that is only `bell` is
 * returned unchanged.
 */
export function harmless(text: string): string {
  if (!suspect.test(text) || text === bell) return text;
  const [start = ''] = wipe.exec(text) ?? [];
  const parts = text.slice(start.length).split(paintCode);
  return start + parts.map((part, index) => (index % 2 === 1 ? part : stripControlsFromBody(part))).join('');
}

/**
 * Reports whether stderr can redraw a line in place. A terminal that only prints sets `TERM=dumb`, and so do many
 * screen readers.
 */
export function drawsLive(context: { readonly stderr: Pick<ColorSources, 'isTerminal'> } & Pick<ColorSources, 'env'>) {
  return context.stderr.isTerminal && context.env.TERM !== 'dumb';
}

const styles = ['bold', 'dim', 'red', 'yellow', 'green', 'cyan'] as const;

/** Colours and weights by name. Without colour, each returns its text unchanged. */
export type Paint = Readonly<Record<(typeof styles)[number], (text: string) => string>>;

function paintOf(styled: (style: keyof Paint) => (text: string) => string): Paint {
  return Object.fromEntries(styles.map((style) => [style, styled(style)])) as Paint;
}

export const plainPaint: Paint = paintOf(() => (text) => text);

/** Creates the paint of one stream. Without colour, chalk is not even loaded. */
export async function createPaint(color: boolean): Promise<Paint> {
  if (!color) return plainPaint;
  const { Chalk } = await import('chalk');
  // The level is fixed, because chalk's own detection uses the process. Level 1 has the 16 colours that every terminal
  // has.
  const chalk = new Chalk({ level: 1 });
  // chalk would add further arguments to the text, such as the index from `map`.
  return paintOf((style) => (text) => chalk[style](text));
}

export interface ColorSources {
  /** The value of `--color`. Default: `auto`. */
  readonly flag?: 'auto' | 'always' | 'never' | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isTerminal: boolean;
}

/**
 * Reports whether a stream gets colour, by the flag, FORCE_COLOR, NO_COLOR, CLICOLOR_FORCE, CLICOLOR=0, TERM=dumb, and
 * whether it is a terminal. The first one that is set decides; an empty variable and `CLICOLOR_FORCE=0` count as not
 * set.
 */
export function wantsColor({ flag, env, isTerminal }: ColorSources): boolean {
  if (flag === 'always' || flag === 'never') return flag === 'always';
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  if (env.NO_COLOR) return false;
  if (env.CLICOLOR_FORCE && env.CLICOLOR_FORCE !== '0') return true;
  return env.CLICOLOR !== '0' && env.TERM !== 'dumb' && isTerminal;
}
