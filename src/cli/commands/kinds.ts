import { type Parsed, parseQuantity } from '../../inventory/items.ts';
import { UsageError } from '../../shared/errors.ts';
import { capitalized } from '../../shared/parsed.ts';
import type { Known, ValueKind } from '../completion/command-table.ts';
import type { Kind, RepeatedKind } from './command.ts';

const asTyped = (text: string) => text;
const nothing: ValueKind = { kind: 'words', words: [] };

/** Any text. */
export const anyText: Kind<string> = { suggests: nothing, read: asTyped };

/** A kind whose text the command reads itself, with suggestions. */
export function suggesting(suggests: ValueKind): Kind<string> {
  return { suggests, read: asTyped };
}

/** Text for which these words are suggested. */
export function words(names: readonly string[]): Kind<string> {
  return suggesting({ kind: 'words', words: names.map((name) => [name, '']) });
}

/** One of these words. */
export function oneOf<const Word extends string>(names: readonly Word[]): Kind<Word> {
  return {
    ...words(names),
    read: (text, option) => {
      const word = names.find((known) => known === text);
      if (word !== undefined) return word;
      throw new UsageError(`${option} takes ${names.join(', ')}, not "${text}"`);
    },
  };
}

/** The name of a file; files with these endings are suggested first. */
export function files(...endings: readonly string[]): Kind<string> {
  return suggesting({ kind: 'files', endings });
}

/** Words from a source on this machine. */
export function known(source: Known): Kind<string> {
  return suggesting({ kind: source });
}

/** A quantity of stock. */
export const quantity: Kind<number> = {
  suggests: nothing,
  read: (text, option) => required(parseQuantity(text), option),
};

/** A whole number from 0. */
export const wholeNumber: Kind<number> = {
  suggests: nothing,
  read: (text, option) => {
    if (/^\d{1,15}$/.test(text)) return Number(text);
    throw new UsageError(`${option} takes a whole number from 0, such as 100, not "${text}"`);
  },
};

/** The kind of an option that may be given several times. */
export function repeated<Value>(kind: Kind<Value>): RepeatedKind<Value> {
  return { ...kind, isRepeated: true };
}

/** The kind of an option with values that are separated by commas, or by repeating it. */
export function listOf<Value>(kind: Kind<Value>): RepeatedKind<Value> {
  return { ...kind, suggests: asList(kind.suggests), isRepeated: true, isList: true };
}

function asList(suggests: ValueKind): ValueKind {
  return suggests.kind === 'files' || suggests.kind === 'command' || suggests.kind === 'by-operand'
    ? suggests
    : { ...suggests, isList: true };
}

/** What completion suggests for options and operands without a kind, by their placeholder. */
export const suggestedByPlaceholder: Readonly<Record<string, ValueKind>> = {
  run: { kind: 'runs' },
  petId: { kind: 'pets' },
  store: { kind: 'stores' },
  file: { kind: 'files', endings: [] },
  path: { kind: 'files', endings: [] },
};

/**
 * Returns the value, or throws a UsageError with its problem.
 * @param what the option that begins the message, such as `--limit`; undefined if the problem already mentions it
 */
export function required<T>(parsed: Parsed<T>, what?: string): T {
  if (parsed.ok) return parsed.value;
  const { problem } = parsed;
  const message = what === undefined ? capitalized(problem) : `${what}: ${problem}`;
  throw new UsageError(`${message}.`);
}

/**
 * Returns the option of commands that print a list; `results.print` applies it.
 * @param names the fields that completion suggests
 */
export function fieldsOptionOf(names: readonly string[], about = 'only these columns, in this order') {
  return ['--fields <f,…>', about, fieldsOf(names)] as const;
}

export const fieldsOption = fieldsOptionOf([]);

/** The values of `--fields`, which are not split: each field may be named once in a value. */
function fieldsOf(names: readonly string[]): RepeatedKind<string> {
  return repeated(suggesting(asList(words(names).suggests)));
}
