import { articleOf, type BarCodes, isArticleNumber } from '../inventory/bar-codes.ts';
import { codeProblem, codeText } from '../inventory/count/scan-line.ts';
import { grouped, parseQuantity } from '../inventory/items.ts';
import { csvQuoting, guarded, unguarded } from '../output/delimited.ts';
import { type Parsed, problem, quoted } from '../shared/parsed.ts';
import { bareNumber, readPetId } from './cell-values.ts';
import { type CsvRecord, csvRecords } from './csv-records.ts';
import { broken, type FileProblems, ProblemList, withinFile } from './problems.ts';
import { readText } from './text.ts';

export type CodesFile =
  | { readonly ok: true; readonly codes: BarCodes; readonly layout: CodesLayout; readonly ignored: readonly string[] }
  | ({ readonly ok: false } & FileProblems);

/** How the header line may spell the columns, with a space for `_` and `-`. */
const spellings = {
  code: /^(?:bar ?)?code$/i,
  petId: /^(?:pet ?)?id$/i,
  name: /^(?:pet ?)?name$/i,
  low: /^low(?: ?stock)?$/i,
  units: /^units$/i,
};
type CodeColumn = keyof typeof spellings;
/** The indexes of the columns; -1 for a column that the file does not have. */
type CodeColumns = Readonly<Record<CodeColumn, number>>;

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
 * Reads CSV or TSV with the columns `code`, `petId` and optionally `name`, `low` and `units`, in any order; other
 * columns are `ignored`. A code is text: `007` differs from `7`. A pet may have several codes, or only a name or a
 * level. If it has several names or levels, the first counts.
 * @throws the errors of `source`
 */
export async function readCodes(source: AsyncIterable<Uint8Array>): Promise<CodesFile> {
  const problems = new ProblemList();
  const codes: CodeLines = {
    ...{ pets: new Map(), articles: new Map(), names: new Map(), lows: new Map(), units: new Map() },
    ...{ lines: new Map(), unclear: new Set() },
  };
  let columns: CodeColumns | undefined;
  let [width, delimiter, isEnded] = [0, ',', true];
  let ignored: readonly string[] = [];
  const { text, fault } = await readText(source);
  withinFile(problems, () => {
    for (const record of csvRecords(text, { knows: (name) => columnNamed(name) !== undefined })) {
      isEnded = record.ended;
      if (record.cells.every((cell) => cell.trim() === '')) continue;
      if (columns === undefined) {
        columns = findColumns(record.cells);
        if (columns.code < 0 || columns.petId < 0) broken(record.line, noCodes);
        [width, delimiter] = [record.cells.length, record.delimiter];
        ignored = record.cells.filter((cell) => cell.trim() !== '' && columnNamed(cell) === undefined);
      } else readCode(record, columns, codes, problems);
    }
  });
  if (fault !== undefined) problems.add(fault);
  if (columns === undefined && problems.total === 0) problems.add({ line: 1, message: 'the file is empty' });
  const { lines: _, unclear, ...found } = codes;
  for (const article of unclear) codes.articles.delete(article);
  const layout = { columns: columns ?? findColumns([]), width, delimiter, isEnded };
  return problems.or({ codes: found, layout, ignored });
}

const noCodes =
  'this is not a file of codes: the first line must name the columns code,petId and optionally name, low and units';

function columnNamed(name: string): CodeColumn | undefined {
  const words = name.trim().replace(/[_-]/g, ' ');
  return (Object.keys(spellings) as CodeColumn[]).find((column) => spellings[column].test(words));
}

function findColumns(cells: readonly string[]): CodeColumns {
  const named = cells.map(columnNamed);
  const [code, petId, name] = [named.indexOf('code'), named.indexOf('petId'), named.indexOf('name')];
  return { code, petId, name, low: named.indexOf('low'), units: named.indexOf('units') };
}

