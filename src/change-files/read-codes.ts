import type { BarCodes } from '../inventory/bar-codes.ts';
import { codeProblem, codeText } from '../inventory/count/scan-line.ts';
import { parseQuantity } from '../inventory/items.ts';
import { type Parsed, problem, quoted } from '../shared/parsed.ts';
import { bareNumber, readPetId } from './cell-values.ts';
import { type CsvRecord, csvRecords } from './csv-records.ts';
import { fieldOf } from './field-names.ts';
import { type FileProblems, ProblemList, withinFile } from './problems.ts';
import { readText } from './text.ts';

export type CodesFile =
  | { readonly ok: true; readonly codes: BarCodes; readonly layout: CodesLayout }
  | ({ readonly ok: false } & FileProblems);

/** The indexes of columns; -1 for a column that the file does not have. */
interface CodeColumns {
  readonly code: number;
  readonly petId: number;
  readonly name: number;
  readonly low: number;
}

/** The format of lines to append to the file. */
export interface CodesLayout {
  readonly columns: CodeColumns;
  /** Number of columns, including unused ones. */
  readonly width: number;
  readonly delimiter: string;
  /** Whether the last line has a line end. */
  readonly isEnded: boolean;
}

/** A code of a pet (empty if only the name is new), and the pet's name if that is to be written, too. */
export interface NewCode {
  readonly code: string;
  readonly petId: bigint;
  readonly name?: string | undefined;
}

/**
 * Reads CSV or TSV with the columns `code`, `petId` and optionally `name` and `low`, in any order; other columns are
 * ignored. A code is text: `007` differs from `7`. A pet may have several codes, or only a name or a level. If it has
 * several names or levels, the first counts.
 * @throws the errors of `source`
 */
export async function readCodes(source: AsyncIterable<Uint8Array>): Promise<CodesFile> {
  const problems = new ProblemList();
  const codes: CodeLines = { pets: new Map(), names: new Map(), lows: new Map(), lines: new Map() };
  let columns: CodeColumns | 'awaited' | 'useless' = 'awaited';
  let [width, delimiter, isEnded] = [0, ',', true];
  const { text, fault } = await readText(source);
  withinFile(problems, () => {
    for (const record of csvRecords(text, { knows: (name) => fieldOf(name) !== undefined })) {
      isEnded = record.ended;
      if (record.cells.every((cell) => cell.trim() === '')) continue;
      if (columns === 'awaited') {
        columns = readHeader(record, problems) ?? 'useless';
        [width, delimiter] = [record.cells.length, record.delimiter];
      } else if (columns !== 'useless') readCode(record, columns, codes, problems);
    }
  });
  if (fault !== undefined) problems.add(fault);
  if (columns === 'awaited' && problems.total === 0) problems.add({ line: 1, message: 'the file is empty' });
  const { lines: _, ...found } = codes;
  const layout = { columns: typeof columns === 'string' ? noColumns : columns, width, delimiter, isEnded };
  return problems.or({ codes: found, layout });
}

const noColumns: CodeColumns = { code: -1, petId: -1, name: -1, low: -1 };

/** Returns the lines to append to a file for new codes. */
export function codeLines({ columns, width, delimiter, isEnded }: CodesLayout, added: readonly NewCode[]): string {
  const lines = added.map(({ code, petId, name = '' }) => {
    const cells = Array.from({ length: width }, () => '');
    for (const [at, text] of [
      [columns.code, code],
      [columns.petId, `${petId}`],
      [columns.name, name],
    ] as const) {
      if (at >= 0)
        cells[at] = /["\r\n]/.test(text) || text.includes(delimiter) ? `"${text.replaceAll('"', '""')}"` : text;
    }
    return `${cells.join(delimiter)}\n`;
  });
  return (isEnded ? '' : '\n') + lines.join('');
}

interface CodeLines {
  readonly pets: Map<string, bigint>;
  readonly names: Map<bigint, string>;
  readonly lows: Map<bigint, number>;
  readonly lines: Map<string, number>;
}

function readCode(
  { cells, line }: CsvRecord,
  columns: CodeColumns,
  { pets, names, lows, lines }: CodeLines,
  problems: ProblemList,
) {
  const code = codeText(bareNumber(cells[columns.code] ?? ''));
  const name = (cells[columns.name] ?? '').trim();
  const petId = readPetId(bareNumber(cells[columns.petId] ?? ''));
  const low = readLow(bareNumber(cells[columns.low] ?? ''));
  const unusable = code === '' && (name !== '' || low.ok) ? undefined : codeProblem(code);
  if (!petId.ok) problems.add({ line, column: 'petId', message: petId.problem });
  if (unusable !== undefined) problems.add({ line, column: 'code', message: unusable });
  if (!low.ok && low.problem !== '') problems.add({ line, column: 'low', message: low.problem });
  if (!petId.ok || unusable !== undefined) return;
  if (low.ok && !lows.has(petId.value)) lows.set(petId.value, low.value);
  if (name !== '' && !names.has(petId.value)) names.set(petId.value, name);
  if (code === '') return;
  const other = pets.get(code) ?? petId.value;
  if (other !== petId.value) {
    const message = `the code ${quoted(code)} is already on line ${lines.get(code)}, for pet ${other}`;
    problems.add({ line, column: 'code', message });
  }
  pets.set(code, petId.value);
  lines.set(code, line);
}

/** Parses the stock at or below which a pet is low. For a blank cell the problem is empty. */
function readLow(text: string): Parsed<number> {
  if (text === '') return problem('');
  const low = parseQuantity(text);
  return low.ok && low.value < 0 ? problem(`${quoted(text)} is below zero`) : low;
}

function readHeader({ cells, line }: CsvRecord, problems: ProblemList): CodeColumns | undefined {
  const code = cells.findIndex((cell) => /^(?:bar ?)?code$/i.test(cell.trim().replace(/[_-]/g, ' ')));
  const petId = cells.findIndex((cell) => fieldOf(cell) === 'petId');
  const name = cells.findIndex((cell) => /^(?:pet ?)?name$/i.test(cell.trim().replace(/[_-]/g, ' ')));
  const low = cells.findIndex((cell) => /^low(?: ?stock)?$/i.test(cell.trim().replace(/[_-]/g, ' ')));
  if (code !== -1 && petId !== -1) return { code, petId, name, low };
  problems.add({
    line,
    message: 'this is not a file of codes: the first line must name the columns code,petId and optionally name and low',
  });
  return undefined;
}
