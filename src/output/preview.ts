import type { PetNames } from '../inventory/bar-codes.ts';
import { type BulkRow, isIdle } from '../inventory/change.ts';
import { counted, grouped, signed } from '../inventory/items.ts';
import { type PlanTotals, planTotals } from '../inventory/plan.ts';
import { type Target, targetName } from '../shared/hint.ts';
import { isPlainName, singleLine } from '../shared/sanitize.ts';
import { differenceOf, nameColumn } from './columns.ts';
import { countsSentence, problemText, resultCell } from './report-view.ts';
import { tableLines } from './table.ts';
import type { Paint } from './terminal.ts';
import { wrap } from './text-width.ts';
import type { Column, View } from './view.ts';

export interface PreviewOptions {
  readonly paint: Paint;
  /** Characters per line; infinite if there is no terminal. */
  readonly width: number;
  readonly estimate?: string | undefined;
  /** Whether a question follows that contains the changes, units and zeros, so that they are not shown twice. */
  readonly isAsked?: boolean | undefined;
  /** The store's names of pets. They come last and are truncated first; undefined if there are none. */
  readonly names?: PetNames | undefined;
}

export const previewedRows = 20;
/** Maximum number of notable rows in the preview, if there are enough ordinary rows. */
const maxNotable = 10;

/**
 * Returns a plan for a person who must confirm it, line by line: `42 7 → 12 (+5)` for each row to write, conflicts and
 * failures with their reason; then the number of changes, units, rows that go to 0 and below, requests and time. Rows
 * that need no change are only counted. A plan of a single change has no counts. At most 20 rows of a plan are shown.
 *
 * A reason that does not fit goes below its row; numbers are never truncated.
 */
export async function previewLines(
  rows: readonly BulkRow[],
  { paint, width, estimate, isAsked, names }: PreviewOptions,
): Promise<string[]> {
  const changing = rows.filter((row) => !isIdle(row));
  const shown = chooseRows(changing);
  const rest = changing.length - shown.length;
  const room = Number.isFinite(width) ? width : undefined;
  const lines = await tableLines(planView(shown, names, width), { header: false, width: room, paint });
  if (rest > 0) lines.push(paint.dim(`… and ${grouped(rest)} more`));
  const totals = planTotals(rows);
  const zeros = isAsked ? '' : zeroText(rows).trimEnd();
  const zero = zeros === '' ? [] : wrap(zeros, width).map((part) => paint.bold(paint.yellow(part)));
  if (rows.length === 1 && changing.length === 1) return [...lines, ...zero];
  const counts = isAsked && totals.changes === rows.length ? [] : [countsSentence(rows)];
  const units = isAsked ? '' : unitsText(totals).trimEnd();
  const facts = [...counts, ...(units === '' ? [] : [units])].flatMap((line) => wrap(line, width));
  const cost = estimate === undefined ? [] : wrap(`${singleLine(estimate)}.`, width);
  return [...lines, ...facts, ...zero, ...cost];
}

/**
 * Chooses the rows to preview, in the order of the plan. Conflicts, failures and stocks of zero or below are preferred,
 * but leave room for ordinary rows.
 */
function chooseRows(rows: readonly BulkRow[]): readonly BulkRow[] {
  if (rows.length <= previewedRows) return rows;
  const isNotable = ({ result, after }: BulkRow) => result !== 'planned' || (after !== undefined && after <= 0);
  const notable = rows.filter(isNotable);
  const ordinary = rows.filter((row) => !isNotable(row));
  const some = notable.slice(0, Math.max(maxNotable, previewedRows - ordinary.length));
  const picked = new Set([...some, ...ordinary.slice(0, previewedRows - some.length)]);
  return rows.filter((row) => picked.has(row));
}

/** With fewer columns than this, numbers have no separators. */
const narrow = 60;

/**
 * Returns the rows as a table without titles: pet, stock before and after, the change (or the result with its reason,
 * for a row that is not written), and the name.
 */
