import type { Change } from '../../../../inventory/change.ts';
import type { Counting } from '../../../../inventory/count/counting.ts';
import { counted, grouped } from '../../../../inventory/items.ts';
import { unknownLines, unknownRows } from '../../../../output/count-text.ts';
import { plainPaint } from '../../../../output/terminal.ts';
import { UsageError } from '../../../../shared/errors.ts';
import { rethrowAsNothingWritten } from '../../../../writes/nothing-written.ts';
import { everyPet, readStock, type Stock } from '../../../../writes/stock.ts';
import type { Invocation } from '../../../invocation/invocation.ts';
import type { RunAccess } from '../../../runs/run-access.ts';
import type { CountOptions } from './count-options.ts';

/** The counted sums as changes, and what they depend on. */
export interface CountedChanges {
  readonly changes: readonly Change[];
  readonly stock: Stock;
  /** The units without a pet, by the description of their code. */
  readonly unknowns: ReadonlyMap<string, number>;
  /** The pets of the service that were not scanned; empty if the list of pets is not known. */
  readonly unscanned: readonly bigint[];
}

type ChangeOptions = Pick<CountOptions, 'mode' | 'reason'> & { readonly ref: string | undefined };

/** Returns sums as changes: as the new stock, or as deltas with `--add` and `--take`. */
export function changesOf(
  units: Iterable<readonly [petId: bigint, units: number]>,
  { mode, reason, ref }: ChangeOptions,
): readonly Change[] {
  const why = reason ?? { count: 'stock-take', add: 'scanned in', take: 'scanned out' }[mode];
  return Array.from(units, ([petId, sum], index): Change => {
    const quantity = mode === 'count' ? sum : undefined;
    const delta = mode === 'count' ? undefined : mode === 'take' ? -sum : sum;
    return { line: index + 1, petId, quantity, delta, expected: undefined, reason: why, ref };
  });
}

/** Reads the stock, and returns the counted sums as changes. */
export async function countedChanges(
  run: RunAccess,
  counting: Counting,
  { all = false, ...options }: ChangeOptions & Pick<CountOptions, 'all'>,
): Promise<CountedChanges> {
  const units = new Map(counting.tally.counts());
  const asked = all ? everyPet : new Set(units.keys());
  const stock = await readStock(run.connection, asked).catch(rethrowAsNothingWritten);
  const { quantities } = stock;
  const unusable = [quantities.unreadable, quantities.outdated].flatMap((bad) => [...(bad?.keys() ?? [])]);
  const existing = new Set([...quantities.keys(), ...unusable]);
  const unknowns = new Map(counting.tally.unknowns());
  for (const [petId, quantity] of units) {
    if (existing.has(petId)) continue;
    units.delete(petId);
    const codes = counting.codesOfPets.get(petId);
    const which = `(pet ${petId}, which the service does not have)`;
    const name = codes === undefined ? `${petId}` : `${[...codes].join(', ')} ${which}`;
    unknowns.set(name, (unknowns.get(name) ?? 0) + quantity);
  }
  const allPets = all ? existing : (counting.known.stock?.keys() ?? []);
  const unscanned = [...allPets].filter((petId) => !units.has(petId));
  if (all) for (const petId of unscanned) units.set(petId, 0);
  return { changes: changesOf(units, options), stock, unknowns, unscanned };
}

/** Returns, for example, `3 units of 2 unknown codes`. */
export function unknownText(unknowns: ReadonlyMap<string, number>): string {
  const units = [...unknowns.values()].reduce((sum, count) => sum + count, 0);
  return `${counted(units, 'unit')} of ${counted(unknowns.size, 'unknown code')}`;
}

/**
 * Lists the units that belong to no pet.
 * @returns lines for the error, if the list is not visible or a program reads the error; otherwise none
 */
export async function showUnknown(
  { messages, results }: Invocation,
  unknowns: ReadonlyMap<string, number>,
  always: boolean,
): Promise<readonly string[]> {
  if (unknowns.size > 0) await messages.show((paint, width) => unknownLines(unknowns, paint, width), { always });
  const isNamed = results.wantsJson || (messages.isQuiet && !always);
  return isNamed ? unknownRows(unknowns, plainPaint, undefined, true) : [];
}

/**
 * Checks that every code is known.
 * @throws UsageError if a code is not, because `--all` would write a zero for a pet that may be on the shelf
 */
export function requireAllKnown(unknowns: ReadonlyMap<string, number>, lines: readonly string[]): void {
  if (unknowns.size === 0) return;
  const codes = unknowns.size === 1 ? 'A code is' : `${grouped(unknowns.size)} codes are`;
  throw new UsageError(
    `${codes} not known, so --all could set scanned pets to 0. Nothing was written. ` +
      'Add the codes to the codes file, or drop each with a line = <code> 0',
    { lines },
  );
}
