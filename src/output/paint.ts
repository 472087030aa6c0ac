/** Colours and weights by their names. Without colour, each gives its text as it is. */
export interface Paint {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  yellow(text: string): string;
  green(text: string): string;
  cyan(text: string): string;
}

const same = (text: string): string => text;

/** The paint of a stream without colour. */
export const plainPaint: Paint = { bold: same, dim: same, red: same, yellow: same, green: same, cyan: same };

/** The paint of one stream. Without colour, chalk is not even loaded. */
export async function createPaint(color: boolean): Promise<Paint> {
  if (!color) return plainPaint;
  const { Chalk } = await import('chalk');
  // The level is ours: chalk's own detection looks at the process. 1: the 16 colours that every terminal has.
  const chalk = new Chalk({ level: 1 });
  // chalk puts all its arguments into the text, the number of a line from `map` too.
  const styled = (style: keyof Paint) => (text: string) => chalk[style](text);
  return {
    bold: styled('bold'),
    dim: styled('dim'),
    red: styled('red'),
    yellow: styled('yellow'),
    green: styled('green'),
    cyan: styled('cyan'),
  };
}

export const colorChoices = ['auto', 'always', 'never'] as const;
export type ColorChoice = (typeof colorChoices)[number];

export function isColorChoice(text: string): text is ColorChoice {
  return (colorChoices as readonly string[]).includes(text);
}

export interface ColorSources {
  /** `--color`; undefined: not given, which is `auto`. */
  readonly flag?: ColorChoice | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether this very stream is a terminal. */
  readonly isTerminal: boolean;
}

/** Whether one stream gets colour: the flag, FORCE_COLOR, NO_COLOR, TERM=dumb, is it a terminal; first wins. */
export function wantsColor({ flag, env, isTerminal }: ColorSources): boolean {
  if (flag === 'always' || flag === 'never') return flag === 'always';
  const force = env.FORCE_COLOR;
  if (force !== undefined) return force !== '0' && force !== 'false';
  const no = env.NO_COLOR;
  if (no !== undefined && no !== '') return false;
  return env.TERM !== 'dumb' && isTerminal;
}
