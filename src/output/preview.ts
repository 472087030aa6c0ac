import type { PetNames } from '../inventory/bar-codes.ts';
import { type BulkRow, isIdle } from '../inventory/change.ts';
import { counted, grouped } from '../inventory/items.ts';
import { type PlanTotals, planTotals } from '../inventory/plan.ts';
import { isPlainName, singleLine } from '../shared/sanitize.ts';
import { type Where, whereName } from '../shared/where.ts';
import { countsSentence, faultText, resultCell } from './change-rows.ts';
import type { Paint } from './terminal.ts';
import { foreignName, padStart, truncate, visibleWidth, wrap } from './text-width.ts';

export interface PreviewOptions {
  readonly paint: Paint;
  /** Characters that fit on a line; infinite if there is no terminal. */
  readonly width: number;
  readonly estimate?: string | undefined;
  /** A question follows, which has the changes, units and zeros in it: they are not shown twice. */
  readonly isAsked?: boolean | undefined;
  /** The shop's names of pets, if it has any: they go last, and are cut first. */
  readonly names?: PetNames | undefined;
}

export const previewedRows = 20;
/** At most so many of them because they deserve a look. */
const mostNotable = 10;

/**
 * A plan for a person who is about to say yes, line by line: `42   7 → 12  (+5)` for each row that is written, conflicts
 * and failures with their reason; then how many, units, rows that go to 0 and below, requests and time. Rows that need no change are
 * only counted, and of a single row there is nothing to count. Of a long plan some rows are shown, in their order, first of all some that deserve a look.
 *
 * Where a line is wider than the terminal its reason is cut; numbers never are.
 */
export function previewLines(
  rows: readonly BulkRow[],
  { paint, width, estimate, isAsked, names }: PreviewOptions,
): string[] {
  const changing = rows.filter((row) => !isIdle(row));
  const shown = chosen(changing);
  const rest = changing.length - shown.length;
  const lines = rowLines(shown, paint, width).map((line, index) => withName(line, shown[index], names, width));
  if (rest > 0) lines.push(paint.dim(`… and ${grouped(rest)} more`));
  const totals = planTotals(rows);
  const zeros = isAsked ? [] : zeroLine(totals);
  const zero = zeros.flatMap((line) => wrap(line, width).map((part) => paint.bold(paint.yellow(part))));
  // One row has nothing to count.
  if (rows.length === 1 && changing.length === 1) return [...lines, ...zero];
  const counts = isAsked && totals.changes === rows.length ? [] : [countsSentence(rows)];
  const units = isAsked ? '' : unitsText(totals).trimEnd();
  const facts = [...counts, ...(units === '' ? [] : [units])].flatMap((line) => wrap(line, width));
  const cost = estimate === undefined ? [] : wrap(`${singleLine(estimate)}.`, width);
  return [...lines, ...facts, ...zero, ...cost];
}

function withName(line: string, row: BulkRow | undefined, names: PetNames | undefined, width: number): string {
  const name = row && names?.get(row.petId);
  const room = width - visibleWidth(line) - 2;
  return name === undefined || room < 4 ? line : `${line}  ${truncate(foreignName(name), room)}`;
}

/** Returns some rows, in the order of the plan: first of all those that deserve a look, but with room for ordinary ones. */
function chosen(rows: readonly BulkRow[]): readonly BulkRow[] {
  if (rows.length <= previewedRows) return rows;
  const isNotable = ({ result, after }: BulkRow) => result !== 'planned' || (after !== undefined && after <= 0);
  const notable = rows.filter(isNotable);
  const ordinary = rows.filter((row) => !isNotable(row));
  const some = notable.slice(0, Math.max(mostNotable, previewedRows - ordinary.length));
  const picked = new Set([...some, ...ordinary.slice(0, previewedRows - some.length)]);
  return rows.filter((row) => picked.has(row));
}

/** Columns aligned over these rows, with less space between them if the terminal is narrow. */
function rowLines(rows: readonly BulkRow[], paint: Paint, width: number): string[] {
  const lines = linesWith(rows, paint, width, grouped);
  return lines.every((line) => visibleWidth(line) <= width) ? lines : linesWith(rows, paint, width, String);
}

/** @param numberText groups its digits, or not if the terminal is too narrow for that */
function linesWith(rows: readonly BulkRow[], paint: Paint, width: number, numberText: NumberText): string[] {
  const cells = rows.map((row) => ({
    row,
    id: `${row.petId}`,
    before: stockText(row.before, numberText),
    after: stockText(row.after, numberText),
    remark: remarkOf(row, paint, numberText),
  }));
  const idWidth = widest(cells.map(({ id }) => id));
  const beforeWidth = widest(cells.map(({ before }) => before));
  const afterWidth = widest(cells.map(({ after }) => after));
  const changeWidth = widest(cells.filter(({ row }) => row.result === 'planned').map(({ remark }) => remark));
  const numbersWidth = idWidth + beforeWidth + arrow.length + afterWidth;
  const [gap, remarkGap] = numbersWidth + changeWidth + 5 <= width ? ['   ', '  '] : [' ', ' '];
  const room = width - numbersWidth - gap.length - remarkGap.length;
  return cells.map(({ row, id, before, after, remark }) => {
    const stock = `${padStart(before, beforeWidth)}${arrow}${padStart(stockPaint(row, after, paint), afterWidth)}`;
    const shown = row.result === 'planned' ? remark : truncate(remark, Math.max(0, room));
    return `${padStart(id, idWidth)}${gap}${stock}${remarkGap}${shown}`.trimEnd();
  });
}

