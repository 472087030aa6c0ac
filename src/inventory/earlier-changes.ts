import type { Change } from './change.ts';
import { plainText } from './pet-names.ts';

/** A change of stock that the history has, and that was or may have been written. */
export interface EarlierChange {
  readonly run: string;
  /** When the run began, in milliseconds since the Unix epoch. */
  readonly at: number;
  readonly command: string;
  /** The file of the run; `-` is stdin. */
  readonly file: string | undefined;
  readonly petId: bigint;
  readonly before: number | undefined;
  /** The stock that was written. */
  readonly after: number;
  readonly delta: number | undefined;
  readonly reason: string | undefined;
  readonly ref: string | undefined;
  /** Whether it was certainly written. */
  readonly isCertain: boolean;
}

/** A delta whose pet an earlier run has changed under the same `ref`. */
export interface RepeatedDelta {
  readonly change: Change;
  /** The earlier deltas, the newest first. */
  readonly earlier: readonly EarlierChange[];
  /** Whether an earlier run, or all of them together, added exactly this delta. */
  readonly isSame: boolean;
}

/**
 * Finds deltas that may have been applied before: a pet that was changed under the same `ref`, such as the number of a
 * delivery note that came corrected, or was scanned twice.
 * @param earlier the newest first
 */
export function repeatedDeltas(
  changes: readonly Change[],
  earlier: readonly EarlierChange[],
): readonly RepeatedDelta[] {
  const known = new Map<bigint, EarlierChange[]>();
  for (const row of earlier) {
    if (row.delta !== undefined && row.ref !== undefined) known.set(row.petId, [...(known.get(row.petId) ?? []), row]);
  }
  return changes.flatMap((change): RepeatedDelta | readonly RepeatedDelta[] => {
    const { petId, delta, ref } = change;
    if (delta === undefined || delta === 0 || ref === undefined) return [];
    const parts = new Set(partsOfRef(ref));
    const rows = (known.get(petId) ?? []).filter((row) => partsOfRef(row.ref ?? '').some((part) => parts.has(part)));
    if (rows.length === 0) return [];
    const deltas = rows.map((row) => row.delta ?? 0);
    const isSame = deltas.includes(delta) || deltas.reduce((sum, each) => sum + each, 0) === delta;
    return { change, earlier: rows, isSame };
  });
}

/**
 * Returns the refs in a text, in lower case: the deltas of a pet that are added up from several refs have all of them,
 * with commas.
 */
export function partsOfRef(ref: string): readonly string[] {
  return ref.split(', ').map(plainText);
}

/** A run that has already added most of a delivery. */
interface SameDelivery {
  readonly run: string;
  readonly at: number;
  /** Number of pets to which it has added the same. */
  readonly pets: number;
}

/**
 * Finds a delivery that came without a ref, and comes again corrected or extended: most of its deltas, at least two, are
 * those of one run. Units that go out are not compared, because two sales are often equal.
 * @param changes at most one for each pet
 * @param earlier the newest first
 */
export function sameDelivery(changes: readonly Change[], earlier: readonly EarlierChange[]): SameDelivery | undefined {
  const deltas = new Map(changes.map(({ petId, delta }) => [petId, delta]));
  const runs = new Map<string, { readonly at: number; rows: number; pets: number }>();
  for (const { run, at, petId, delta, ref } of earlier) {
    if (delta === undefined || ref !== undefined) continue;
    const seen = runs.get(run) ?? { at, rows: 0, pets: 0 };
    seen.rows += 1;
    if (deltas.get(petId) === delta) seen.pets += 1;
    runs.set(run, seen);
  }
  for (const [run, { at, rows, pets }] of runs) {
    if (pets >= 2 && pets * 2 > Math.min(rows, changes.length)) return { run, at, pets };
  }
  return undefined;
}

/** A counted pet, with what the history knows of it. */
export interface CountedBefore {
  readonly petId: bigint;
  readonly counted: number;
  /** The newest stock-take that has set the pet. */
  readonly earlier: EarlierChange;
}

/**
 * Finds pets that another stock-take has set: two shelves of one pet are one count, and the second would replace the
 * first. The same file with the same count is no other one.
 * @param earlier the newest first
 * @param file the path of the counted file; undefined for stdin
 */
export function countedBefore(
  counts: ReadonlyMap<bigint, number>,
  earlier: readonly EarlierChange[],
  file: string | undefined,
): readonly CountedBefore[] {
  const last = new Map<bigint, EarlierChange>();
  for (const row of earlier) {
    if (isStockTake(row) && !last.has(row.petId)) last.set(row.petId, row);
  }
  return [...counts].flatMap(([petId, counted]) => {
    const row = last.get(petId);
    if (row === undefined || (row.file !== undefined && row.file === file && row.after === counted)) return [];
    return { petId, counted, earlier: row };
  });
}

/** How long units that came in may still stand beside the shelf, in milliseconds. */
const unpacking = 2 * 3600 * 1000;

/**
 * Finds units of counted pets that came in during the last two hours: the count may lack them. Those before another
 * stock-take of the pet are left out.
 * @param earlier the newest first
 */
export function incomingBefore(
  petIds: ReadonlySet<bigint>,
  earlier: readonly EarlierChange[],
  now: number,
): readonly EarlierChange[] {
  const counted = new Set<bigint>();
  return earlier.filter((row) => {
    if (!petIds.has(row.petId) || counted.has(row.petId)) return false;
    if (isStockTake(row)) counted.add(row.petId);
    return !isStockTake(row) && changeOf(row) > 0 && row.at > now - unpacking;
  });
}

/** The reason of the rows of a stock-take, also in the file of `count --to`, which another command applies. */
export const stockTakeReason = 'stock-take';

/** Reports whether a row set the stock to a count. */
export function isStockTake({ command, delta, reason }: Pick<EarlierChange, 'command' | 'delta' | 'reason'>): boolean {
  return delta === undefined && (command === 'inventory count' || reason === stockTakeReason);
}

/** Returns the change of the stock; 0 if it is not known. */
export function changeOf({ before, after, delta }: EarlierChange): number {
  return delta ?? (before === undefined ? 0 : after - before);
}
