import type { PetNames } from '../inventory/bar-codes.ts';
import { grouped } from '../inventory/items.ts';
import type { Difference } from '../inventory/stock-list.ts';
import { stockRemark } from './inventory-view.ts';
import type { Paint } from './terminal.ts';
import { foreignName, truncate, visibleWidth } from './text-width.ts';
import { isoTime, localTime } from './time.ts';
import { plainColumns, type Row, type View } from './view.ts';

/** Changes that one look has found, and when: milliseconds since the Unix epoch. */
export interface SeenFacts {
  readonly at: number;
  readonly changes: readonly Difference[];
  /** They are no changes: the pets that were there at first. */
  readonly isPresent: boolean;
}

/**
 * Returns changes as they are seen, a row each: `{"at","petId","before","after","status","change"}`, with `statusBefore` if the status has
 * changed and `name` if there is one. A quantity is null for a pet that was or is not there.
 */
export function seenChangesView({ at, changes, isPresent }: SeenFacts, names: PetNames | undefined): View {
  const rows = [changes.map((change) => toRow(at, change, isPresent, names?.get(change.petId)))];
  return {
    shape: 'list',
    columns: plainColumns(names === undefined ? fields : [...fields, 'name']),
    rows,
    document: { head: undefined, rows },
  };
}

function toRow(at: number, { petId, change, left, right }: Difference, isPresent: boolean, name?: string): Row {
  const [before, after] = [left?.quantity ?? null, right?.quantity ?? null];
  const status = (right ?? left)?.status ?? '';
  return {
    ...{ at: isoTime(at), petId, before, after, status, change: isPresent ? 'now' : change },
    ...(left !== undefined && left.status !== status && { statusBefore: left.status }),
    ...(name !== undefined && { name }),
  };
}

const fields = ['at', 'petId', 'before', 'after', 'status', 'change', 'statusBefore'];

/** Stands above the lines for a person. */
export const watchHeading = 'Time      Pet  Stock';

/**
 * Returns the same for a person, a line each: `14:02:11  4  39 → 3  (-36)  low  available  Rex`. What is more than a name has a
 * bar in front of it, and is cut at the end of the line.
 */
export function seenChangesLines(
  { at, changes, isPresent }: SeenFacts,
  names: PetNames | undefined,
  { lowStock, width, paint }: { readonly lowStock: number; readonly width: number; readonly paint: Paint },
): string[] {
  const time = paint.dim(localTime(at));
  return changes.map((change) => {
    const { petId, right } = change;
    const remark = right === undefined ? '' : stockRemark(right, lowStock, paint);
    const parts = [
      time,
      paint.bold(`${petId}`),
      ...stockWords(change, isPresent, paint),
      ...(remark === '' ? [] : [remark]),
    ];
    for (const text of [...statusWords(change), names?.get(petId)]) {
      if (text === undefined) continue;
      parts.push(truncate(foreignName(text), Math.max(8, width - visibleWidth(parts.join('  ')) - 2)));
    }
    return parts.join('  ');
  });
}

function stockWords({ change, left, right }: Difference, isPresent: boolean, paint: Paint): string[] {
  if (right === undefined) return [left === undefined ? '' : grouped(left.quantity), paint.red(change)];
  if (isPresent) return [grouped(right.quantity)];
  const word = change === 'added' ? [paint.green(change)] : [];
  const by = left === undefined ? 0n : BigInt(right.quantity) - BigInt(left.quantity);
  if (left === undefined || by === 0n) return [grouped(right.quantity), ...word];
  const difference = by > 0n ? paint.green(`(+${grouped(by)})`) : paint.red(`(${grouped(by)})`);
  return [`${grouped(left.quantity)} → ${grouped(right.quantity)}`, difference, ...word];
}

function statusWords({ left, right }: Difference): string[] {
  const status = (right ?? left)?.status ?? '';
  return left === undefined || right === undefined || left.status === status
    ? [status]
    : [`${left.status} → ${status}`];
}
