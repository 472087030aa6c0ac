import type { PetNames } from '../inventory/bar-codes.ts';
import type { CountEvent, ScanQuestion } from '../inventory/count/counting.ts';
import type { Counted, CountMode, CountStep, Tally } from '../inventory/count/tally.ts';
import { counted, grouped, listed, signed } from '../inventory/items.ts';
import { isPlainName, singleLine } from '../shared/sanitize.ts';
import type { Paint } from './terminal.ts';
import { barred, barredName, padEnd, truncate, visibleWidth, wrap } from './text-width.ts';

export type CountSum = Pick<Tally, 'units' | 'pets' | 'unknownUnits' | 'scans'>;

export interface CountShow {
  readonly mode: CountMode;
  readonly names: PetNames;
}

interface CountShown extends CountShow {
  readonly sum: CountSum;
  readonly paint: Paint;
  readonly width: number;
}

/** Returns the kind of a count for messages: `a stock-take`. */
export function modeName(mode: CountMode): string {
  return {
    count: 'a stock-take',
    add: 'a count of units that came in, with --add',
    take: 'a count of units that went out, with --take',
  }[mode];
}

/** The line of help that is shown at the start. */
export const countHelp = 'Type - to cancel the last line, 42 x3 to count 3, done to end, help for more';

/** The lines that a count accepts, with their meanings. */
const countWords = [
  ['42', 'counts one unit of pet 42; a bar code or a name works, too'],
  ['42 x3', 'counts three units; so does 3*code, as a till takes it'],
  ['-', 'cancels the last line'],
  ['= 42 7', 'sets pet 42 to seven units in all'],
  ['= <code> 0', 'drops a code that has no pet'],
  ['Enter', 'shows the sum'],
  ['done', 'ends the count, like Ctrl-D'],
  ['Ctrl-C', 'stops; the file keeps each scan'],
] as const;

/** Number of columns that the prompt leaves free for typing. Longer input, such as a long id, wraps without harm. */
const typingRoom = 14;

const directions = { count: '', add: ' in', take: ' out' };

/** Returns `13 units, 8 pets, 1 unknown`; with `add` and `take`, `13 units in` and `13 units out`. */
export function sumText({ units, pets, unknownUnits }: CountSum, mode: CountMode = 'count'): string {
  const unknown = unknownUnits === 0 ? '' : `, ${grouped(unknownUnits)} unknown`;
  return `${counted(units, 'unit')}${directions[mode]}, ${counted(pets, 'pet')}${unknown}`;
}

/** Returns the prompt while counting: `13 units, 8 pets > `, or less of it on a narrow terminal. */
export function countPrompt(sum: CountSum, width: number, mode: CountMode): string {
  const unknown = sum.unknownUnits === 0 ? '' : ` (${grouped(sum.unknownUnits)} unknown)`;
  const shortest = `${grouped(sum.units)}${directions[mode]}`;
  const units = `${counted(sum.units, 'unit')}${directions[mode]}`;
  const texts = [sumText(sum, mode), units + unknown, shortest + unknown];
  const fitting = texts.find((text) => text.length + typingRoom <= width);
  return `${fitting ?? shortest} > `;
}

export function eventLines(event: CountEvent, shown: CountShown): readonly string[] {
  if (event.kind === 'word') return wordLines(event, shown);
  if (event.kind === 'asked') return questionLines(event.question, shown);
  if (event.kind !== 'help') return [eventText(event, shown)];
  return countWords.flatMap(([word, what]) => wrap(`${padEnd(word, 12)}${what}`, shown.width));
}

/**
 * Returns the text of an event, such as `42 Rex: 5 (+3)`. For the bar code of a pet without a name, the code comes
 * first. A code or a name is truncated so that the text has at most `width` columns, if possible; numbers keep all
 * digits.
 */
function eventText(
  event: Exclude<CountEvent, { kind: 'help' | 'word' | 'asked' }>,
  { sum, mode, names, paint, width }: CountShown,
): string {
  switch (event.kind) {
    case 'counted': {
      const { step, code } = event;
      const result = `: ${grouped(step.after)}${changeText(step)}`;
      const id = nameOf(step.what);
      if (petName(step.what, names) !== undefined) return petLine(step.what, result, names, width);
      return code === id ? id + result : withCode(code, ` = ${id}${result}`, width);
    }
    case 'unknown': {
      if (event.units === 0) return withCode(event.code, ': dropped', width);
      const units = `: ${grouped(event.units)} kept apart`;
      const long = `${units}, ${event.why}`;
      // If only one of them fits, it is the code, not the reason.
      const fits = visibleWidth(nameOf(event.code) + long) <= width;
      return paint.red(withCode(event.code, fits ? long : units, width));
    }
    case 'cancelled':
      return petLine(event.step.what, `: ${grouped(event.step.before ?? 0)} (cancelled)`, names, width);
    case 'nothingToCancel':
      return 'There is no line to cancel';
    case 'wrong':
      return paint.red(withCode(event.code, `: ignored, ${event.why}`, width));
    case 'unanswered':
      return paint.red(withCode(event.code, ': not answered, so not counted', width));
    case 'lineCancelled':
      return withCode(event.line, ': cancelled', width);
    default:
      return `${sumText(sum, mode)}, ${counted(sum.scans, 'scan')}`;
  }
}

