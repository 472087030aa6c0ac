import type { Change } from '../../../../inventory/change.ts';
import type { Counting } from '../../../../inventory/count/counting.ts';
import { changedNearby, changeOf, countedBefore, type EarlierChange } from '../../../../inventory/earlier-changes.ts';
import { counted, grouped } from '../../../../inventory/items.ts';
import { petLine } from '../../../../output/count-text.ts';
import { wrap } from '../../../../output/text-width.ts';
import { localTime } from '../../../../output/time.ts';
import { quoted } from '../../../../shared/parsed.ts';
import { earlierChanges } from '../../../runs/applied-before.ts';
import type { RunAccess } from '../../../runs/run-access.ts';
import type { CountedChanges } from './count-plan.ts';

/** How long ago another stock-take may be, in milliseconds. */
const day = 24 * 3600 * 1000;
/** Maximum number of pets that are listed for each fact. */
const maxNamed = 10;

/** What speaks against a stock-take: a title, a line for each pet, and a clause for the question. */
interface Doubt {
  readonly title: string;
  readonly pets: readonly (readonly [petId: bigint, text: string])[];
  readonly fact: string;
}

/** What is known of the count itself. */
interface CountSource {
  /** The path of its file; undefined for stdin. */
  readonly file: string | undefined;
  /** When it began; undefined if the file does not say. */
  readonly began: number | undefined;
}

/**
 * Shows what the history and the list of pets hold against a stock-take: pets that another stock-take has set, that a
 * delivery has changed, whose stock has changed during the count, or that `--all` sets to 0 although they have no code.
 * Shown in any case, because a count that is wrong overwrites a stock that is right.
 * @returns clauses for the question
 */
export async function showDoubts(
  run: RunAccess,
  counting: Counting,
  { changes, stock, unscanned }: CountedChanges,
  { file, began, all }: CountSource & { readonly all: boolean },
): Promise<readonly string[]> {
  const { messages, context } = run.invocation;
  const now = context.clock.now();
  const counts = new Map(changes.flatMap(({ petId, quantity }) => (quantity === undefined ? [] : [[petId, quantity]])));
  const differing = differingPets(changes, stock.quantities);
  const since = Math.min(began ?? now, now - day);
  const earlier = await earlierChanges(run, { since, petIds: [...counts.keys()] });
  const lastDay = earlier.filter(({ at }) => at > now - day);
  const before = countedBefore(counts, lastDay, file);
  const nearby = changedNearby(differing, earlier, { began, now });
  const told = new Set([...before, ...nearby].map(({ petId }) => petId));
  const others = [...differing].filter((petId) => !told.has(petId));
  const doubts = [
    doubtOfCounts(before, now),
    doubtOfChanges(nearby, now),
    doubtOfStock(counting, stock.quantities, others),
    ...(all ? [doubtOfCodes(counting, unscanned, stock.quantities)] : []),
  ].filter(({ pets }) => pets.length > 0);
  const { names } = counting.known.codes;
  for (const { title, pets } of doubts) {
    await messages.warn(title);
    const more = pets.length > maxNamed ? [`  … and ${grouped(pets.length - maxNamed)} more`] : [];
    const lines = (width: number) =>
      pets.slice(0, maxNamed).flatMap(([petId, text]) => {
        const line = petLine(petId, `: ${text}`, names, Number.POSITIVE_INFINITY);
        return wrap(line, width - 4).map((part, index) => (index === 0 ? `  ${part}` : `    ${part}`));
      });
    await messages.show((_paint, width) => [...lines(width), ...more], { always: true });
  }
  return doubts.map(({ fact }) => fact);
}

/** Returns the pets whose count is not the stock that was just read. */
function differingPets(changes: readonly Change[], stock: CountedChanges['stock']['quantities']): ReadonlySet<bigint> {
  return new Set(changes.flatMap(({ petId, quantity }) => (stock.get(petId) === quantity ? [] : [petId])));
}

function doubtOfCounts(found: ReturnType<typeof countedBefore>, now: number): Doubt {
  return {
    title: `${were(found.length, 'set')} by another stock-take of the last day, which this one replaces. Two shelves of a pet are one count: cat a.txt b.txt | petstock inventory count`,
    pets: found.map(({ petId, counted: units, earlier }) => [
      petId,
      `${grouped(earlier.after)} by ${runText(earlier, now)}, ${grouped(units)} now`,
    ]),
    fact: `${were(found.length, 'counted')} before`,
  };
}

function doubtOfChanges(found: readonly EarlierChange[], now: number): Doubt {
  const pets = new Set(found.map(({ petId }) => petId)).size;
  const change = (row: EarlierChange) => `${changeOf(row) > 0 ? '+' : ''}${grouped(changeOf(row))}`;
  return {
    title: `${were(pets, 'changed')} by other commands while this was counted, or shortly before. Check that the count has these units`,
    pets: found.map((row) => [
      row.petId,
      `${change(row)} by ${runText(row, now)}${row.ref === undefined ? '' : `, ${quoted(row.ref)}`}`,
    ]),
    fact: `${were(pets, 'changed')} meanwhile`,
  };
}

function doubtOfStock(
  { known }: Counting,
  stock: CountedChanges['stock']['quantities'],
  petIds: readonly bigint[],
): Doubt {
  const pets = petIds.flatMap((petId): [bigint, string][] => {
    const [then, now] = [known.stock?.get(petId), stock.get(petId)];
    return then === undefined || now === undefined || then === now
      ? []
      : [[petId, `${grouped(then)} → ${grouped(now)}`]];
  });
  return {
    title: `The stock of ${counted(pets.length, 'pet')} has changed while you counted. Count ${pets.length === 1 ? 'it' : 'them'} again, with = 42 7`,
    pets,
    fact: `${were(pets.length, 'changed')} while you counted`,
  };
}

function doubtOfCodes(
  { known, hasBarCodes }: Counting,
  unscanned: readonly bigint[],
  stock: CountedChanges['stock']['quantities'],
): Doubt {
  const coded = new Set(known.codes.pets.values());
  const pets = hasBarCodes ? unscanned.filter((petId) => !coded.has(petId) && stock.get(petId) !== 0) : [];
  return {
    title: `${counted(pets.length, 'pet')} that --all sets to 0 ${pets.length === 1 ? 'has' : 'have'} no bar code in the codes file, so no scan can count ${pets.length === 1 ? 'it' : 'them'}`,
    pets: pets.map((petId) => [petId, `${grouped(stock.get(petId) ?? 0)} → 0`]),
    fact: `${counted(pets.length, 'pet')} without a bar code`,
  };
}

function were(pets: number, what: string): string {
  return `${counted(pets, 'pet')} ${pets === 1 ? 'was' : 'were'} ${what}`;
}

function runText({ run, at }: EarlierChange, now: number): string {
  return `run ${run.slice(-4)} at ${localTime(at, now)}`;
}
