import type { Change } from '../../../../inventory/change.ts';
import type { Counting } from '../../../../inventory/count/counting.ts';
import { changeOf, countedBefore, type EarlierChange, incomingBefore } from '../../../../inventory/earlier-changes.ts';
import { counted, grouped, type Quantities } from '../../../../inventory/items.ts';
import { petLine } from '../../../../output/count-text.ts';
import { wrap } from '../../../../output/text-width.ts';
import { localTime } from '../../../../output/time.ts';
import { quoted } from '../../../../shared/parsed.ts';
import { earlierChanges } from '../../../runs/applied-before.ts';
import type { RunAccess } from '../../../runs/run-access.ts';

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

/** A stock-take that is to be written. */
interface StockTake {
  readonly changes: readonly Change[];
  readonly quantities: Quantities;
  /** The pets that `--all` sets to 0; empty without it. */
  readonly zeroed: readonly bigint[];
  /** The path of its file; undefined for stdin. */
  readonly file: string | undefined;
}

/**
 * Shows what the history and the codes hold against a stock-take: pets that another stock-take has set, a stock that
 * was raised shortly before, or pets that `--all` sets to 0 although no bar code counts them. Shown in any case, because
 * a count that is wrong overwrites a stock that is right.
 * @returns clauses for the question
 */
export async function showDoubts(
  run: RunAccess,
  counting: Counting,
  { changes, quantities, zeroed, file }: StockTake,
): Promise<readonly string[]> {
  const { messages, context } = run.invocation;
  const now = context.clock.now();
  const counts = new Map(changes.flatMap(({ petId, quantity }) => (quantity === undefined ? [] : [[petId, quantity]])));
  const differing = new Set([...counts].flatMap(([petId, units]) => (quantities.get(petId) === units ? [] : [petId])));
  const earlier = await earlierChanges(run, { since: now - day, petIds: [...counts.keys()] });
  const doubts = [
    doubtOfCounts(countedBefore(counts, earlier, file), now),
    doubtOfIncoming(incomingBefore(differing, earlier, now), now),
    doubtOfCodes(counting, zeroed, quantities),
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

function doubtOfIncoming(found: readonly EarlierChange[], now: number): Doubt {
  const pets = counted(new Set(found.map(({ petId }) => petId)).size, 'pet');
  return {
    title: `The stock of ${pets} was raised shortly before. Check that the count has these units`,
    pets: found.map((row) => {
      const ref = row.ref === undefined ? '' : `, ${quoted(row.ref)}`;
      return [row.petId, `+${grouped(changeOf(row))} by ${runText(row, now)}${ref}`];
    }),
    fact: `with ${pets} whose stock was raised shortly before`,
  };
}

function doubtOfCodes(
  { known, hasBarCodes }: Counting,
  zeroed: readonly bigint[],
  quantities: StockTake['quantities'],
): Doubt {
  const coded = new Set(known.codes.pets.values());
  const pets = hasBarCodes ? zeroed.filter((petId) => !coded.has(petId) && quantities.get(petId) !== 0) : [];
  const [have, it] = pets.length === 1 ? ['has', 'it'] : ['have', 'them'];
  return {
    title: `${counted(pets.length, 'pet')} that --all sets to 0 ${have} no bar code in the codes file, so no scan can count ${it}`,
    pets: pets.map((petId) => [petId, `${grouped(quantities.get(petId) ?? 0)} → 0`]),
    fact: `${counted(pets.length, 'pet')} without a bar code`,
  };
}

function were(pets: number, what: string): string {
  return `${counted(pets, 'pet')} ${pets === 1 ? 'was' : 'were'} ${what}`;
}

function runText({ run, at }: EarlierChange, now: number): string {
  return `run ${run.slice(-4)} at ${localTime(at, now)}`;
}
