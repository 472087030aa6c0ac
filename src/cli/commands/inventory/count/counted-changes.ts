import { basename } from 'node:path';
import type { Change } from '../../../../inventory/change.ts';
import type { Counting } from '../../../../inventory/count/counting.ts';
import {
  changeOf,
  countedBefore,
  type EarlierChange,
  incomingBefore,
  stockTakeReason,
} from '../../../../inventory/earlier-changes.ts';
import { counted, grouped, listed, type Quantities, signed } from '../../../../inventory/items.ts';
import { petLine } from '../../../../output/count-text.ts';
import { wrap } from '../../../../output/text-width.ts';
import { localTime } from '../../../../output/time.ts';
import { quoted } from '../../../../shared/parsed.ts';
import { everyPet, readStockToPlan, type Stock } from '../../../../writes/stock.ts';
import { earlierChanges } from '../../../runs/applied-before.ts';
import type { RunAccess } from '../../../runs/run-access.ts';
import type { CountOptions } from './count-options.ts';

/** What of the options the changes depend on. */
type Options = Pick<CountOptions, 'mode' | 'all' | 'file' | 'reason' | 'ref'>;

/** The counted sums as changes, and what they depend on. */
export interface CountedChanges {
  readonly changes: readonly Change[];
  readonly stock: Stock;
  /** The units without a pet, by the description of their code. */
  readonly unknowns: ReadonlyMap<string, number>;
  /** The pets of the service that were not scanned; empty if the list of pets is not known. */
  readonly unscanned: readonly bigint[];
}

/**
 * Returns sums as changes: as the new stock, or as deltas with `--add` and `--take`. Deltas that are scanned into a file
 * of their own have its name as their ref, by which they are recognized.
 */
export function changesOf(
  units: Iterable<readonly [petId: bigint, units: number]>,
  { mode, reason, file, ref = mode === 'count' || file === undefined ? undefined : basename(file) }: Options,
): readonly Change[] {
  const why = reason ?? { count: stockTakeReason, add: 'scanned in', take: 'scanned out' }[mode];
  return Array.from(units, ([petId, sum], index): Change => {
    const quantity = mode === 'count' ? sum : undefined;
    const delta = mode === 'count' ? undefined : mode === 'take' ? -sum : sum;
    return { line: index + 1, petId, quantity, delta, expected: undefined, reason: why, ref };
  });
}

/** Reads the stock, and returns the counted sums as changes. */
export async function countedChanges(run: RunAccess, counting: Counting, options: Options): Promise<CountedChanges> {
  const { all = false } = options;
  const units = new Map(counting.tally.counts());
  const asked = all ? everyPet : new Set(units.keys());
  const stock = await readStockToPlan(run.connection, asked);
  const { quantities } = stock;
  const existing = new Set([...quantities.keys(), ...quantities.unreadable.keys()]);
  const unknowns = new Map(counting.tally.unknowns());
  for (const [petId, quantity] of units) {
    if (existing.has(petId)) continue;
    units.delete(petId);
    const codes = counting.codesOfPets.get(petId);
    const which = `(pet ${petId}, which the service does not have)`;
    const name = codes === undefined ? `${petId}` : `${[...codes].join(', ')} ${which}`;
    unknowns.set(name, (unknowns.get(name) ?? 0) + quantity);
  }
  const allPets = all ? existing : (counting.known.pets ?? []);
  const unscanned = [...allPets].filter((petId) => !units.has(petId));
  if (all) for (const petId of unscanned) units.set(petId, 0);
  return { changes: changesOf(units, options), stock, unknowns, unscanned };
}

/** How long ago another stock-take may be, in milliseconds. */
const day = 24 * 3600 * 1000;

/** What speaks against a stock-take: a title, a line for each pet, and a clause for the question. */
interface Doubt {
  readonly title: string;
  readonly pets: readonly (readonly [petId: bigint, text: string])[];
  readonly fact: string;
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
  { changes, stock: { quantities }, unscanned }: CountedChanges,
  { all, file }: Options,
): Promise<readonly string[]> {
  const { messages, context } = run.invocation;
  const now = context.clock.now();
  const counts = new Map(changes.flatMap(({ petId, quantity }) => (quantity === undefined ? [] : [[petId, quantity]])));
  const differing = new Set([...counts].flatMap(([petId, units]) => (quantities.get(petId) === units ? [] : [petId])));
  const earlier = await earlierChanges(run, { since: now - day, petIds: [...counts.keys()] });
  const doubts = [
    doubtOfCounts(countedBefore(counts, earlier, file), now),
    doubtOfIncoming(incomingBefore(differing, earlier, now), now),
    doubtOfCodes(counting, all ? unscanned : [], quantities),
  ].filter(({ pets }) => pets.length > 0);
  const { names } = counting.known.codes;
  for (const { title, pets } of doubts) {
    await messages.warn(title);
    const lines = listed(pets, ([petId, text]) => petLine(petId, `: ${text}`, names, Number.POSITIVE_INFINITY), 10);
    const wrapped = (line: string, width: number) =>
      wrap(line, width - 4).map((part, index) => (index === 0 ? `  ${part}` : `    ${part}`));
    await messages.show((_paint, width) => lines.flatMap((line) => wrapped(line, width)), { always: true });
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
      return [row.petId, `${signed(changeOf(row))} by ${runText(row, now)}${ref}`];
    }),
    fact: `with ${pets} whose stock was raised shortly before`,
  };
}

function doubtOfCodes({ known, hasBarCodes }: Counting, zeroed: readonly bigint[], quantities: Quantities): Doubt {
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
