import { UsageError } from '../../shared/errors.ts';
import { nearest } from '../../shared/hint.ts';
import { type Command, commandNamed, commandsBelow } from './command.ts';
import { root } from './root.ts';

/**
 * Returns the error for an unknown command. Its hint is what does the job of a command that went, or help.
 * @param names the words of the command that was found before it
 */
export async function unknownCommand(names: readonly string[], word: string): Promise<UsageError> {
  const meant = await meantCommand(names, word);
  return new UsageError(`Unknown command "${word}"${suggestion(meant && pathOf(meant))}`, {
    hint: insteadOf(names, word) ?? `${pathOf(meant ?? names)} --help`,
  });
}

/** Returns the error for an unknown option. Its hint is what does the job of one that went, or help. */
export function unknownOption(names: readonly string[], flag: string, known: readonly string[]): UsageError {
  const other = insteadOf(names, flag);
  const near = other === undefined ? nearest(flag.replace(/^--?/, ''), known) : undefined;
  return new UsageError(`Unknown option "${flag}"${suggestion(near && `--${near}`)}`, {
    hint: other ?? `${pathOf(names)} --help`,
  });
}

/** Returns the names of the command that was probably meant; undefined if none is near enough. */
export async function meantCommand(names: readonly string[], word: string): Promise<readonly string[] | undefined> {
  const isProgram = names.length === 0;
  if (!isProgram && (await commandNamed(word, root.commands)) !== undefined) return [word];
  // The first noun that has this verb: `inventory` for `list`.
  const nouns = isProgram ? await commandsBelow(root) : [];
  const noun = nouns.find(({ command }) => Object.hasOwn(command.commands ?? {}, word));
  if (noun !== undefined) return [noun.name, word];
  const near = nearest(word, Object.keys((await commandOf(names)).commands ?? {}));
  return near === undefined ? undefined : [...names, near];
}

/** @param names the words of a command that exists */
async function commandOf(names: readonly string[]): Promise<Command> {
  let found = root;
  for (const name of names) found = (await commandNamed(name, found.commands)) ?? found;
  return found;
}

function suggestion(meant: string | undefined): string {
  return meant === undefined ? '' : ` (Did you mean ${meant}?)`;
}

/** Returns the words of a command, such as `petstock inventory set`. */
function pathOf(names: readonly string[]): string {
  return ['petstock', ...names].join(' ');
}

/** The options of `apply` that single writes don't take. */
const bulkOptions = ['changed', 'concurrency', 'exit-code', 'fail-fast', 'max-changes', 'max-zero'];

/** What does the job of a command or option that went, by that command, or command and option. */
const instead: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['set', 'adjust'].flatMap((verb) =>
      bulkOptions.map((name) => [`inventory ${verb} --${name}`, 'petstock inventory apply --help']),
    ),
  ),
  'inventory count --new': 'petstock inventory count',
  'inventory count --session': 'petstock inventory count aisle-3.txt',
  'inventory count --label': 'petstock inventory count aisle-3.txt',
  'inventory count --list': 'ls count-*.txt',
  'inventory count --merge': 'cat aisle-3.txt aisle-4.txt | petstock inventory count',
  'inventory count --closed': 'petstock history list',
  'inventory count --discard': 'rm aisle-3.txt',
  'history list --mine': 'petstock history list --user "$USER"',
  'history list --name': 'petstock history list --pet rabbit',
  'history list --pets': 'petstock history show latest',
  'config stores': 'petstock config list',
  'config get-key': 'petstock config list',
  licenses: 'petstock help files',
  'state grant': 'petstock state init --help',
  'sandbox export': 'petstock --env sandbox inventory export',
  'sandbox backup': 'petstock sandbox info',
  'sandbox keys': 'petstock sandbox serve --key "$KEY"',
  'sandbox serve --database': 'petstock sandbox serve --file sandbox.db',
  'sandbox serve --key-file': 'PETSTOCK_SANDBOX_KEY="$(cat key)" petstock sandbox serve',
};

function insteadOf(names: readonly string[], word: string): string | undefined {
  const path = [...names, word].join(' ');
  return Object.hasOwn(instead, path) ? instead[path] : undefined;
}
