import { nearest } from '../../shared/did-you-mean.ts';
import { UsageError } from '../../shared/errors.ts';
import { petstock, withWords } from '../../shared/hint.ts';
import { environmentNames } from '../../shared/target.ts';
import { mayHoldKey } from '../typed-keys.ts';
import { type Outline, outlineName } from './define.ts';
import { meantLine, otherName, shellLines } from './meant-line.ts';

/** The command that Commander has reached when a line can't be understood. */
interface ReachedCommand {
  /** The words of the command, such as `['inventory', 'set']`; empty for the program. */
  readonly names: readonly string[];
  readonly outlines: readonly Outline[];
  readonly options: readonly { readonly long?: string | undefined }[];
  readonly program: {
    readonly outlines: readonly Outline[];
    readonly typed: readonly string[];
  };
}

/** Returns the error for an unknown command. Its hint is the typed line with the probable command, or help. */
export function unknownCommand(reached: ReachedCommand, word: string): UsageError {
  const { names, program } = reached;
  const rest = restBehind(program.typed, names, word);
  const other = otherName(names, word, rest.some(mayHoldKey) ? [] : rest);
  if (other !== undefined) return new UsageError(`Unknown command "${word}"`, { hint: petstock`${other}` });
  const meant = meantCommand(reached, word);
  const takesRest = meant !== undefined && takes(program.outlines, meant, rest);
  const line = (meant && meantLine(meant, rest)) ?? (takesRest ? [...meant, ...rest] : undefined);
  return new UsageError(`Unknown command "${word}"${suggestion(meant && pathOf(meant))}`, {
    hint: lineOrHelp(line, meant ?? names),
  });
}

/** Returns the error for an unknown option. Its hint is the typed line with the probable option, or help. */
export function unknownOption({ names, options, program }: ReachedCommand, flag: string): UsageError {
  const other = otherName(names, flag, []);
  const hint = shellLines[[...names, flag].join(' ')] ?? (other && petstock`${other}`);
  if (hint !== undefined) return new UsageError(`Unknown option "${flag}"`, { hint });
  const meant = meantOption(options, flag);
  const line = meant === undefined ? undefined : withWords(program.typed, [flag], meant.split(' '));
  return new UsageError(`Unknown option "${flag}"${suggestion(meant)}`, { hint: lineOrHelp(line, names) });
}

/** Returns the error for a word that a command does not take. */
export function tooMany({ names, program }: ReachedCommand, word: string): UsageError {
  const line = meantLine(names, restBehind(program.typed, names.slice(0, -1), names.at(-1) ?? ''));
  return new UsageError(`Unexpected word "${word}": ${pathOf(names)} does not take it`, {
    hint: lineOrHelp(line, names),
  });
}

/** Returns the names of the command that was probably meant; undefined if none is near enough. */
export function meantCommand(
  { names, outlines, program }: ReachedCommand,
  word: string,
): readonly string[] | undefined {
  const isProgram = names.length === 0;
  if (!isProgram && program.outlines.some((outline) => outlineName(outline) === word)) return [word];
  const withVerb = isProgram ? nounWith(outlines, word) : undefined;
  if (withVerb !== undefined) return [outlineName(withVerb), word];
  const near = nearest(word, outlines.map(outlineName));
  return near === undefined ? undefined : [...names, near];
}

/** Returns the first noun that has this verb: `inventory` for `list`. */
function nounWith(outlines: readonly Outline[], verb: string): Outline | undefined {
  return outlines.find((noun) => 'commands' in noun && noun.commands.some((child) => outlineName(child) === verb));
}

/** Returns the option that was probably meant: for `--production`, `--env production`. */
function meantOption(options: ReachedCommand['options'], flag: string): string | undefined {
  const name = flag.replace(/^--?/, '');
  const near = nearest(
    name,
    options.flatMap(({ long }) => long?.slice(2) ?? []),
  );
  if (near !== undefined) return `--${near}`;
  const environment = name.length < 4 ? undefined : environmentNames.find((known) => known.startsWith(name));
  return environment && `--env ${environment}`;
}

/** Returns the words after a word of the line, followed by the words before it that are not names of commands. */
function restBehind(typed: readonly string[], names: readonly string[], word: string): readonly string[] {
  const at = typed.indexOf(word);
  return [...typed.slice(at + 1), ...typed.slice(0, at).filter((before) => !names.includes(before))];
}

/**
 * Reports whether a command takes these words: no operand is missing, and the first word is not an operand if the
 * command takes none.
 */
function takes(program: readonly Outline[], names: readonly string[], rest: readonly string[]): boolean {
  let found: Outline | undefined;
  let outlines = program;
  for (const name of names) {
    found = outlines.find((outline) => outlineName(outline) === name);
    outlines = found && 'commands' in found ? found.commands : [];
  }
  const usage = outlines.length > 0 ? '<verb>' : (found?.usage ?? '');
  if (!/[<[]/.test(usage) && /^[^-]/.test(rest[0] ?? '')) return false;
  return rest.filter((word) => !/^-\D/.test(word)).length >= (usage.match(/</g)?.length ?? 0);
}

function suggestion(meant: string | undefined): string {
  return meant === undefined ? '' : ` (Did you mean ${meant}?)`;
}

/** Returns the words of a command, such as `petstock inventory set`. */
function pathOf(names: readonly string[]): string {
  return ['petstock', ...names].join(' ');
}

/** Returns a line as a hint, or the help of a command if there is no line, or if it may contain a key. */
function lineOrHelp(line: readonly string[] | undefined, names: readonly string[]): string {
  return line === undefined || line.some(mayHoldKey) ? `${pathOf(names)} --help` : petstock`${line}`;
}
