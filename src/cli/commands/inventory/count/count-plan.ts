import { codesOf } from '../../../../counts/account.ts';
import { petOfCode } from '../../../../inventory/bar-codes.ts';
import type { Change } from '../../../../inventory/change.ts';
import { counted, grouped } from '../../../../inventory/items.ts';
import { planChanges } from '../../../../inventory/plan.ts';
import { unknownLines, unknownRows } from '../../../../output/count-text.ts';
import { plainPaint } from '../../../../output/terminal.ts';
import { StockReader } from '../../../../runs/stock-reader.ts';
import { NotFoundError, UsageError } from '../../../../shared/errors.ts';
import { targetName } from '../../../../shared/target.ts';
import type { Invocation } from '../../../invocation/invocation.ts';
import type { RunAccess } from '../../../runs/run-access.ts';
import type { CountOptions } from './count-options.ts';
import type { Counting } from './counting.ts';

interface PlanOptions extends Pick<CountOptions, 'all' | 'reason' | 'ref'> {
  /** All pets of the service when this command began to count; undefined if they are not known. */
  readonly petIds: ReadonlySet<bigint> | undefined;
}

/**
 * Returns the rows that write the counted sums, the current stock, the units without a pet by the description of their
 * code, and a function that reports whether the service has a pet.
 */
export async function planOf(run: RunAccess, counting: Counting, options: PlanOptions) {
  const { invocation } = run;
  const units = new Map(counting.account.tally.counts());
  await invocation.connections.announce();
  const petIds = new Set([...units.keys(), ...((options.all && options.petIds) || [])]);
  const stock = await new StockReader(run.connection).readAfterInFlight(petIds);
  const unknowns = unknownsOf(counting);
  const { quantities } = stock;
  const unusable = [quantities.unreadable, quantities.outdated].flatMap((bad) => [...(bad?.keys() ?? [])]);
  const existing = new Set([...quantities.keys(), ...unusable]);
  const nameOf = namesOfMissing(counting);
  for (const [petId, quantity] of units) {
    if (existing.has(petId)) continue;
    units.delete(petId);
    const name = nameOf(petId);
    unknowns.set(name, (unknowns.get(name) ?? 0) + quantity);
  }
  if (options.all) for (const petId of existing) if (!units.has(petId)) units.set(petId, 0);
  const { mode } = counting.session.head;
  const { reason = { count: 'stock-take', add: 'scanned in', take: 'scanned out' }[mode], ref } = options;
  const changes = Array.from(units, ([petId, sum], index): Change => {
    const isSum = mode === 'count' && !counting.account.written.has(petId);
    const quantity = isSum ? sum : undefined;
    const delta = isSum ? undefined : mode === 'take' ? -sum : sum;
    return { line: index + 1, petId, quantity, delta, expected: undefined, reason, ref };
  });
  const { rows } = planChanges(changes, quantities, { env: targetName(invocation.target) });
  return { rows, stock, unknowns, hasPet: (petId: bigint) => existing.has(petId) };
}

/** Returns the units of unknown codes, by the description of each code. */
function unknownsOf({ session, account }: Counting): Map<string, number> {
  const codes = codesOf(session);
  const named = (code: string) => missingName([code], petOfCode(codes, code));
  return new Map(Array.from(account.tally.unknowns(), ([code, units]) => [named(code), units]));
}

/** Returns a function that describes a counted pet that the service does not have: `55 (pet 99999, which …)`. */
function namesOfMissing({ session, account }: Counting): (petId: bigint) => string {
  const codesOfPets = new Map<bigint, Set<string>>();
  for (const scan of session.scans) {
    const petId = scan.pet ?? account.petOfScan(scan);
    if (petId === undefined || scan.code === `${petId}`) continue;
    codesOfPets.set(petId, (codesOfPets.get(petId) ?? new Set()).add(scan.code));
  }
  return (petId) => {
    const codes = codesOfPets.get(petId);
    return codes === undefined ? `${petId}` : missingName([...codes], petId);
  };
}

function missingName(codes: readonly string[], petId: bigint | undefined): string {
  const name = codes.join(', ');
  return petId === undefined ? name : `${name} (pet ${petId}, which the service does not have)`;
}

export type CountPlan = Awaited<ReturnType<typeof planOf>>;

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
  { messages, globals, results }: Invocation,
  unknowns: ReadonlyMap<string, number>,
  always: boolean,
): Promise<readonly string[]> {
  if (unknowns.size > 0) await messages.show((paint, width) => unknownLines(unknowns, paint, width), { always });
  const isNamed = results.wantsJson || (globals.quiet === true && !always);
  return isNamed ? unknownRows(unknowns, plainPaint, undefined, true) : [];
}

export function noneKnown(lines: readonly string[]): NotFoundError {
  return new NotFoundError('No scanned code matches a pet. Nothing was written', { lines });
}

/**
 * Checks that every code is known.
 * @throws UsageError if a code is not, because `--all` would write a zero for a pet that may be on the shelf
 */
export function requireAllKnown({ unknowns }: CountPlan, lines: readonly string[]): void {
  if (unknowns.size === 0) return;
  const codes = unknowns.size === 1 ? 'A code is' : `${grouped(unknowns.size)} codes are`;
  throw new UsageError(
    `${codes} not known, so --all could set scanned pets to 0. Nothing was written. ` +
      'Add the codes with --codes, or drop each with = <code> 0',
    { lines },
  );
}
