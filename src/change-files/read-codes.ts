import type { BarCodes } from '../inventory/bar-codes.ts';
import { codeFault, codeText } from '../inventory/count/scan-line.ts';
import { quoted } from '../shared/parsed.ts';
import { bareNumber, readPetId } from './cell-values.ts';
import { type CsvRecord, CsvRecords } from './csv-records.ts';
import { BrokenFileError, FaultList, type FileFaults } from './fault.ts';
import { fieldOf } from './field-names.ts';
import { decodeText } from './text.ts';

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
  const reader = new CodesReader();
  const records = new CsvRecords((name) => fieldOf(name) !== undefined);
  try {
    for await (const piece of decodeText(source)) reader.add(records.read(piece, false));
    reader.add(records.read('', true));
  } catch (error) {
    if (!(error instanceof BrokenFileError)) throw error;
    reader.faults.add(error.fault);
  }
  return reader.finish();
}

class CodesReader {
  readonly faults = new FaultList();
  readonly #pets = new Map<string, bigint>();
  readonly #names = new Map<bigint, string>();
  readonly #lines = new Map<string, number>();
  #columns: CodeColumns | 'awaited' | 'useless' = 'awaited';

  add(records: Iterable<CsvRecord>): void {
    for (const record of records) {
      if (record.cells.every((cell) => cell.trim() === '')) continue;
      if (this.#columns === 'awaited') this.#columns = readHeader(record, this.faults) ?? 'useless';
      else if (this.#columns !== 'useless') this.#addRow(record, this.#columns);
    }
  }

  finish(): CodesFile {
    const { faults } = this;
    if (this.#columns === 'awaited' && faults.total === 0) faults.add({ line: 1, message: 'the file is empty' });
    return faults.or({ codes: { pets: this.#pets, names: this.#names } });
  }

  #addRow({ cells, line }: CsvRecord, columns: CodeColumns): void {
    const code = codeText(bareNumber(cells[columns.code] ?? ''));
    const name = (cells[columns.name] ?? '').trim();
    const petId = readPetId(bareNumber(cells[columns.petId] ?? ''));
    const fault = code === '' && name !== '' ? undefined : codeFault(code);
    if (!petId.ok) this.faults.add({ line, column: 'petId', message: petId.fault });
    if (fault !== undefined) this.faults.add({ line, column: 'code', message: fault });
    if (!petId.ok || fault !== undefined) return;
    if (name !== '' && !this.#names.has(petId.value)) this.#names.set(petId.value, name);
    if (code !== '') this.#addCode(code, petId.value, line);
  }

  #addCode(code: string, petId: bigint, line: number): void {
    const other = this.#pets.get(code);
    if (other !== undefined && other !== petId) {
      const message = `the code ${quoted(code)} is on line ${this.#lines.get(code)} already, for pet ${other}`;
      this.faults.add({ line, column: 'code', message });
    }
    this.#pets.set(code, petId);
    this.#lines.set(code, line);
  }
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
