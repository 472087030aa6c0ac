import { counted } from '../inventory/items.ts';
import { petsNamed, petsNear, petsWith } from '../inventory/pet-names.ts';
import { UsageError } from '../shared/errors.ts';
import { petstock, targetWords, withWords } from '../shared/hint.ts';
import { quoted } from '../shared/parsed.ts';
import { isPlainName } from '../shared/sanitize.ts';
import type { Invocation } from './invocation/invocation.ts';
import { requireCodesFile } from './shop-codes.ts';

type Names = ReadonlyMap<bigint, string>;

/** The parts of an error about a name that no pet has. */
export interface UnknownName {
  readonly message: string;
  /** A question that suggests the most likely pets; empty if no name is near. */
  readonly question: string;
  readonly lines: readonly string[];
  readonly hint: string | undefined;
}

/**
 * Returns the pet that a word of the command line names, and prints the pet. Returns the parts of an error if no pet
 * has the name.
 * @throws UsageError if several pets have the name, if the shop has no names, or if its codes file has errors
 */
export async function petOfName(invocation: Invocation, text: string): Promise<bigint | UnknownName> {
  const { names } = (await requireCodesFile(invocation, 'A pet name')).codes;
  const [petId, ...others] = petsNamed(names, text);
  if (petId === undefined) {
    const near = petsNear(names, text);
    const { question, lines } = nearText(names, near);
    const line = near.length === 1 ? withWords(invocation.context.argv, [text], [`${near[0]}`]) : undefined;
    const message =
      petsWith(names, text).length > 0
        ? `${quoted(text)} is too short. Write at least three letters, or a whole word of the name.`
        : `No pet has ${quoted(text)} in its name.`;
    return { message, question, lines, hint: line && petstock`${line}` };
  }
  if (others.length > 0) {
    const found = [petId, ...others];
    throw new UsageError(
      `${counted(found.length, 'pet')} have ${quoted(text)} in their name. Nothing was sent. Give the id of one`,
      {
        lines: petLines(names, found),
        hint: petstock`inventory list --name ${text} ${targetWords(invocation.target)}`,
      },
    );
  }
  const name = names.get(petId) ?? '';
  const isPlain = isPlainName(name);
  await invocation.messages.note(`${quoted(text)} is pet ${petId}${isPlain ? ` ${name}` : ''}.`);
  if (!isPlain) await invocation.messages.quote(name);
  return petId;
}

/**
 * Returns the pets of `--name`: all with a text in their name. If there are none, prints the most likely pets.
 * @throws UsageError if the shop has no names, or its codes file has errors
 */
export async function petsOfName(invocation: Invocation, text: string): Promise<ReadonlySet<bigint>> {
  const { names } = (await requireCodesFile(invocation, '--name')).codes;
  const found = petsWith(names, text);
  if (found.length === 0) {
    const { question, lines } = nearText(names, petsNear(names, text));
    await invocation.messages.note(`No pet has ${quoted(text)} in its name.${question}`);
    for (const line of lines) await invocation.messages.quote(line);
  }
  return new Set(found);
}

/**
 * Returns the question whether the user meant one of these pets. Several pets are listed as lines; so is a pet whose
 * name could be mistaken for petstock's own words.
 */
function nearText(names: Names, near: readonly bigint[]) {
  const [petId, ...others] = near;
  if (petId === undefined) return { question: '', lines: [] };
  const name = names.get(petId) ?? '';
  if (others.length === 0 && isPlainName(name)) return { question: ` Did you mean ${petId} ${name}?`, lines: [] };
  return { question: ' Did you mean one of these?', lines: petLines(names, near) };
}

function petLines(names: Names, petIds: readonly bigint[]): string[] {
  return petIds.map((petId) => `${petId} ${names.get(petId) ?? ''}`);
}
