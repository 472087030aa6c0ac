import { type RowError, unclear } from '../inventory/change.ts';
import { absenceText, addDelta, type Quantities } from '../inventory/items.ts';
import { unreadableStock } from '../inventory/plan.ts';
import { plainName } from '../shared/sanitize.ts';
import type { LastWrite, OtherWrite, Row } from '../state/open-run.ts';

/** What is known about a row within a turn. */
export interface Facts {
  /** Writes of other runs to the pet, certain or possible, oldest first. */
  readonly others: readonly OtherWrite[];
  /** The stock, if it was read for this row. */
  readonly stock: Quantities | undefined;
  /** The last answered write to the pet, if some replica of the service may not show it yet. */
  readonly recent?: LastWrite | undefined;
  /** Whether the stock was read again because it may be older than `recent`. */
  readonly isSecondRead?: boolean;
  /** Whether an earlier process has written the run: the stock may have been changed on purpose since. */
  readonly isResumed: boolean;
  /** The last intent before the run began. */
  readonly began: number;
  /** The state's time before the stock was read: what could still arrive then is not certain to be in it. */
  readonly since: number;
  /** How often this process has sent the row. */
  readonly sends: number;
  /** Whether a row of unknown outcome may be sent again. */
  readonly mayResend: boolean;
  /** How many more deltas may bring a stock to 0, besides those in the plan. */
  readonly zerosLeft: number;
}

export type Step =
  | { readonly kind: 'send'; readonly before: number | undefined; readonly after: number }
  /** `isOver`: no request of the row can be under way any more. */
  | {
      readonly kind: 'settle';
      readonly result: 'applied' | 'unchanged' | 'conflict';
      readonly quantity: number | undefined;
      readonly error?: RowError;
      readonly isOver: boolean;
    }
  /** Look again at this time of the store, when no request can be under way any more. */
  | { readonly kind: 'wait'; readonly until: number }
  /** The stock may come from a replica that is behind: read it again. */
  | { readonly kind: 'readAgain' }
  /** This process does no more. `isUnwritten`: the row was certainly not written; otherwise it stays unknown. */
  | { readonly kind: 'leave'; readonly isUnwritten: boolean };

/** The age of a write that some replica may not show yet, in milliseconds. */
const maxReplicaLag = 15_000;

/**
 * Reports whether some replica may not show a write yet. The age of a write from the future is not known: the clock was
 * ahead then, or has been set back since.
 */
export function isRecent({ at }: LastWrite, now: number): boolean {
  return now - at < maxReplicaLag;
}

/** Reports whether a stock is the one before a recent write. */
export function isLagging({ before, quantity }: LastWrite, found: number | undefined): boolean {
  return found !== undefined && found === before && found !== quantity;
}

/** Explains why an outdated stock is not used, as a clause without a period. */
export function outdatedText(found: number | undefined, { quantity }: Pick<LastWrite, 'quantity'>): string {
  return `the service returned ${found}, but the last known stock is ${quantity}, so ${found} may be outdated`;
}

/** Decides what to do with a row. */
export function stepOf(row: Row, facts: Facts): Step {
  return row.result === 'pending' ? stepOfPending(row, facts) : stepOfSent(row, facts);
}

/** A row that was certainly not written: it is a conflict if another run has written the pet since it was planned. */
function stepOfPending(row: Row, facts: Facts): Step {
  const { stock, recent, isSecondRead } = facts;
  const { petId, before, delta, after, readsFirst = false } = row;
  const found = stock?.get(petId);
  const isAsBefore = found !== undefined && found === before;
  const later = laterWrites(row, facts).findLast((one) => !isAsBefore || mayHaveLeft(one, found));
  if (later !== undefined) return conflict('conflict', laterWriteText(later), found);
  if (stock === undefined || (before === undefined && delta === undefined && !readsFirst)) {
    return { kind: 'send', before, after };
  }
  if (recent !== undefined && isLagging(recent, found)) {
    return isSecondRead ? conflict('conflict', outdatedText(found, recent), found) : { kind: 'readAgain' };
  }
  return stepByStock(row, stock, facts.zerosLeft);
}

