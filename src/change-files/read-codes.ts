import { canBeCode, codeText } from '../inventory/count/scan-line.ts';
import { quoted } from '../inventory/parsed.ts';
import { bareNumber, readPetId } from './cell-values.ts';
import { type DelimitedRow, RecordScanner } from './delimited/record-scanner.ts';
import { BrokenFileError, FaultList, type FileFault } from './fault.ts';
import { fieldOf } from './fields.ts';
import { decodeText } from './text.ts';

/** What a file of bar codes holds: the pet of each code, or what is wrong with it. */
export type CodesFile =
  | { readonly ok: true; readonly codes: ReadonlyMap<string, bigint> }
  | { readonly ok: false; readonly faults: readonly FileFault[]; readonly total: number };

interface CodeColumns {
  readonly code: number;
  readonly petId: number;
}

/**
 * Reads CSV or TSV with the columns `code` and `petId`, in any order; other columns are passed over. A code is text: `007` is not `7`.
 * Several codes may stand for one pet.
 * @throws what `source` throws
 */
export async function readCodes(source: AsyncIterable<Uint8Array>): Promise<CodesFile> {
  const faults = new FaultList();
  const codes = new Map<string, bigint>();
  const lines = new Map<string, number>();
  let columns: CodeColumns | 'awaited' | 'useless' = 'awaited';
  const scanner = new RecordScanner((row) => {
    if (row.cells.every((cell) => cell.trim() === '')) return;
    if (columns === 'awaited') columns = readHeader(row, faults) ?? 'useless';
    else if (columns !== 'useless') readRow(row, columns, { codes, lines, faults });
  });
  try {
    for await (const piece of decodeText(source, 65_536)) scanner.write(piece);
    scanner.end();
    if (columns === 'awaited') faults.add({ line: 1, message: 'the file is empty' });
  } catch (error) {
    if (!(error instanceof BrokenFileError)) throw error;
    faults.add(error.fault);
  }
  if (faults.total === 0) return { ok: true, codes };
  return { ok: false, faults: faults.inOrder(new FaultList()), total: faults.total };
}

function readHeader({ cells, line }: DelimitedRow, faults: FaultList): CodeColumns | undefined {
  const code = cells.findIndex((cell) => /^(?:bar ?)?code$/i.test(cell.trim().replace(/[_-]/g, ' ')));
  const petId = cells.findIndex((cell) => fieldOf(cell.trim()) === 'petId');
  if (code !== -1 && petId !== -1) return { code, petId };
  faults.add({ line, message: 'this is not a file of codes: the first line has to name the columns code,petId' });
  return undefined;
}

interface Found {
  readonly codes: Map<string, bigint>;
  readonly lines: Map<string, number>;
  readonly faults: FaultList;
}

function readRow({ cells, line }: DelimitedRow, columns: CodeColumns, { codes, lines, faults }: Found): void {
  const code = codeText(bareNumber(cells[columns.code] ?? ''));
  const petId = readPetId(bareNumber(cells[columns.petId] ?? ''));
  if (!petId.ok) faults.add({ line, column: 'petId', message: petId.fault });
  if (!canBeCode(code)) {
    const message =
      code === '' ? 'the code is missing' : `${quoted(code)} can't be a code: it has a meaning in a count`;
    faults.add({ line, column: 'code', message });
    return;
  }
  if (!petId.ok) return;
  const other = codes.get(code);
  if (other !== undefined && other !== petId.value) {
    const message = `the code ${quoted(code)} is on line ${lines.get(code)} already, for pet ${other}`;
    faults.add({ line, column: 'code', message });
  }
  codes.set(code, petId.value);
  lines.set(code, line);
}
