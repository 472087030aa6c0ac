import { targetWords } from '../../shared/hint.ts';
import type { Target } from '../../shared/target.ts';
import type { FlagValues } from './globals.ts';
import type { Invocation } from './invocation.ts';

/**
 * Returns the words of a command for a hint, with the options and the target of this command line.
 * @param command the name and the operands of the command
 * @param options the command's own options; those that were typed, unless the hint needs others
 */
export function commandLine(
  { globals, ...invocation }: Invocation,
  command: readonly string[],
  options: FlagValues = invocation.options,
  target: Target = invocation.target,
): readonly string[] {
  const { env: _env, store: _store, ...shared } = globals.typed;
  return [...command, ...flagWords(options), ...flagWords(shared), ...targetWords(target)];
}

/** Returns options as words of a command line: `--all --max-zero 3`. */
export function flagWords(flags: FlagValues): readonly string[] {
  return Object.entries(flags).flatMap(([key, given]) => {
    const name = key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    return [given ?? []].flat().flatMap((value) => optionWords(name, value));
  });
}

/** A value that begins with a dash is joined with `=`, because it would look like an option. So is an empty value. */
function optionWords(name: string, value: string | boolean): readonly string[] {
  if (typeof value === 'boolean') return [value ? `--${name}` : `--no-${name}`];
  return /^-./.test(value) || value === '' ? [`--${name}=${value}`] : [`--${name}`, value];
}
