import { targetWords } from '../../shared/hint.ts';
import type { Target } from '../../shared/target.ts';
import type { FlagValues } from './globals.ts';
import type { Invocation } from './invocation.ts';

/**
 * Returns the words of a command to type, with the options of this command line.
 * @param command its name and operands
 * @param options in place of those that were typed for this command; without one of them the plan would differ
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

/** A value that begins with a dash would look like an option. */
function optionWords(name: string, value: string | boolean): readonly string[] {
  if (typeof value === 'boolean') return [value ? `--${name}` : `--no-${name}`];
  return /^-./.test(value) || value === '' ? [`--${name}=${value}`] : [`--${name}`, value];
}
