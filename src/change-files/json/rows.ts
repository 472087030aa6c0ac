import { quoted } from '../../inventory/parsed.ts';
import type { RawRow } from '../collector.ts';
import type { FaultList } from '../fault.ts';
import type { FieldNames } from '../field-names.ts';
import { blankCells, type Field, ownNames } from '../fields.ts';
import { countLineEnds } from '../lines.ts';
import type { RowReader } from '../row-reader.ts';
import { ArrayElements } from './elements.ts';
import { JsonFault, readFlatObject, type Unfit } from './flat-object.ts';
import { JsonLines } from './lines.ts';

/** An array of objects, an object on each line, or one object on several. */
export type JsonKind = 'array' | 'lines' | 'object';

export function createJsonRows(
  kind: JsonKind,
  { faults, names }: { readonly faults: FaultList; readonly names: FieldNames },
  onRow: (row: RawRow) => void,
): RowReader {
  const objects = new RowObjects(faults, names, onRow);
  const onElement = (text: string, line: number): void => objects.read(text, line);
  // One object is a list of one.
  const reader = kind === 'lines' ? new JsonLines(onElement) : new ArrayElements(faults, onElement, kind === 'object');
  return {
    write: (text) => reader.write(text),
    end: () => {
      reader.end();
      const missing = names.missing('field');
      for (const message of missing) faults.add({ line: 1, message });
      if (missing.length === 0) faults.remedy = names.remedy(objects.foundBesideUnknown, 'field');
    },
  };
}

/** Makes rows of JSON objects. */
class RowObjects {
  /** A million objects may all have the same one: it is reported once. */
  readonly #unknownNames = new Set<string>();
  /** The fields of rows since the first with an unknown name. */
  readonly foundBesideUnknown = new Set<Field>();

  constructor(
    private readonly faults: FaultList,
    private readonly names: FieldNames,
    private readonly onRow: (row: RawRow) => void,
  ) {}

  read(text: string, line: number): void {
    const row = new ObjectRow(line, this.faults);
    try {
      readFlatObject(text, (name, value, unfit) => {
        const field = this.names.fieldOf(name);
        if (field === undefined) this.#unknown(name, line);
        else row.set(field, name, value, unfit);
      });
      if (this.#unknownNames.size > 0) for (const field of row.found) this.foundBesideUnknown.add(field);
      this.onRow(row);
    } catch (error) {
      if (!(error instanceof JsonFault)) throw error;
      const within = this.faults.unit === 'line' ? countLineEnds(text, 0, error.at) : 0;
      this.faults.add({ line: line + within, message: error.message });
    }
  }

  #unknown(name: string, line: number): void {
    if (this.#unknownNames.has(name)) return;
    // Bounded, whatever the file: past the thousandth name each one is reported again.
    if (this.#unknownNames.size < 1000) this.#unknownNames.add(name);
    const message = this.names.faultOf(name, 'field');
    if (message !== undefined) this.faults.add({ line, column: name, message });
  }
}

class ObjectRow implements RawRow {
  readonly cells = { ...blankCells };
  status = '';
  names = ownNames;
  readonly found: Field[] = [];

  constructor(
    readonly line: number,
    private readonly faults: FaultList,
  ) {}

  set(field: Field, name: string, value: string | undefined, unfit: Unfit | undefined): void {
    if (this.found.includes(field)) this.#fault(name, `${quoted(field)} is there twice`);
    this.found.push(field);
    if (field === 'status') {
      this.status = value ?? '';
      return;
    }
    if (name !== field) this.names = { ...this.names, [field]: name };
    this.cells[field] = value ?? '';
    if (unfit !== undefined) this.#fault(name, `${unfit} is not allowed here: write a number, or a text in quotes`);
  }

  #fault(column: string, message: string): void {
    this.faults.add({ line: this.line, column, message });
  }
}
