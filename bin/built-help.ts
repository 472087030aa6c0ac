/** Help at one width, by what it is about: see `src/cli/help-texts.ts`. */
export type BuiltHelp = Readonly<Record<string, string>>;

/**
 * Help as text, by width; the build puts it in the place of this. Run from the sources, all help is Commander's.
 */
export const builtHelp: Readonly<Record<number, () => Promise<{ readonly texts: BuiltHelp }>>> = {};