/** Returns what other runs have written since the stock that a row without a delta relies on. */
export function laterWrites(
  { delta, basis }: Pick<Row, 'delta' | 'basis'>,
  { others, isResumed, began }: Pick<Facts, 'others' | 'isResumed' | 'began'>,
): readonly OtherWrite[] {
  const since = basis ?? (isResumed ? began : undefined);
  return delta !== undefined || since === undefined ? [] : others.filter(({ intent }) => intent > since);
}

/**
 * A row whose request has no known outcome: the stock and later writes of other runs show whether it was carried out.
 * While a request may still arrive, a row may be sent again only with the same quantity, because it may arrive later.
 */
function stepOfSent(row: Row, facts: Facts): Step {
  const { others, stock, isResumed, since, sends, mayResend, zerosLeft } = facts;
  if (stock === undefined) throw new Error('the stock was not read');
  const { petId, before, after, delta, intent = 0, inFlightUntil = 0 } = row;
  const found = stock.get(petId);
  const later = others.filter((one) => one.intent > intent);
  const fate = fateOf(row, { stock, later, isResumed });
  if (fate === 'applied') {
    // A stock that was already as wanted does not show that the request has arrived.
    const isShown = before !== undefined && before !== after;
    return { kind: 'settle', result: 'applied', quantity: after, isOver: isShown && sends === 1 && !isResumed };
  }
  const mayArrive = inFlightUntil > since;
  const isSame = fate === 'send' && (delta === undefined || found === before);
  if (mayArrive && !isSame) {
    return isResumed && sends === 0 ? { kind: 'wait', until: inFlightUntil } : { kind: 'leave', isUnwritten: false };
  }
  if (fate !== 'send') return conflict(unclear, fate.conflict, found);
  // If the stock before is not known, the stock now does not show whether the row was written.
  if (!mayResend) return { kind: 'leave', isUnwritten: !mayArrive && before !== undefined };
  return isSame ? { kind: 'send', before, after } : stepByStock(row, stock, zerosLeft);
}

/** Adds a delta to the stock that was found. A row without a delta is sent only if its stock has not changed. */
function stepByStock(row: Row, stock: Quantities, zerosLeft: number): Step {
  const { petId, before, after, delta, readsFirst = false } = row;
  const found = stock.get(petId);
  if (found === undefined) {
    const code = stock.unreadable?.has(petId) ? unreadableStock : noSuchPet;
    return conflict(code, absenceText(stock, petId), undefined);
  }
  if (delta !== undefined) return rebase(row, found, zerosLeft);
  if (found === before || (before === undefined && readsFirst)) return { kind: 'send', before: found, after };
  if (readsFirst) return conflict('conflict', `the stock is ${found}, not ${before}`, found);
  if (found === after) return { kind: 'settle', result: 'unchanged', quantity: found, isOver: true };
  return conflict('conflict', stockMovedText(row, stock), found);
}

/** The code of the error of a row whose pet the service does not have. */
export const noSuchPet = 'no_such_pet';
/** The code of the error of a row whose delta would lead out of the range of quantities. */
export const outOfRange = 'out_of_range';

/**
 * Adds the delta to the current stock. It is a conflict if
 *
 * - the sum is not a valid quantity
 * - the sum is below zero and the planned stock was not, so it was never confirmed
 * - the sum is zero, the planned stock was above zero, and `max-zero` allows no more
 */
export function rebase(
  { before, after, delta = 0 }: Pick<Row, 'before' | 'after' | 'delta'>,
  found: number,
  zerosLeft: number,
): Step {
  const sum = addDelta(found, delta);
  if (!sum.ok) return conflict(outOfRange, sum.problem, found);
  const change = delta < 0 ? `${delta}` : `+${delta}`;
  const isPlanned = before !== undefined;
  if (isPlanned && sum.value < 0 && after >= 0) {
    const message = `the stock is now ${found}, so ${change} would take it below zero, to ${sum.value}`;
    return conflict('conflict', message, found);
  }
  if (isPlanned && sum.value === 0 && after > 0 && zerosLeft <= 0) {
    const message = `the stock is now ${found}, so ${change} would set it to 0, and max-zero allows no further row at 0 or below`;
    return conflict('conflict', message, found);
  }
  return { kind: 'send', before: found, after: sum.value };
}

/** `send`: the row had not arrived when the stock was read, or it sets a quantity whatever the stock is. */
type Fate = 'applied' | 'send' | { readonly conflict: string };