const arrow = ' → ';

function widest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, visibleWidth(text)), 0);
}

type NumberText = (value: number | bigint) => string;

function stockText(stock: number | undefined, numberText: NumberText): string {
  return stock === undefined ? '?' : numberText(stock);
}

function stockPaint({ result, after }: BulkRow, text: string, paint: Paint): string {
  return result === 'planned' && after !== undefined && after <= 0 ? paint.bold(paint.yellow(text)) : text;
}

/** Returns the text after the stock: by how much it changes, or why it does not. */
function remarkOf(row: BulkRow, paint: Paint, numberText: NumberText): string {
  const { result, before, after } = row;
  if (result !== 'planned') {
    const fault = faultText(row);
    return `${resultCell(result, {}, paint)}${fault === undefined ? '' : `: ${singleLine(fault)}`}`;
  }
  if (before === undefined || after === undefined) return '';
  const difference = BigInt(after) - BigInt(before);
  return difference > 0n ? paint.green(`(+${numberText(difference)})`) : paint.red(`(${numberText(difference)})`);
}

/** `2 pets go to 0. 1 pet goes below 0.` */
function zeroLine({ toZero, belowZero }: PlanTotals): string[] {
  const go = (count: number, where: string) =>
    count === 0 ? [] : [`${counted(count, 'pet')} ${count === 1 ? 'goes' : 'go'} ${where} 0.`];
  const parts = [...go(toZero, 'to'), ...go(belowZero, 'below')];
  return parts.length === 0 ? [] : [parts.join(' ')];
}

/** The verb of a command in its question. */
export interface Intention {
  readonly verb: 'Write' | 'Take back';
  /** Anything unusual about it: `stock.csv was applied at 02:03 by run x7k2`. The question then says that it is a second time. */
  readonly earlier?: string | undefined;
  /** Other facts to know, as clauses: `as it was before run x7k2`. */
  readonly facts?: readonly string[] | undefined;
}

export interface PlanQuestion {
  /** With all that is at stake in it: the store, how many changes and units, what is unusual. */
  readonly question: string;
  /** A name that can't stand in the question, since it could be taken for our words. */
  readonly words: readonly string[];
}

/** Returns the question about a plan. */
export function planQuestion(
  rows: readonly BulkRow[],
  where: Where,
  intention: Intention,
  names?: PetNames,
): PlanQuestion {
  const planned = rows.filter(({ result }) => result === 'planned');
  const [only] = planned;
  const facts = (intention.facts ?? []).map((fact) => `, ${fact}`).join('');
  if (planned.length === 1 && only !== undefined && intention.earlier === undefined) {
    const ask = intention.verb === 'Write' ? 'Write it?' : 'Take it back?';
    const name = names?.get(only.petId) ?? '';
    const isPlain = isPlainName(name);
    const question = `${onePet(only, where, isPlain ? name : '')}${facts}. ${zeroText(planned)}${ask}`;
    return { question, words: isPlain ? [] : [name] };
  }
  const place = whereName(where);
  const changes = counted(planned.length, 'change');
  const what =
    intention.earlier !== undefined
      ? `Add ${changes} to ${place} a SECOND time? ${intention.earlier}.`
      : `${intention.verb} ${changes} ${intention.verb === 'Write' ? 'to' : 'in'} ${place}${facts}?`;
  return { question: `${what} ${unitsText(planTotals(planned))}${zeroText(planned)}`.trimEnd(), words: [] };
}

/** `Units: 8 added, 3 removed. `: only what there is. */
function unitsText({ added, removed }: PlanTotals): string {
  const some = (units: bigint, verb: string) => (units === 0n ? [] : [`${grouped(units)} ${verb}`]);
  const parts = [...some(added, 'added'), ...some(removed, 'removed')];
  return parts.length === 0 ? '' : `Units: ${parts.join(', ')}. `;
}

/** `Pet 4 Rex in staging: 39 → 12 (-27)` @param name that is plain */
export function onePet({ petId, before, after }: BulkRow, where: Where, name = ''): string {
  const place = `Pet ${`${petId} ${name}`.trimEnd()} in ${whereName(where)}`;
  if (before === undefined || after === undefined) return `${place}: ? → ${after ?? '?'}`;
  const change = BigInt(after) - BigInt(before);
  return `${place}: ${grouped(before)} → ${grouped(after)} (${change < 0n ? '' : '+'}${grouped(change)})`;
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
