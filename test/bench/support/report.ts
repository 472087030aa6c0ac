import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Results } from './rounds.ts';

/** The options of a benchmark. If a number is undefined, the benchmark chooses it. */
export interface Options {
  readonly isQuick: boolean;
  readonly rounds: number | undefined;
  readonly pets: number | undefined;
  readonly seed: number | undefined;
  /** Release lines of Node, such as `22,24`. */
  readonly nodes: string | undefined;
  /** The names of the contestants to run; undefined for all. */
  readonly only: readonly string[] | undefined;
}

export interface Report {
  /** The tables of the results, in Markdown. */
  readonly text: string;
  readonly goals: readonly Goal[];
}

export interface Goal {
  readonly what: string;
  readonly goal: string;
  readonly reached: string;
  /** Undefined if a part of the goal was not measured. */
  readonly isReached: boolean | undefined;
}

/** A measured number of a goal, as text. If the number is NaN, it was not measured. */
export interface Judged {
  readonly text: string;
  readonly isReached: boolean | undefined;
}

export function judged(value: number, text: string, isReached: boolean): Judged {
  return { text, isReached: Number.isNaN(value) ? undefined : isReached };
}

/** Judges a ratio that may be at most `limit`. */
export const atMost = (value: number, limit: number, of: string) =>
  judged(value, `${times(value)} ${of}`, value <= limit);
export const megabytes = (value: number, limit: number, of = '') =>
  judged(value, `${whole(value)} MB ${of}`.trim(), value <= limit);

/** Returns a goal that is reached if all its parts are. */
export function goalOf(what: string, goal: string, parts: readonly Judged[]): Goal {
  const verdicts = parts.map(({ isReached }) => isReached);
  const isReached = verdicts.includes(false) ? false : verdicts.includes(undefined) ? undefined : true;
  const isMeasured = verdicts.some((verdict) => verdict !== undefined);
  return { what, goal, reached: isMeasured ? parts.map(({ text }) => text).join('; ') : '-', isReached };
}

/** Returns the faults of our commands as parts of a goal, which is then not reached, however fast the commands are. */
export function faultsOf(results: Results, names: readonly string[]): Judged[] {
  return names.flatMap((name) => {
    const fault = results.get(name)?.fault;
    return fault === undefined ? [] : [{ text: `${name}: ${oneLine(fault)}`, isReached: false }];
  });
}

/** Returns a ratio as text: `1.25 x`, or a dash for NaN. */
export function times(value: number): string {
  return Number.isNaN(value) ? '-' : `${value.toFixed(value < 10 ? 2 : 1)} x`;
}

export function whole(value: number): string {
  return Number.isNaN(value) ? '-' : value.toFixed(0);
}

/**
 * Returns the table of the results, each beside the contestants named in `bases`.
 * @param unit the unit of the times
 */
export function resultTable(title: string, results: Results, bases: readonly string[], unit: 's' | 'ms' = 's'): string {
  const [first = ''] = bases;
  const time = (ms: number) => (Number.isNaN(ms) ? '-' : unit === 's' ? (ms / 1000).toFixed(2) : ms.toFixed(1));
  const rows = [...results.values()].map(({ name, fault }) => [
    name,
    time(results.median(name, 'ms')),
    ...bases.map((base) => times(results.ratio(name, base))),
    time(results.median(name, 'cpuMs')),
    times(results.ratio(name, first, 'cpuMs')),
    whole(results.median(name, 'peakMb')),
    fault === undefined ? 'yes' : `no: ${oneLine(fault)}`,
  ]);
  const head = ['', unit, ...bases.map((base) => `of ${base}`), `CPU ${unit}`, 'CPU', 'peak MB', 'right'];
  const rounds = Math.max(...Array.from(results.values(), ({ samples }) => samples.length));
  return `${title}, medians of ${rounds} interleaved rounds; CPU of ${first}:\n\n${table([head, ...rows])}\n`;
}

export function goalTable(goals: readonly Goal[]): string {
  return table([['what', 'goal', 'measured'], ...goals.map(goalCells)]);
}

/**
 * Writes each goal into the row of `docs/performance.md` whose first cell is the same.
 * @throws Error if there is no such row
 */
export function writeGoals(goals: readonly Goal[]): void {
  const file = fileURLToPath(new URL('../../../docs/performance.md', import.meta.url));
  let document = readFileSync(file, 'utf8');
  for (const goal of goals) {
    const row = new RegExp(`^\\| ${goal.what.replaceAll(/[^\w ,]/g, '\\$&')} \\|.*$`, 'm');
    if (!row.test(document)) throw new Error(`docs/performance.md has no place for ${goal.what}`);
    document = document.replace(row, () => markdownCells(goalCells(goal)));
  }
  writeFileSync(file, document);
}

/** Returns the cells of a row. A goal that was missed is in bold. */
function goalCells({ what, goal, reached, isReached }: Goal): string[] {
  return [what, goal, isReached === false ? `**${reached}**` : reached];
}

const oneLine = (fault: string) => fault.replaceAll(/\s+/g, ' ').slice(0, 120);

/**
 * Returns a table in Markdown. The first row is the head. Columns whose other cells all look like numbers are aligned
 * to the right.
 */
export function table(rows: readonly (readonly string[])[]): string {
  const [head = [], ...body] = rows;
  const columns = head.map((_, column) => ({
    width: Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)),
    isNumber: body.every((row) => /^-?[\d.,]*( x)?$/.test(row[column] ?? '')),
  }));
  const line = (cells: readonly string[]) =>
    columns.map(({ width, isNumber }, at) => cells[at]?.[isNumber ? 'padStart' : 'padEnd'](width) ?? '');
  const rule = columns.map(({ width, isNumber }) => (isNumber ? ':' : '-').padStart(width, '-'));
  return [line(head), rule, ...body.map(line)].map((cells) => `${markdownCells(cells)}\n`).join('');
}

/** Returns one row of a table in Markdown. */
function markdownCells(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