/** Returns a question with a line for each choice: its key and what it means. */
function questionLines(
  { text, choices }: ScanQuestion,
  { paint, width }: Pick<CountShown, 'paint' | 'width'>,
): string[] {
  const asked = wrap(singleLine(text), width).map(paint.yellow);
  return [...asked, ...choices.flatMap(({ key, about }) => wrap(`  ${key}  ${singleLine(about)}`, width))];
}

/** Returns the message for a word that was not counted, with the pets that it may mean. */
function wordLines(
  { word, named, near }: Extract<CountEvent, { kind: 'word' }>,
  { names, width }: CountShown,
): readonly string[] {
  const pets = [...named, ...near];
  if (pets.length === 0) return [wordText(`'${word}'`, width)];
  const why =
    named.length > 0
      ? ` is in the names of ${counted(named.length, 'pet')}: not counted`
      : ': not counted. Did you mean:';
  const lines = listed(pets, (petId) => petLine(petId, '', names, width - 2), 5);
  return [withCode(`'${word}'`, why, width), ...lines.map((line) => `  ${line}`)];
}

/** Returns the message for a word that matches no name. If the line is too narrow, it leaves out the help. */
function wordText(word: string, width: number): string {
  const why = ' is not a pet or a code: not counted';
  const all = `${word}${why}. Type - to cancel a line, or help`;
  return visibleWidth(all) <= width ? all : withCode(word, why, width);
}

/** Returns the codes without a pet and their units, below a title, for the end of a count. */
export function unknownLines(unknowns: ReadonlyMap<string, number>, paint: Paint, width: number): string[] {
  const title = `Not counted, because no pet is known for ${unknowns.size === 1 ? 'it' : 'them'}:`;
  return [...wrap(title, width).map(paint.yellow), ...unknownRows(unknowns, paint, width)];
}

/**
 * Like `unknownLines`, without the title. Lists at most 50 codes. A code that is too long for a line is wrapped, and
 * has its units on the last line.
 * @param isQuoted whether the rows are shown with a bar in front of each
 */
export function unknownRows(
  unknowns: ReadonlyMap<string, number>,
  paint: Paint,
  width = Number.POSITIVE_INFINITY,
  isQuoted = false,
): string[] {
  const shown = [...unknowns].slice(0, maxShown);
  const room = Math.max(8, width - 12);
  const names = shown.map(([code, units]) => {
    const lines = wrap(singleLine(code), room);
    return {
      lines: isQuoted || (lines.length === 1 && isPlainName(code)) ? lines : barred(singleLine(code), room),
      units,
    };
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

const maxShown = 50;

export function nameOf(what: Counted): string {
  return typeof what === 'bigint' ? `${what}` : singleLine(what);
}

function petName(what: Counted, names: PetNames): string | undefined {
  return typeof what === 'bigint' ? names.get(what) : undefined;
}

/**
 * Returns `42 Rex: 5`; a name that could be mistaken for petstock's words comes last: `42: 5 │ Food: dry`. A name that
 * is too long is truncated.
 */
export function petLine(what: Counted, rest: string, names: PetNames, width: number): string {
  const id = nameOf(what);
  const name = petName(what, names);
  if (name === undefined) return withCode(id, rest, width);
  if (isPlainName(name)) return withCode(`${id} ${name}`, rest, width);
  return truncate(`${id}${rest}  ${barredName(name)}`, width);
}

function changeText({ before = 0, after }: CountStep): string {
  const change = after - before;
  return change === 0 || change === 1 ? '' : ` (${signed(change)})`;
}

/**
 * Appends text to a code. A code can be any text of any length: it is truncated if necessary, but the text after it
 * never is. A code that is not a plain name gets a bar in front.
 */
function withCode(code: string, rest: string, width: number): string {
  return truncate(barredName(code), Math.max(4, width - visibleWidth(rest))) + rest;
}
