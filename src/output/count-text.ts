import type { Counted, CountStep } from '../inventory/count/tally.ts';
import { grouped } from '../inventory/grouped.ts';
import { singleLine } from '../shared/sanitize.ts';
import { counted } from './change-rows.ts';
import type { Paint } from './paint.ts';
import { padEnd, truncate, visibleWidth, wrap } from './text-width.ts';

/** What a count has come to. */
export interface CountSum {
  readonly units: number;
  readonly pets: number;
  readonly unknownUnits: number;
  /** Lines that count. */
  readonly scans: number;
}

/** What came of one line. */
export type CountEvent =
  | { readonly kind: 'counted'; readonly code: string; readonly step: CountStep }
  | { readonly kind: 'unknown'; readonly code: string; readonly why: string; readonly units: number }
  | { readonly kind: 'takenBack'; readonly step: CountStep }
  | { readonly kind: 'nothingToTakeBack' }
  /** A person has typed `quit`, or the like. */
  | { readonly kind: 'help' }
  | { readonly kind: 'sum' };

/** Room for what is typed after the prompt: an id of 19 digits would break it onto the next line, and nothing is lost by that. */
const typingRoom = 14;

/** `13 units, 8 pets, 1 unknown` */
export function sumText({ units, pets, unknownUnits }: CountSum): string {
  const unknown = unknownUnits === 0 ? '' : `, ${grouped(unknownUnits)} unknown`;
  return `${counted(units, 'unit')}, ${counted(pets, 'pet')}${unknown}`;
}

/** What stands before the cursor while a person counts: `13 units, 8 pets > `, or less of it on a narrow terminal. */
export function countPrompt(sum: CountSum, width: number): string {
  const unknown = sum.unknownUnits === 0 ? '' : ` (${grouped(sum.unknownUnits)} unknown)`;
  const texts = [sumText(sum), `${counted(sum.units, 'unit')}${unknown}`, `${grouped(sum.units)}${unknown}`];
  const fitting = texts.find((text) => text.length + typingRoom <= width);
  return `${fitting ?? grouped(sum.units)} > `;
}

/** `42: 5 (+3)`, with the bar code in front where it was one; at most `width` columns, and no digit of a number is cut. */
export function eventText(event: CountEvent, sum: CountSum, paint: Paint, width: number): string {
  switch (event.kind) {
    case 'counted': {
      const { step, code } = event;
      const result = `${nameOf(step.what)}: ${grouped(step.after)}${changeText(step)}`;
      return code === nameOf(step.what) ? result : withCode(code, ` = ${result}`, width);
    }
    case 'unknown': {
      if (event.units === 0) return withCode(event.code, ': dropped', width);
      const units = `: ${grouped(event.units)} kept apart`;
      const long = `${units}, ${event.why}`;
      // The code matters more than why it is unknown.
      const fits = visibleWidth(nameOf(event.code) + long) <= width;
      const shown = withCode(event.code, fits ? long : units, width);
      return paint.red(shown);
    }
    case 'takenBack':
      return withCode(nameOf(event.step.what), `: ${grouped(event.step.before)} (taken back)`, width);
    case 'nothingToTakeBack':
      return 'There is nothing to take back';
    case 'help':
      return 'done ends the count; Ctrl-C keeps it';
    default:
      return `${sumText(sum)} in ${counted(sum.scans, 'scan')}`;
  }
}

/** Codes that stand for no pet, with their units, for the end of a count. */
export function unknownLines(unknowns: ReadonlyMap<string, number>, paint: Paint, width: number): string[] {
  const title = `Not counted, since no pet is known for ${unknowns.size === 1 ? 'it' : 'them'}:`;
  return [...wrap(title, width).map(paint.yellow), ...unknownRows(unknowns, paint, width)];
}

/** As `unknownLines`, without the title. What is too long for one line is broken between words, and keeps its units in the last. */
export function unknownRows(unknowns: ReadonlyMap<string, number>, paint: Paint, width: number): string[] {
  const shown = [...unknowns].slice(0, mostShown);
  const room = Math.max(8, width - 12);
  const names = shown.map(([code, units]) => {
    const lines = width === Number.POSITIVE_INFINITY ? [singleLine(code)] : wrap(singleLine(code), room);
    return { lines: lines.map((line) => truncate(line, room)), units };
  });
  const nameWidth = names.reduce((most, { lines }) => Math.max(most, ...lines.map(visibleWidth)), 0);
  const rest = unknowns.size - shown.length;
  return [
    ...names.flatMap(({ lines, units }) => {
      return [
        ...lines.slice(0, -1).map((line) => `  ${line}`),
        `  ${padEnd(lines.at(-1) ?? '', nameWidth)}  ${grouped(units)}`,
      ];
    }),
    ...(rest > 0 ? [paint.dim(`  … and ${grouped(rest)} more`)] : []),
  ];
}

const mostShown = 50;

export function nameOf(what: Counted): string {
  return typeof what === 'bigint' ? `${what}` : singleLine(what);
}

function changeText({ before, after }: CountStep): string {
  const change = after - before;
  if (change === 1) return '';
  return change < 0 ? ` (${grouped(change)})` : ` (+${grouped(change)})`;
}

/** A code may be anything, and long: it is cut where it has to be, and what follows it never. */
function withCode(code: string, rest: string, width: number): string {
  return truncate(singleLine(code), Math.max(4, width - visibleWidth(rest))) + rest;
}
