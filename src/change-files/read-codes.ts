import type { BarCodes } from '../inventory/bar-codes.ts';
import { codeFault, codeText } from '../inventory/count/scan-line.ts';
import { quoted } from '../shared/parsed.ts';
import { bareNumber, readPetId } from './cell-values.ts';
import { type CsvRecord, CsvRecords } from './csv-records.ts';
import { FaultList, type FileFaults } from './fault.ts';
import { fieldOf } from './field-names.ts';
import { readPieces } from './text.ts';

export type CodesFile = { readonly ok: true; readonly codes: BarCodes } | ({ readonly ok: false } & FileFaults);

/** The indexes of columns; -1 for a name that the file does not have. */
interface CodeColumns {
  readonly code: number;
  readonly petId: number;
  readonly name: number;
}

/**
 * Reads CSV or TSV with the columns `code`, `petId` and optionally `name`, in any order; other columns are ignored. A code is text: `007` is
 * not `7`. Several codes may stand for one pet, and a pet may have a name and no code.
 * @throws what `source` throws
 */
export async function readCodes(source: AsyncIterable<Uint8Array>): Promise<CodesFile> {
  const faults = new FaultList();
  const codes: CodeLines = { pets: new Map(), names: new Map(), lines: new Map() };
  const records = new CsvRecords((name) => fieldOf(name) !== undefined);
  let columns: CodeColumns | 'awaited' | 'useless' = 'awaited';
  await readPieces(source, faults, (piece, isLast) => {
    for (const record of records.read(piece, isLast)) {
      if (record.cells.every((cell) => cell.trim() === '')) continue;
      if (columns === 'awaited') columns = readHeader(record, faults) ?? 'useless';
      else if (columns !== 'useless') readCode(record, columns, codes, faults);
    }
  });
  if (columns === 'awaited' && faults.total === 0) faults.add({ line: 1, message: 'the file is empty' });
  return faults.or({ codes: { pets: codes.pets, names: codes.names } });
}

interface CodeLines {
  readonly pets: Map<string, bigint>;
  readonly names: Map<bigint, string>;
  /** On which line each code was. */
  readonly lines: Map<string, number>;
}

function readCode(
  { cells, line }: CsvRecord,
  columns: CodeColumns,
  { pets, names, lines }: CodeLines,
  faults: FaultList,
) {
  const code = codeText(bareNumber(cells[columns.code] ?? ''));
  const name = (cells[columns.name] ?? '').trim();
  const petId = readPetId(bareNumber(cells[columns.petId] ?? ''));
  const fault = code === '' && name !== '' ? undefined : codeFault(code);
  if (!petId.ok) faults.add({ line, column: 'petId', message: petId.fault });
  if (fault !== undefined) faults.add({ line, column: 'code', message: fault });
  if (!petId.ok || fault !== undefined) return;
  if (name !== '' && !names.has(petId.value)) names.set(petId.value, name);
  if (code === '') return;
  const other = pets.get(code) ?? petId.value;
  if (other !== petId.value) {
    const message = `the code ${quoted(code)} is on line ${lines.get(code)} already, for pet ${other}`;
    faults.add({ line, column: 'code', message });
  }
  pets.set(code, petId.value);
  lines.set(code, line);
}

function readHeader({ cells, line }: CsvRecord, faults: FaultList): CodeColumns | undefined {
  const code = cells.findIndex((cell) => /^(?:bar ?)?code$/i.test(cell.trim().replace(/[_-]/g, ' ')));
  const petId = cells.findIndex((cell) => fieldOf(cell.trim()) === 'petId');
  const name = cells.findIndex((cell) => /^(?:pet ?)?name$/i.test(cell.trim().replace(/[_-]/g, ' ')));
  if (code !== -1 && petId !== -1) return { code, petId, name };
  faults.add({
    line,
    message: 'this is not a file of codes: the first line has to name the columns code,petId and, if you like, name',
  });
  return undefined;
}