interface Evidence {
  readonly stock: Quantities;
  /** Later writes to the pet by other runs, certain or possible, oldest first. */
  readonly later: readonly OtherWrite[];
  readonly isResumed: boolean;
}

/** Decides from the history and the stock what became of a request without a known outcome. */
export function fateOf(row: Pick<Row, 'petId' | 'before' | 'after' | 'delta'>, evidence: Evidence): Fate {
  return row.delta === undefined ? fateOfQuantity(row, evidence) : fateOfDelta(row, evidence);
}

/**
 * Decides by the first rule that applies:
 *
 * - The row was to change the stock, and the first later write was based on the wanted value: `applied`, whatever came
 *   later.
 * - Another run has written the stock since, or may have: a conflict that names the run. If the stock is still as
 *   before, a write of unknown outcome counts only if it would have left this stock.
 * - The stock has the wanted value: `applied`.
 * - The stock before the row is not known: `send`, or a conflict if the run is resumed.
 * - The stock is the same as before: `send`.
 * - Otherwise: a conflict.
 */
function fateOfQuantity(row: Pick<Row, 'petId' | 'before' | 'after'>, { stock, later, isResumed }: Evidence): Fate {
  const { petId, before, after } = row;
  const found = stock.get(petId);
  if (before !== after && later[0]?.before === after) return 'applied';
  const isAsBefore = found !== undefined && found === before;
  const counting = later.findLast((one) => !isAsBefore || mayHaveLeft(one, found));
  if (counting !== undefined) return { conflict: laterWriteText(counting) };
  if (found === after) return 'applied';
  if (found !== undefined && before === undefined) {
    return isResumed ? { conflict: `the stock is ${found}, not ${after}` } : 'send';
  }
  return isAsBefore ? 'send' : { conflict: `${stockMovedText(row, stock)}, and ${notKnown}` };
}

/**
 * The first later write by another run shows whether the delta had arrived: it was based either on the sum or on the
 * stock before. Without such a write, the current stock shows the same. Neither value: a conflict.
 */
function fateOfDelta(
  row: Pick<Row, 'petId' | 'before' | 'after' | 'delta'>,
  { stock, later: [later] }: Evidence,
): Fate {
  const { petId, before, after } = row;
  const found = stock.get(petId);
  const seen = later === undefined ? found : later.before;
  if (seen === after) return 'applied';
  if (seen === before && seen !== undefined) {
    return found === undefined ? { conflict: absenceText(stock, petId) } : 'send';
  }
  const message = later === undefined ? stockMovedText(row, stock) : laterWriteText(later);
  return { conflict: `${message}, and ${notKnown}` };
}

const notKnown = 'it is not known whether this row was written';

function conflict(code: string, message: string, quantity: number | undefined): Step {
  return { kind: 'settle', result: 'conflict', quantity, error: { code, message }, isOver: true };
}

/** Explains why a row can't be written, as a clause without a period. */
function stockMovedText({ petId, before, after }: Pick<Row, 'petId' | 'before' | 'after'>, stock: Quantities): string {
  const found = stock.get(petId);
  if (found === undefined) return absenceText(stock, petId);
  if (before === undefined) return `the stock is ${found}, not ${after} as requested`;
  return `the stock is ${found}, neither ${before} as before nor ${after} as requested`;
}

/** Reports whether a write may have left this stock. One of unknown outcome may not have been carried out. */
export function mayHaveLeft(
  { result, quantity }: Pick<OtherWrite, 'result' | 'quantity'>,
  stock: number | undefined,
): boolean {
  return result !== 'unknown' || quantity === stock;
}

/** Describes a later write in the history, as a clause without a period. */
export function laterWriteText({ run, command, result }: Pick<OtherWrite, 'run' | 'command' | 'result'>): string {
  return `run ${plainName(run)} (${command}) ${result === 'unknown' ? 'may have written' : 'has written'} the stock since`;
}

/** Groups writes by pet, each once, in the order of their intents. */
export function groupByPet(writes: readonly OtherWrite[]): Map<bigint, readonly OtherWrite[]> {
  const found = new Map<bigint, OtherWrite[]>();
  // A write whose request may be under way was found twice.
  for (const write of writes.toSorted((a, b) => a.intent - b.intent)) {
    const known = found.get(write.petId) ?? [];
    if (known.at(-1)?.intent !== write.intent) known.push(write);
    found.set(write.petId, known);
  }
  return found;
}