/** Returns the lines to append to a file for new codes. */
export function codeLines({ columns, width, delimiter, isEnded }: CodesLayout, added: readonly NewCode[]): string {
  const quote = csvQuoting(delimiter);
  const lines = added.map(({ code, petId, name = '' }) => {
    const cells = Array.from({ length: width }, () => '');
    cells[columns.code] = quote(guarded(code));
    cells[columns.petId] = `${petId}`;
    if (columns.name >= 0) cells[columns.name] = quote(guarded(name));
    return `${cells.join(delimiter)}\n`;
  });
  return (isEnded ? '' : '\n') + lines.join('');
}

interface CodeLines {
  readonly pets: Map<string, bigint>;
  readonly names: Map<bigint, string>;
  readonly lows: Map<bigint, number>;
  readonly units: Map<string, number>;
  /** The line of each code. */
  readonly lines: Map<string, number>;
  readonly articles: Map<string, string>;
  /** The articles that may mean several pets. */
  readonly unclear: Set<string>;
}

function readCode({ cells, line }: CsvRecord, columns: CodeColumns, codes: CodeLines, problems: ProblemList) {
  const cell = (column: CodeColumn) => cells[columns[column]] ?? '';
  const code = readBarCode(cell('code'));
  const name = unguarded(cell('name')).trim();
  const petId = readPetId(bareNumber(cell('petId')));
  const low = optional(cell('low'), readLow);
  const units = optional(cell('units'), readUnits);
  const unusable = code === '' && (name !== '' || low?.ok) ? undefined : codeProblem(code);
  for (const [column, value] of Object.entries({ petId, low, units })) {
    if (value !== undefined && !value.ok) problems.add({ line, column, message: value.problem });
  }
  if (unusable !== undefined) problems.add({ line, column: 'code', message: unusable });
  if (!petId.ok || unusable !== undefined) return;
  const { lows, names } = codes;
  if (low?.ok && !lows.has(petId.value)) lows.set(petId.value, low.value);
  if (name !== '' && !names.has(petId.value)) names.set(petId.value, name);
  if (code === '') return;
  if (units?.ok) codes.units.set(code, units.value);
  addCode(code, petId.value, line, codes, problems);
}

/** Adds a code. It is a fault if it, or certainly another spelling of the same article, already means another pet. */
function addCode(
  code: string,
  petId: bigint,
  line: number,
  { pets, lines, articles, unclear }: CodeLines,
  problems: ProblemList,
) {
  const article = articleOf(code);
  const same = pets.has(code) ? code : article === undefined ? undefined : articles.get(article);
  const other = same === undefined ? undefined : pets.get(same);
  if (same !== undefined && other !== petId) {
    if (same === code || (isArticleNumber(code) && isArticleNumber(same))) {
      const spelled = same === code ? '' : ` as ${quoted(same)}`;
      const message = `the code ${quoted(code)} is already on line ${lines.get(same)}${spelled}, for pet ${other}`;
      problems.add({ line, column: 'code', message });
    } else if (article !== undefined) unclear.add(article);
  }
  pets.set(code, petId);
  lines.set(code, line);
  if (article !== undefined) articles.set(article, code);
}

/** Returns a code as it is scanned. pandas and spreadsheets make `4006381333931.0` of a column of numbers. */
export function readBarCode(text: string): string {
  return codeText(bareNumber(text).replace(/^(\d+)\.0$/, '$1'));
}

function optional(cell: string, parse: (text: string) => Parsed<number>): Parsed<number> | undefined {
  const text = bareNumber(cell);
  return text === '' ? undefined : parse(text);
}

/** Parses the units of a case. */
function readUnits(text: string): Parsed<number> {
  const units = parseQuantity(text.replace(/^(\d+)\.0$/, '$1'));
  return units.ok && (units.value < 1 || units.value > maxUnits)
    ? problem(`${quoted(text)} is not the number of units of a case, from 1 to ${grouped(maxUnits)}`)
    : units;
}

const maxUnits = 9999;

/** Parses the stock at or below which a pet is low. */
function readLow(text: string): Parsed<number> {
  const low = parseQuantity(text);
  return low.ok && low.value < 0 ? problem(`${quoted(text)} is below zero`) : low;
}
