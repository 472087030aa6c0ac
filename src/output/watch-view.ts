import type { Difference } from '../inventory/differences.ts';
import { singleLine } from '../shared/sanitize.ts';
import { numberColumn as number } from './change-rows.ts';
import type { Paint } from './paint.ts';
import { isoTime, localTime } from './time.ts';
import type { Column, Row, View } from './view.ts';

/** Changes that were seen in one look, and when: milliseconds since the Unix epoch. */
export interface SeenFacts {
  readonly at: number;
  readonly changes: readonly Difference[];
}

/**
 * Changes as they are seen, a row each: `{"at","petId","before","after","status","change"}`, null for a quantity of a pet that was or
 * is not there. Each look is a batch of its own.
 * @param source can be read once
 */
export function seenChangesView(source: AsyncIterable<SeenFacts>): View {
  return { shape: 'list', columns, rows: rowsOf(source) };
}

async function* rowsOf(source: AsyncIterable<SeenFacts>): AsyncGenerator<readonly Row[]> {
  for await (const { at, changes } of source) yield changes.map((change) => toRow(at, change));
}

function toRow(at: number, { petId, change, left, right }: Difference): Row {
  const [before, after] = [left?.quantity ?? null, right?.quantity ?? null];
  return { at: isoTime(at), petId, before, after, status: (right ?? left)?.status ?? '', change };
}

const columns: readonly Column[] = [
  { field: 'at', title: 'At' },
  number('petId', 'Pet ID'),
  number('before', 'Before'),
  number('after', 'After'),
  { field: 'status', title: 'Status' },
  { field: 'change', title: 'Change' },
];

/** The same for a person, a line each: `14:02:11  4  39 → 37  (-2)  available`. */
export function seenChangesLines({ at, changes }: SeenFacts, paint: Paint): string[] {
  const time = paint.dim(localTime(at));
  return changes.map((change) => `${time}  ${paint.bold(`${change.petId}`)}  ${whatChanged(change, paint)}`);
}

function whatChanged({ change, left, right }: Difference, paint: Paint): string {
  const status = singleLine((right ?? left)?.status ?? '');
  if (left === undefined) return `${right?.quantity ?? ''}  ${paint.green(change)}  ${status}`;
  if (right === undefined) return `${left.quantity}  ${paint.red(change)}  ${status}`;
  const by = BigInt(right.quantity) - BigInt(left.quantity);
  const stock =
    by === 0n
      ? `${right.quantity}`
      : `${left.quantity} → ${right.quantity}  ${by > 0n ? paint.green(`(+${by})`) : paint.red(`(${by})`)}`;
  return `${stock}  ${left.status === right.status ? status : `${singleLine(left.status)} → ${paint.yellow(status)}`}`;
}
