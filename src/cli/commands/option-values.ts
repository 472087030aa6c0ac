import { parsePetId } from '../../inventory/items.ts';
import { mayBeName } from '../../inventory/pet-names.ts';
import { NotFoundError, UsageError } from '../../shared/errors.ts';
import type { Invocation } from '../invocation/invocation.ts';
import type { UnknownName } from '../named-pets.ts';
import type { PlanOptions } from '../runs/perform.ts';
import { type OptionsOf, optionRows, required, wholeNumber } from './command.ts';

/**
 * Returns the pet with an id, or with a name if the shop has names.
 * @param what the option that begins the message about an invalid id
 * @throws UsageError for an invalid id, or for a name that no pet or several pets have
 */
export async function petIdOf(invocation: Invocation, text: string, what?: string): Promise<bigint> {
  const found = await findPet(invocation, text, what);
  if (typeof found === 'bigint') return found;
  const { message, question, ...details } = found;
  throw new UsageError(`${message} Nothing was sent.${question}`, details);
}

async function findPet(invocation: Invocation, text: string, what?: string): Promise<bigint | UnknownName> {
  const petId = parsePetId(text);
  if (petId.ok || !invocation.hasCodes || !mayBeName(text)) return required(petId, what);
  const { petOfName } = await import('../named-pets.ts');
  return petOfName(invocation, text);
}

/**
 * Returns the pets of ids and names, followed by those of bar codes, and an error for each name that no pet has.
 * @param coded the pets of bar codes
 * @throws UsageError for an invalid id, or for a name that several pets have; NotFoundError if only names
 * that no pet has were given
 */
export async function petIdsOf(
  invocation: Invocation,
  texts: readonly string[],
  { what, coded = [] }: { readonly what?: string; readonly coded?: readonly bigint[] } = {},
) {
  const found: (bigint | UnknownName)[] = [];
  for (const text of texts) found.push(await findPet(invocation, text, what));
  const petIds = [...found.filter((each) => typeof each === 'bigint'), ...coded];
  const unknown = found.filter((each) => typeof each !== 'bigint');
  const errors = unknown.map(({ message, question, ...details }) => new NotFoundError(message + question, details));
  if (petIds.length > 0 || unknown[0] === undefined) return { petIds, errors };
  const { message, question, lines, hint } = unknown[0];
  const others = errors.slice(1).flatMap((error) => [error.message, ...error.lines]);
  throw new NotFoundError(`${message} Nothing was sent.${question}`, { lines: [...lines, ...others], hint });
}

/** Returns the pets that match `--pet`, `--name`, or both; undefined if neither is given. */
export async function chosenPets(
  invocation: Invocation,
  { pet, name }: { readonly pet?: readonly string[] | undefined; readonly name?: string | undefined },
): Promise<ReadonlySet<bigint> | undefined> {
  const petIds = pet && new Set<bigint>();
  for (const text of pet ?? []) petIds?.add(await petIdOf(invocation, text, '--pet'));
  if (name === undefined) return petIds;
  const { petsOfName } = await import('../named-pets.ts');
  const named = await petsOfName(invocation, name);
  return petIds === undefined ? named : new Set([...petIds].filter((petId) => named.has(petId)));
}

/**
 * Rejects an empty file name, for example from a shell variable that is not set.
 * @throws UsageError if it is empty
 */
export function requireFileName(file: string, what: string): void {
  if (file === '') throw new UsageError(`The file name after ${what} is empty`);
}

const defaultConcurrency = 16;
const maxConcurrency = 64;

/** A sentence for the help of commands that change stock. */
export const experimental = 'The service marks updates as experimental, so their format may change.';

export const bulkOptions = optionRows(
  ['--dry-run', 'show the plan and write nothing'],
  ['--exit-code', 'with --dry-run: exit with code 3 if anything would be written'],
  ['--max-changes <n>', 'refuse a plan that changes more than n rows (default: the setting max-changes)', wholeNumber],
  [
    '--max-zero <n>',
    'refuse a plan that sets more than n rows to 0 or below (default: the setting max-zero)',
    wholeNumber,
  ],
  ['--fail-fast', "stop after the first row that can't be written"],
  ['--changed', 'leave unchanged rows out of the report'],
  [
    '--concurrency <n>',
    `maximum number of requests at the same time, 1 to ${maxConcurrency} (default: ${defaultConcurrency})`,
    wholeNumber,
  ],
);
export type BulkFlags = OptionsOf<typeof bulkOptions>;

export type ParsedBulkFlags = Omit<PlanOptions, 'keepFailed'>;

/**
 * Returns the bulk options with their defaults. A guard that is not given as an option comes from the settings.
 * @throws UsageError for the first invalid option
 */
export function parseBulkFlags({ config }: Invocation, flags: BulkFlags): ParsedBulkFlags {
  const { dryRun = false, exitCode = false, failFast = false, changed: changedOnly = false } = flags;
  if (exitCode && !dryRun) throw new UsageError('--exit-code needs --dry-run');
  const concurrency = flags.concurrency ?? defaultConcurrency;
  if (concurrency < 1 || concurrency > maxConcurrency) {
    throw new UsageError(`--concurrency takes a number from 1 to ${maxConcurrency}`);
  }
  const { settings } = config;
  const guards = {
    maxChanges: flags.maxChanges ?? settings['max-changes'],
    maxZero: flags.maxZero ?? settings['max-zero'],
  };
  return { dryRun, exitCode, failFast, changedOnly, concurrency, guards };
}