function planView(rows: readonly BulkRow[], names: PetNames | undefined, width: number): View {
  const isNarrow = width < narrow;
  const shortened = (text: string) => (isNarrow ? text.replaceAll(',', '') : text);
  const stockText = (stock: number | undefined) => (stock === undefined ? '?' : shortened(grouped(stock)));
  const widest = (side: 'before' | 'after') => Math.max(0, ...rows.map((row) => stockText(row[side]).length));
  const [before, after] = [widest('before'), widest('after')];
  const stockCell: Column['cell'] = (stock, { goesTo }, paint) =>
    typeof goesTo === 'number' && goesTo <= 0
      ? `${stock}`.replace(/\S+$/, (zero) => paint.bold(paint.yellow(zero)))
      : `${stock}`;
  const changeCell: Column['cell'] = (change, row, paint) => {
    if (typeof change !== 'bigint') return resultCell(change, row, paint);
    return (change > 0n ? paint.green : paint.red)(`(${shortened(signed(change))})`);
  };
  return {
    shape: 'list',
    columns: [
      // An id is followed by three spaces, including the gap, if there is room: a fixed part of the format.
      { field: 'petId', title: '', align: 'right', cell: (petId) => (isNarrow ? `${petId}` : `${petId} `) },
      { field: 'stock', title: '', whole: true, cell: stockCell },
      { field: 'change', title: '', whole: true, cell: changeCell },
      { field: 'fault', title: '', foreign: 'name', under: true },
      nameColumn,
    ],
    rows: [
      rows.map((row) => {
        const stock = `${stockText(row.before).padStart(before)} → ${stockText(row.after).padStart(after)}`;
        const facts = { petId: row.petId, stock, name: names?.get(row.petId) ?? null };
        return row.result === 'planned'
          ? { ...facts, change: differenceOf(row.before, row.after), goesTo: row.after ?? null }
          : { ...facts, change: row.result, fault: problemText(row) ?? null };
      }),
    ],
  };
}

/** The parts of a question about a plan, besides the plan itself. */
export interface Intention {
  readonly verb: 'Write' | 'Undo';
  /**
   * A clause about an earlier run of the same file, such as `stock.csv was applied at 02:03 by run x7k2`. The question
   * then reads `Apply … AGAIN?`, followed by this clause.
   */
  readonly earlier?: string | undefined;
  /** Further facts, as clauses: `as it was before run x7k2`. */
  readonly facts?: readonly string[] | undefined;
  /**
   * Text of other people. It is quoted above the question, because in the question it could be mistaken for petstock's
   * words.
   */
  readonly words?: readonly string[] | undefined;
}

export interface PlanQuestion {
  /** The question, with the target, the number of changes and units, and anything unusual. */
  readonly question: string;
  /** Text that must not be in the question because it could be mistaken for petstock's words: a reason, a name. */
  readonly words: readonly string[];
}

export function planQuestion(
  rows: readonly BulkRow[],
  target: Target,
  intention: Intention,
  names?: PetNames,
): PlanQuestion {
  const planned = rows.filter(({ result }) => result === 'planned');
  const [only] = planned;
  const { words = [] } = intention;
  const facts = (intention.facts ?? []).map((fact) => `, ${fact}`).join('');
  if (planned.length === 1 && only !== undefined && intention.earlier === undefined) {
    const ask = intention.verb === 'Write' ? 'Write this change?' : 'Undo this change?';
    const name = names?.get(only.petId) ?? '';
    const isPlain = isPlainName(name);
    const question = `${onePet(only, target, isPlain ? name : '')}${facts}. ${zeroText(planned)}${ask}`;
    return { question, words: isPlain ? words : [...words, name] };
  }
  const targetText = targetName(target);
  const changes = counted(planned.length, 'change');
  const what =
    intention.earlier !== undefined
      ? `Apply ${changes} to ${targetText} AGAIN? ${intention.earlier}.`
      : `${intention.verb} ${changes} ${intention.verb === 'Write' ? 'to' : 'in'} ${targetText}${facts}?`;
  return { question: `${what} ${unitsText(planTotals(planned))}${zeroText(planned)}`.trimEnd(), words };
}

/** Returns `Units: 8 added, 3 removed. `, without parts that are 0. */
function unitsText({ added, removed }: PlanTotals): string {
  const some = (units: bigint, verb: string) => (units === 0n ? [] : [`${grouped(units)} ${verb}`]);
  const parts = [...some(added, 'added'), ...some(removed, 'removed')];
  return parts.length === 0 ? '' : `Units: ${parts.join(', ')}. `;
}

/**
 * Returns `Pet 4 Rex in staging: 39 → 12 (-27)`.
 * @param name a plain name
 */
export function onePet({ petId, before, after }: BulkRow, target: Target, name = ''): string {
  const targetText = `Pet ${`${petId} ${name}`.trimEnd()} in ${targetName(target)}`;
  if (before === undefined || after === undefined) return `${targetText}: ? → ${after ?? '?'}`;
  return `${targetText}: ${grouped(before)} → ${grouped(after)} (${signed(BigInt(after) - BigInt(before))})`;
}

function zeroText(rows: readonly BulkRow[]): string {
  const { toZero, belowZero } = planTotals(rows);
  if (rows.length === 1) return belowZero > 0 ? 'That is BELOW ZERO. ' : toZero > 0 ? 'That is zero. ' : '';
  const parts = [
    ...(toZero > 0 ? [`${counted(toZero, 'pet')} to 0`] : []),
    ...(belowZero > 0 ? [`${counted(belowZero, 'pet')} BELOW ZERO`] : []),
  ];
  return parts.length === 0 ? '' : `${parts.join(', ')}. `;
}
